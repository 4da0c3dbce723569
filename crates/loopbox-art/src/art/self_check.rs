//! The last steps of the self-check: a walk, and the names of the frames found.

use crate::discover::{self, FoundThread, KnownMethod};
use crate::names::Namer;
use crate::off::Off;
use crate::offsets::NameLayout;
use crate::stack::{Frame, MethodRef, RawStack};
use crate::sys::mem;
use crate::thread_state::runs_java;
use crate::visitor::{DEFAULT_DEPTH_LIMIT, Walker};

/// The calling thread's own stack, walked in a fast native method.
pub(super) fn own_stack(
    walker: &Walker,
    caller: &FoundThread,
    fast_call: impl FnOnce(&mut dyn FnMut()),
) -> Result<Box<RawStack>, Off> {
    let mut stack = Box::new(RawStack::new());
    let mut walked = Err(Off::WalkCheck("the fast native method was not called"));
    fast_call(&mut || {
        walked = if runs_java(caller.thread) {
            // SAFETY: the Thread is the calling thread's own, found through its own environment: what is not
            // Send is called by no other. It is runnable.
            unsafe { walker.walk(caller.thread, DEFAULT_DEPTH_LIMIT, &mut stack) }
                .map_err(|_| Off::WalkCheck("StackVisitor overran its buffer"))
        } else {
            Err(Off::NotRunnable)
        };
    });
    walked.map(|()| stack)
}

/// Picks the first layout with which every known method is read correctly.
pub(super) fn choose_namer(
    layouts: &[(Option<usize>, NameLayout)],
    known: &[KnownMethod<'_>],
    top: Frame,
) -> Result<(Option<usize>, Namer), Off> {
    let Some(entry) = known.first() else {
        return Err(Off::Misuse("discovery needs a known method"));
    };
    // An odd jmethodID is an index (debuggable apps): then only the name can be compared.
    let is_pointer = |m: &KnownMethod<'_>| (m.id as usize) & 1 == 0;
    if is_pointer(entry) && !mem::same(entry.id as usize, top.method.0.get()) {
        return Err(Off::WalkCheck("the top frame is not the method that called"));
    }
    if top.dex_pc != Frame::NO_DEX_PC {
        return Err(Off::WalkCheck("the native method on top has a dex pc"));
    }
    let right = |namer: &Namer, method: MethodRef, known: &KnownMethod<'_>| {
        let name = namer.name(method);
        name.is_some_and(|n| {
            n.class == known.class && n.method == known.method && n.signature == known.signature
        }) && namer.class_definition_agrees(method)
    };
    let passes = |namer: &Namer| {
        right(namer, top.method, entry)
            && known.iter().filter(|m| is_pointer(m)).all(|m| {
                std::num::NonZeroUsize::new(m.id as usize).is_some_and(|id| right(namer, MethodRef(id), m))
            })
    };
    let find =
        || layouts.iter().map(|(row, layout)| (*row, Namer::new(*layout))).find(|(_, namer)| passes(namer));
    // This thread is in native state, so the collector may move the methods' classes while they are read.
    discover::until_consistent(find).ok_or(Off::NameCheck("no layout reads the known methods' names"))
}
