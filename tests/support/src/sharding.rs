//! Over how many shards users are split, which of them are together, and where keys are.

/// Over how many shards the users of every Worker under test are split: what the environment's
/// `SHARDS` says, or 1.
///
/// # Panics
///
/// When it says no number.
#[must_use]
pub fn shards() -> u32 {
    let shards = std::env::var("SHARDS").unwrap_or_default();
    if shards.is_empty() {
        return 1;
    }
    shards.parse().expect("SHARDS is a number")
}

/// The shard of a user among [`shards`].
#[must_use]
pub fn shard_of(user: &str) -> u32 {
    shard_among(user, shards())
}

/// The shard of a user among so many: FNV-1a of the id, written here once more, because what lies
/// in a store must be found by every version of the Worker.
#[must_use]
pub fn shard_among(user: &str, shards: u32) -> u32 {
    let mut hash = 2_166_136_261_u32;
    for byte in user.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    hash % shards
}

/// Users on one shard, that of `42`, where the first at a score ranks higher: these names, with a
/// number behind those that would lie elsewhere.
#[must_use]
pub fn peers<const N: usize>(names: [&str; N]) -> [String; N] {
    names.map(peer)
}

/// One of them.
#[must_use]
pub fn peer(name: &str) -> String {
    let home = shard_of(HOME);
    let numbered = (1..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // There are endless names.
    names
        .find(|name| shard_of(name) == home)
        .unwrap_or_default()
}

/// Whose shard is meant where nobody is named.
const HOME: &str = "42";

/// A key by what follows its hash tag: on the shard of the user whom it names, else of `42`.
#[must_use]
pub fn key(prefix: &str, rest: &str) -> String {
    key_of(prefix, owner(rest).unwrap_or(HOME), rest)
}

/// A key on the shard of a user.
#[must_use]
pub fn key_of(prefix: &str, user: &str, rest: &str) -> String {
    format!("{{{prefix}:{}}}{rest}", shard_of(user))
}

/// What follows the hash tag of a key.
#[must_use]
pub fn rest(key: &str) -> &str {
    key.split_once('}').map_or(key, |(_, rest)| rest)
}

/// Whose a key is, by what follows its hash tag; nobody's where several share it.
#[must_use]
pub fn owner(rest: &str) -> Option<&str> {
    match rest.splitn(3, ':').collect::<Vec<_>>()[..] {
        ["h" | "v" | "u", _, user] => Some(user),
        ["m", ..] => rest.split_once(':').map(|(_, user)| user),
        _ => None,
    }
}
