//! Starts redis-server, the gateway and the Worker for tests.
