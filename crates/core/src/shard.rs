//! The assignment of users to shards, and hashes of texts.

/// Returns the shard of a user: the 32-bit FNV-1a hash of the id, modulo the number of shards.
///
/// All data of a user is on one shard, so one script on one node counts an activity. Stored data
/// depends on the hash: with a different one, the data of existing users would not be found.
#[must_use]
pub fn of(user: &str, shards: u32) -> u32 {
    // The offset basis and prime are from draft-eastlake-fnv.
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    user.bytes().fold(0x811c_9dc5, mix) % shards.max(1)
}

/// Returns the 64-bit FNV-1a hash of texts. A byte that UTF-8 never has ends each of them.
#[must_use]
pub fn fnv_64(texts: &[&str]) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let texts = texts.iter();
    let bytes = texts.flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_matches_published_vectors() {
        for (text, hash) in [
            ("", 0x811c_9dc5),
            ("a", 0xe40c_292c),
            ("foobar", 0xbf9c_f968),
        ] {
            assert_eq!(of(text, u32::MAX), hash % u32::MAX, "{text}");
        }
    }

    #[test]
    fn users_are_distributed_evenly() {
        for shards in [2, 3, 8, 64] {
            let mut counts = vec![0; shards as usize];
            for user in 0..64_000 {
                counts[of(&user.to_string(), shards) as usize] += 1;
            }
            let mean = 64_000 / shards;
            for count in counts {
                assert!(
                    (mean * 4 / 5..mean * 6 / 5).contains(&count),
                    "{count} users, mean {mean}"
                );
            }
        }
    }
}
