//! Shards of users and keys.

/// Returns the number of shards of every Worker under test: the environment variable `SHARDS`,
/// default 1.
///
/// # Panics
///
/// Panics when `SHARDS` is not a number.
pub fn shards() -> u32 {
    let shards = std::env::var("SHARDS").unwrap_or_default();
    if shards.is_empty() {
        return 1;
    }
    shards.parse().expect("SHARDS is a number")
}

/// Returns the shard of a user among [`shards`].
pub fn shard_of(user: &str) -> u32 {
    shard_among(user, shards())
}

/// Returns the shard of a user among `shards`: the FNV-1a hash of the id, modulo the number of
/// shards. Implemented here again, because every version of the Worker must find stored data.
pub fn shard_among(user: &str, shards: u32) -> u32 {
    let mut hash = 2_166_136_261_u32;
    for byte in user.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    hash % shards
}

/// Returns users on the shard of `42`: each name as it is, or with a number appended if it would be
/// on another shard. Order of arrival ranks equal scores only within a shard.
pub fn peers<const N: usize>(names: [&str; N]) -> [String; N] {
    names.map(peer)
}

/// Returns one user on the shard of `42`, as [`peers`] does.
pub fn peer(name: &str) -> String {
    let home = shard_of(HOME);
    let numbered = (1..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // The iterator is infinite.
    names
        .find(|name| shard_of(name) == home)
        .unwrap_or_default()
}

/// The user whose shard keys without an owner are on.
const HOME: &str = "42";

/// Returns the full key for what follows the hash tag, on the shard of the key's [`owner`], else
/// of `42`.
pub fn key(prefix: &str, rest: &str) -> String {
    key_on(prefix, home_of(rest), rest)
}

/// Returns the shard of a key's [`owner`], else of `42`, for what follows the hash tag.
pub fn home_of(rest: &str) -> u32 {
    shard_of(owner(rest).unwrap_or(HOME))
}

/// Returns the full key on the shard of a user.
pub fn key_of(prefix: &str, user: &str, rest: &str) -> String {
    key_on(prefix, shard_of(user), rest)
}

/// Returns the full key on a shard.
pub fn key_on(prefix: &str, shard: u32, rest: &str) -> String {
    key_in(1, prefix, shard, rest)
}

/// Returns the full key on a shard whose data has a generation.
pub fn key_in(generation: u32, prefix: &str, shard: u32, rest: &str) -> String {
    match has_generation(rest) {
        true => format!("{{{prefix}:{shard}}}{generation}{rest}"),
        false => format!("{{{prefix}:{shard}}}{rest}"),
    }
}

/// Returns whether a key has the generation of the data after its hash tag: boards, histories, active records, the
/// register, author lists and the index. In tests the part of a key after its hash tag has none; it is
/// 1 until a rebuild.
pub fn has_generation(rest: &str) -> bool {
    rest.starts_with(['b', 'h', 'm', 't', 'u', 'i'])
}

/// Returns the part of a key after its hash tag and generation.
pub fn rest(key: &str) -> &str {
    let rest = key.split_once('}').map_or(key, |(_, rest)| rest);
    let name = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    match has_generation(name) {
        true => name,
        false => rest,
    }
}

/// Returns the user a key belongs to, given the part after its hash tag; `None` for shared keys.
pub fn owner(rest: &str) -> Option<&str> {
    match rest.splitn(3, ':').collect::<Vec<_>>()[..] {
        ["h" | "v" | "u", _, user] => Some(user),
        ["m", ..] => rest.split_once(':').map(|(_, user)| user),
        _ => None,
    }
}
