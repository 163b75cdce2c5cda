//! Effects of the configuration variables; `misconfigured` has the invalid values.

mod keep_days;
mod order_bits;
mod periods;
mod point_decimals;
mod rules;
mod timezone;
