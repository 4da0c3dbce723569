//! Walking a stopped thread's stack with ART's own `StackVisitor`.
//!
//! ART's exported constructor builds the visitor object in a buffer far larger than any version needs (48 to
//! 552 bytes), so that no size or field offset is assumed. Then its virtual table is replaced by ours, whose
//! `VisitFrame` records the method and the dex pc. Nothing here allocates, locks, logs or can panic, because
//! it runs while the main thread is stopped.

use std::ffi::{c_int, c_void};

use crate::stack::RawStack;
use crate::symbols::{GetDexPc, GetMethod, Opaque, Symbols, VisitorNew};
use crate::sys::mem::WORD;

/// A walk visits at most this many frames, kept or not: a recursion of 100,000 frames must not stop the main
/// thread for milliseconds.
pub const DEFAULT_DEPTH_LIMIT: u32 = 1024;

/// Bytes in the buffer for ART's part of the visitor.
const SPACE: usize = 2048;
const CANARY_WORDS: usize = 16;
const CANARY: usize = 0x5bc3_a96d_5bc3_a96d_u64 as usize;

/// `StackWalkKind::kIncludeInlinedFrames`.
const INCLUDE_INLINED: c_int = 0;
/// `StackWalkKind::kSkipInlinedFrames`. Only [`Walker::probe`] passes it, to check where the constructor
/// stores the kind. All walks pass [`INCLUDE_INLINED`], which is 0: the probe could not distinguish it from
/// the zeros of the buffer.
const SKIP_INLINED: c_int = 1;

/// The functions and values of ART that a walk needs.
#[derive(Clone, Copy)]
pub(crate) struct Walker {
    new: VisitorNew,
    walk: unsafe extern "C" fn(Opaque, bool),
    get_method: GetMethod,
    get_dex_pc: GetDexPc,
}

/// The canary that follows the visitor in memory was overwritten: this ART's `StackVisitor` is larger than
/// our buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overrun;

#[repr(C, align(16))]
struct Visitor {
    space: [u8; SPACE],
    canary: [usize; CANARY_WORDS],
    sink: Sink,
}

struct Sink {
    get_method: GetMethod,
    get_dex_pc: GetDexPc,
    out: *mut RawStack,
    limit: u32,
    unfinished: bool,
}

/// An Itanium-ABI virtual table as `StackVisitor` has it; objects point at its third word.
#[repr(C)]
struct VirtualTable {
    offset_to_top: isize,
    type_info: usize,
    complete_destructor: unsafe extern "C" fn(*mut Visitor),
    deleting_destructor: unsafe extern "C" fn(*mut Visitor),
    visit_frame: unsafe extern "C" fn(*mut Visitor) -> bool,
}

static VIRTUAL_TABLE: VirtualTable = VirtualTable {
    offset_to_top: 0,
    type_info: 0,
    complete_destructor: destroy,
    deleting_destructor: destroy,
    visit_frame,
};

/// The visitor lives on our stack: there is nothing to destroy.
unsafe extern "C" fn destroy(_: *mut Visitor) {}

/// `VisitFrame`: called by ART for each frame, innermost first. With `true` the walk continues.
///
/// # Safety
/// `this` is the visitor passed to `WalkStack`.
unsafe extern "C" fn visit_frame(this: *mut Visitor) -> bool {
    // SAFETY: ART passes back the pointer it was given, to a live `Visitor`; `sink` is ours alone and
    // `out` outlives the walk. ART's part is only touched by ART's own accessors.
    unsafe {
        let sink = &raw mut (*this).sink;
        let method = ((*sink).get_method)(this.cast::<c_void>()) as usize;
        if method == 0 || is_runtime_method(method) {
            return true;
        }
        let dex_pc = ((*sink).get_dex_pc)(this.cast::<c_void>(), false);
        let out = &mut *(*sink).out;
        if out.depth() >= (*sink).limit {
            (*sink).unfinished = true;
            return false;
        }
        out.push(method, dex_pc);
        true
    }
}

/// Whether this is one of the runtime's own pseudo methods (callee-save frames, trampolines), which have no
/// declaring class.
///
/// # Safety
/// `method` is a live `ArtMethod*`, whose first member is `declaring_class_` in every version.
#[inline]
unsafe fn is_runtime_method(method: usize) -> bool {
    // SAFETY: the caller's promise; the collector may update the word, so it is read once.
    unsafe { std::ptr::read_volatile(method as *const u32) == 0 }
}

impl Visitor {
    fn zeroed(sink: Sink) -> Visitor {
        Visitor { space: [0; SPACE], canary: [CANARY; CANARY_WORDS], sink }
    }

    fn intact(&self) -> bool {
        self.canary == [CANARY; CANARY_WORDS]
    }
}

