//! Effects of the configuration variables; `misconfigured` has the invalid values.

mod keep_days;
mod periods;
mod point_decimals;
mod rules;
mod timezone;
