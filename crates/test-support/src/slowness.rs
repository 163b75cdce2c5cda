//! How slow this machine is.

use std::env;
use std::sync::OnceLock;
use std::time::Duration;

/// Multiplies a deadline by `TEST_SLOWNESS`, the slowness of this machine: 1 without the variable. `scripts/test`
/// measures it at the start of a run.
///
/// # Panics
///
/// Panics when the variable is not a number from 1 to 1,000.
pub fn scaled(deadline: Duration) -> Duration {
    static SLOWNESS: OnceLock<f64> = OnceLock::new();
    let slowness = *SLOWNESS.get_or_init(|| {
        let Ok(text) = env::var("TEST_SLOWNESS") else {
            return 1.0;
        };
        let slowness = text.parse().unwrap_or(0.0);
        assert!(
            (1.0..=1000.0).contains(&slowness),
            "TEST_SLOWNESS must be a number from 1 to 1000, not {text}"
        );
        slowness
    });
    deadline.mul_f64(slowness)
}
