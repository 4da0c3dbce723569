//! Lists sorted by a key. A map of the standard library would add some 2 KB of code to every app for each
//! type of entry.

/// Inserts an item in its place; it replaces one with the same key.
pub(crate) fn insert<T, K: Ord>(list: &mut Vec<T>, item: T, key: impl Fn(&T) -> K) {
    let wanted = key(&item);
    let at = list.partition_point(|kept| key(kept) < wanted);
    match list.get_mut(at) {
        Some(kept) if key(kept) == wanted => *kept = item,
        _ => list.insert(at, item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_there_once_and_in_order() {
        let mut list = Vec::new();
        for item in [(5, 'a'), (1, 'b'), (9, 'c'), (5, 'd'), (3, 'e')] {
            insert(&mut list, item, |(key, _)| *key);
        }
        assert_eq!(list, [(1, 'b'), (3, 'e'), (5, 'd'), (9, 'c')]);
    }
}