impl Walker {
    pub(crate) fn new(symbols: &Symbols) -> Walker {
        Walker {
            new: symbols.visitor_new,
            walk: symbols.walk_stack,
            get_method: symbols.get_method,
            get_dex_pc: symbols.get_dex_pc,
        }
    }

    fn sink(&self, out: *mut RawStack, limit: u32) -> Sink {
        Sink { get_method: self.get_method, get_dex_pc: self.get_dex_pc, out, limit, unfinished: false }
    }

    /// Records the stack of `thread`, at most `limit` frames of it.
    ///
    /// # Safety
    /// `thread` is a living `art::Thread*` that is suspended, or the calling thread's own. The calling thread
    /// is runnable: to find the next frame, and to find a frame's dex pc, ART follows the method to its
    /// class, dex cache and dex file (`NterpGetFrameSize`, `NterpGetDexPC`, `FindOatMethodFor`). A collection
    /// could move or free these if the calling thread were not runnable.
    pub(crate) unsafe fn walk(&self, thread: usize, limit: u32, out: &mut RawStack) -> Result<(), Overrun> {
        out.clear();
        let mut visitor = Visitor::zeroed(self.sink(out, limit));
        let this: Opaque = (&raw mut visitor).cast();
        // SAFETY: `this` points to zeroed memory larger than any StackVisitor; both threads are as the caller
        // promises; without a Context no registers are asked for. After the constructor, word 0 is the
        // object's virtual table pointer by the ABI and is replaced before any virtual call.
        unsafe {
            (self.new)(this, thread as Opaque, std::ptr::null_mut(), INCLUDE_INLINED, true);
            this.cast::<*const c_void>().write((&raw const VIRTUAL_TABLE.complete_destructor).cast());
            (self.walk)(this, false);
        }
        let unfinished = visitor.sink.unfinished;
        out.finish(unfinished);
        if visitor.intact() { Ok(()) } else { Err(Overrun) }
    }

    /// Finds where the constructor stores its arguments, to compare that with what is known of the layout.
    ///
    /// # Safety
    /// `thread` is the calling thread's own `art::Thread*`.
    pub(crate) unsafe fn probe(&self, thread: usize) -> Result<Shape, &'static str> {
        // SAFETY: the caller's promise.
        let build = |context: usize, check_suspended: bool| -> Result<Visitor, &'static str> {
            let mut visitor = Visitor::zeroed(self.sink(std::ptr::null_mut(), 0));
            let this: Opaque = (&raw mut visitor).cast();
            // SAFETY: as in `walk`; the constructor only stores its arguments (stack.cc), so the context
            // that is no Context is never followed.
            unsafe { (self.new)(this, thread as Opaque, context as Opaque, SKIP_INLINED, check_suspended) };
            if visitor.intact() { Ok(visitor) } else { Err("StackVisitor is larger than the buffer") }
        };
        const MARK: usize = 0x5a5a_5a50;
        let plain = build(0, false)?;
        let with_context = build(MARK, false)?;
        let checking = build(0, true)?;

        let word = |v: &Visitor, n: usize| {
            let bytes = v.space.get(n * WORD..(n + 1) * WORD).and_then(|b| b.try_into().ok());
            bytes.map_or(usize::MAX, usize::from_ne_bytes)
        };
        if word(&plain, 0) == 0 {
            return Err("StackVisitor has no virtual table");
        }
        if word(&plain, 1) != thread {
            return Err("StackVisitor::thread_ is not the second word");
        }
        let kind_at = plain.space.get(2 * WORD..2 * WORD + 4).and_then(|b| b.try_into().ok());
        if kind_at.map(i32::from_ne_bytes) != Some(SKIP_INLINED) {
            return Err("StackVisitor::walk_kind_ is not the third word");
        }
        if (3..=6).any(|n| word(&plain, n) != 0) {
            return Err("StackVisitor does not begin empty");
        }
        let words = SPACE / WORD;
        let mut contexts = (0..words).filter(|n| word(&with_context, *n) != word(&plain, *n));
        let context = match (contexts.next(), contexts.next()) {
            (Some(n), None) if word(&with_context, n) == MARK && word(&plain, n) == 0 => n * WORD,
            _ => return Err("StackVisitor::context_ is not one word"),
        };
        let mut checks = plain.space.iter().zip(&checking.space).enumerate().filter(|(_, (a, b))| a != b);
        let (Some((check_suspended, (0, 1))), None) = (checks.next(), checks.next()) else {
            return Err("StackVisitor::check_suspended_ is not one byte");
        };
        Ok(Shape { context, check_suspended })
    }
}

/// Where the constructor put its arguments `context` and `check_suspended`, in bytes from the visitor's
/// start. They are StackVisitor's last two members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub context: usize,
    pub check_suspended: usize,
}

impl Shape {
    /// `sizeof(StackVisitor)`: `check_suspended_` is its last member, padded to a word.
    pub(crate) fn size(&self) -> usize {
        (self.check_suspended & !(WORD - 1)) + WORD
    }
}
