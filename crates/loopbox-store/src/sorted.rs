//! Lists in the order of a key. A map of the standard library is some 2 KB of code in every app for each kind
//! of entry.

/// Puts an item in its place; one of the same key goes.
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
