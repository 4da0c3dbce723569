//! Recognises `art::ThreadList` by the list in it.

use crate::sys::mem::{self, WORD};

/// A list with more threads than this is not taken for the thread list. ART allows [`MAX_ID`] threads; apps
/// have tens to hundreds.
const LIMIT: usize = 4096;
/// `kMaxThreadId`.
const MAX_ID: usize = 0xffff;

/// The threads of `list` (a `std::list<Thread*>`). `None` if their thin-lock ids, at `thin_lock_id`, are not
/// all distinct, or while a thread is changing the list: see [`until_consistent`](super::until_consistent).
///
/// libc++ and libstdc++ order the two links of a node differently; following either one visits all nodes.
pub(super) fn threads(list: usize, thin_lock_id: usize) -> Option<Vec<usize>> {
    let head: [usize; 3] = mem::read(list)?;
    let count = head[2];
    if !(1..=LIMIT).contains(&count) {
        return None;
    }
    let mut threads = Vec::with_capacity(count);
    let mut ids = vec![0_u8; (MAX_ID >> 3) + 1];
    let mut previous = list;
    let mut at = head[1];
    while !mem::same(at, list) {
        let node: [usize; 3] = mem::read(at)?;
        if threads.len() == count || !mem::same(node[0], previous) {
            return None;
        }
        let id = mem::read::<u32>(node[2].checked_add(thin_lock_id)?)? as usize;
        let (seen, bit) = (ids.get_mut(id >> 3)?, 1 << (id & 7));
        if id == 0 || *seen & bit != 0 {
            return None;
        }
        *seen |= bit;
        threads.push(node[2]);
        previous = at;
        at = node[1];
    }
    (threads.len() == count && mem::same(head[0], previous) && count * WORD > 0).then_some(threads)
}

#[cfg(test)]
mod tests {
    use super::super::retry::{AT_ONCE, until_consistent};
    use super::*;
    use std::time::{Duration, Instant};

    /// Nodes of a list as ART keeps it: the first is the head, and the last word of each other node points to
    /// a thread.
    struct Fake {
        nodes: Vec<[usize; 3]>,
        threads: Vec<[u32; 8]>,
    }

    impl Fake {
        fn new(ids: &[u32]) -> Fake {
            let mut fake = Fake { nodes: vec![[0; 3]; ids.len() + 1], threads: vec![[0; 8]; ids.len()] };
            let n = fake.nodes.len();
            for (thread, id) in fake.threads.iter_mut().zip(ids) {
                thread[3] = *id;
            }
            for i in 0..n {
                let (back, on) = (fake.at((i + n - 1) % n), fake.at((i + 1) % n));
                let value = if i == 0 { ids.len() } else { fake.threads[i - 1].as_ptr() as usize };
                fake.nodes[i] = [back, on, value];
            }
            fake
        }

        fn at(&self, node: usize) -> usize {
            &raw const self.nodes[node] as usize
        }
    }

    #[test]
    fn a_consistent_list_is_recognised() {
        let fake = Fake::new(&[1, 5, 3]);
        let want: Vec<usize> = fake.threads.iter().map(|t| t.as_ptr() as usize).collect();
        assert_eq!(threads(fake.at(0), 12), Some(want));
    }

    #[test]
    fn a_list_that_is_being_changed_is_read_when_the_change_is_done() {
        let mut fake = Fake::new(&[1, 5, 3]);
        let (mut reads, mut paused) = (0, None);
        let found = until_consistent(|| {
            reads += 1;
            // As an insertion leaves it until the size follows, for longer than all immediate reads take.
            fake.nodes[0][2] = if reads > AT_ONCE + 2 { 3 } else { 2 };
            paused = paused.or((reads > AT_ONCE).then(Instant::now));
            threads(fake.at(0), 12)
        });
        assert_eq!((found.map(|threads| threads.len()), reads), (Some(3), AT_ONCE + 3));
        assert!(
            paused.unwrap().elapsed() >= Duration::from_millis(2 + 4),
            "the changing thread had time to run"
        );
    }

    #[test]
    fn anything_else_is_not() {
        assert_eq!(threads(0, 12), None);
        assert_eq!(threads(0x1234, 12), None);
        assert_eq!(threads(Fake::new(&[1, 1]).at(0), 12), None, "an id twice");
        assert_eq!(threads(Fake::new(&[1, 0]).at(0), 12), None, "no id");
        assert_eq!(threads(Fake::new(&[1, 70000]).at(0), 12), None, "an id too large");
        assert_eq!(threads(Fake::new(&[]).at(0), 12), None, "no threads");
        let mut short = Fake::new(&[1, 2, 3]);
        short.nodes[0][2] = 2;
        assert_eq!(threads(short.at(0), 12), None, "one more than counted");
        let mut long = Fake::new(&[1, 2, 3]);
        long.nodes[0][2] = 4;
        assert_eq!(threads(long.at(0), 12), None, "one less than counted");
        let mut broken = Fake::new(&[1, 2, 3]);
        broken.nodes[2][0] = broken.at(3);
        assert_eq!(threads(broken.at(0), 12), None, "a link that does not lead back");
        let mut wild = Fake::new(&[1, 2, 3]);
        wild.nodes[2][2] = 8;
        assert_eq!(threads(wild.at(0), 12), None, "a thread that is not there");
    }
}
