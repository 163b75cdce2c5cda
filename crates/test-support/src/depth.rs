//! How deep tests search.

/// Returns the first value in `make test`, the second in `make soak`, which sets `SOAK`: the number of random steps,
/// seeds or kills. A test of `make soak` alone is `#[ignore = "soak"]`.
pub fn depth<T>(test: T, soak: T) -> T {
    if std::env::var_os("SOAK").is_some() {
        soak
    } else {
        test
    }
}
