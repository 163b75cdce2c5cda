//! What an id is, told another way than the service does.

/// Whether a text names a user or group: 1 to 64 of `A-Z a-z 0-9 _ . : @ | -`, not `.` or `..`.
pub fn is_id(text: &str) -> bool {
    let fits = |c: char| matches!(c, 'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '.' | ':' | '@' | '|' | '-');
    !matches!(text, "" | "." | "..") && text.chars().all(fits) && text.chars().count() <= 64
}
