//! A gateway.
fn main() {}
