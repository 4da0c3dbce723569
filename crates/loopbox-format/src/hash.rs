//! A hash that is the same in each process, and the hash map for code that runs both in the app and in the
//! host tools.
//!
//! In an app the keys are addresses, numbers and names of the process's own code, for which a fixed hash is
//! enough. The standard library's hash takes more time for an address, and 3 KB for the code that gets its
//! random numbers. A host tool reads files that somebody may have made so that all keys collide, so its maps
//! have the standard library's hash. The `rustc-hash` crate, which does the same as the fixed hash, takes 1.1
//! KB more for texts.

use std::collections::HashMap;
use std::hash::Hasher;

/// What makes the hashers of a [`Map`].
#[cfg(target_os = "android")]
pub type State = std::hash::BuildHasherDefault<FixedHasher>;
/// What makes the hashers of a [`Map`].
#[cfg(not(target_os = "android"))]
pub type State = std::hash::RandomState;

/// A [`HashMap`]. [`Default`] makes an empty one.
pub type Map<K, V> = HashMap<K, V, State>;

/// The hash of Firefox and the Rust compiler (`rustc-hash`): a multiplication for each number.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedHasher(u64);

impl Hasher for FixedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// Mixes the high bits into the low ones: a table takes its places from the low bits, but multiplications
    /// mix the high ones best.
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::Hash;

    fn low_bits(keys: impl Iterator<Item = impl Hash>) -> usize {
        let hash = |key| {
            let mut hasher = FixedHasher::default();
            Hash::hash(&key, &mut hasher);
            hasher.finish() % 4_096
        };
        keys.map(hash).collect::<HashSet<_>>().len()
    }

    #[test]
    fn keys_as_an_app_has_them_are_spread_over_a_table() {
        // 4,096 random numbers of 4,096 are 2,589 different ones.
        let methods = |at: u64| 0x7f12_3456_0000 + at * 40;
        assert!(low_bits((0..4_096).map(methods)) > 2_000);
        assert!(low_bits((0..4_096).map(|at| (methods(at / 8), (at % 8) as u32 * 3))) > 2_000);
        assert!(low_bits((0..4_096_u32).map(|at| ("com.example.Screen", format!("method{at}")))) > 2_000);
        assert!(low_bits(0..4_096_u32) > 2_000);
    }
}
