//! Effects of the configuration variables; `misconfigured` has the invalid values.

mod keep_days;
mod order_bits;
mod rules;
mod timezone;
