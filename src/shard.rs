//! Which shard of a site a user belongs to.

/// The shard of a user among so many: FNV-1a of the id, 32 bits wide, modulo their number.
///
/// Everything of a user lies on one shard, so what counts stays one script on one node. The hash
/// is part of what is stored: another one would look for users where they are not.
#[must_use]
pub fn of(user: &str, shards: u32) -> u32 {
    // Offset basis and prime of draft-eastlake-fnv.
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    user.bytes().fold(0x811c_9dc5, mix) % shards.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_publication() {
        for (text, hash) in [
            ("", 0x811c_9dc5),
            ("a", 0xe40c_292c),
            ("foobar", 0xbf9c_f968),
        ] {
            assert_eq!(of(text, u32::MAX), hash % u32::MAX, "{text}");
        }
    }

    #[test]
    fn users_are_spread_evenly() {
        for shards in [2, 3, 8, 64] {
            let mut held = vec![0; shards as usize];
            for user in 0..64_000 {
                held[of(&user.to_string(), shards) as usize] += 1;
            }
            let fair = 64_000 / shards;
            for count in held {
                assert!(
                    (fair * 4 / 5..fair * 6 / 5).contains(&count),
                    "{count} of {fair}"
                );
            }
        }
    }
}
