//! The functions of ART that sampling calls, bound by their mangled names.
//!
//! A signature cannot be guessed from the API level: ART is an updatable module since Android 12, and vendors
//! back-port. Each known signature has a separate binding, chosen by the mangled name that exists. Names and
//! signatures: `runtime/thread_list.h` and `runtime/stack.h` of the tags in `offsets/`.

use std::ffi::{c_int, c_void};

use crate::known::{self, KnownSymbols};
use crate::module::{Found, Module};
use crate::off::Off;
use crate::offsets::SuspendAbi;
use loopbox_elf::SymbolSource;

/// `static ObjPtr<Object> Monitor::GetContendedMonitor(Thread*)`; up to 9 the result is `Object*`. The
/// mangled name does not show the result type. So the type is derived from the mangled name of
/// [`GetLockOwner`], whose parameter became an `ObjPtr` at the same time.
#[derive(Clone, Copy)]
pub(crate) struct GetContendedMonitor {
    function: unsafe extern "C" fn(Opaque) -> usize,
    returns_class: bool,
}

/// A trivially copied C++ class of one word. 32-bit x86 returns such a class in memory that the caller passes
/// as a further argument; the other machines return it as they return a pointer.
#[repr(C)]
struct ObjPtr(usize);

impl GetContendedMonitor {
    /// # Safety
    /// `thread` is an `art::Thread*` that lives during the call; the calling thread is runnable.
    pub(crate) unsafe fn call(self, thread: Opaque) -> usize {
        if cfg!(target_arch = "x86") && self.returns_class {
            type Function = unsafe extern "C" fn(Opaque) -> ObjPtr;
            // SAFETY: that is its type.
            let function = unsafe {
                std::mem::transmute::<unsafe extern "C" fn(Opaque) -> usize, Function>(self.function)
            };
            // SAFETY: the caller's promise.
            return unsafe { function(thread) }.0;
        }
        // SAFETY: the caller's promise, and what it returns is returned like a pointer.
        unsafe { (self.function)(thread) }
    }
}

/// `static uint32_t Monitor::GetLockOwnerThreadId(ObjPtr<Object>)`. Up to 9 the parameter is an `Object*`,
/// which is passed in the same way.
pub(crate) type GetLockOwner = unsafe extern "C" fn(usize) -> u32;

/// `art::ThreadList*`, `art::Thread*` and the like: never dereferenced as a Rust type.
pub(crate) type Opaque = *mut c_void;

/// `SuspendReason::kInternal`, 0 in every version and the same as `false` for 8.0's `debug_suspension`. It is
/// the only reason passed, because `kForUserCode` changed its number between versions.
const INTERNAL: c_int = 0;

/// The value passed for `attempt_of_4`: the first of 4 attempts. With it the call returns null when the
/// thread did not stop within a quarter of ART's limit. With 0, or with 4 for the last attempt, the call
/// would abort the process instead.
const FIRST_ATTEMPT: c_int = 1;

type SuspendBoolBool = unsafe extern "C" fn(Opaque, u32, bool, *mut bool) -> Opaque;
type SuspendReasonBool = unsafe extern "C" fn(Opaque, u32, c_int, *mut bool) -> Opaque;
type SuspendReasonAttempt = unsafe extern "C" fn(Opaque, u32, c_int, c_int) -> Opaque;
type ResumeBool = unsafe extern "C" fn(Opaque, Opaque, bool);
type ResumeReason = unsafe extern "C" fn(Opaque, Opaque, c_int) -> bool;

/// `StackVisitor::StackVisitor(Thread*, Context*, StackWalkKind, bool check_suspended)`.
pub(crate) type VisitorNew = unsafe extern "C" fn(Opaque, Opaque, Opaque, c_int, bool);
/// `StackVisitor::WalkStack<kYes>(bool include_transitions)`.
pub(crate) type WalkStack = unsafe extern "C" fn(Opaque, bool);
/// `ArtMethod* StackVisitor::GetMethod() const`.
pub(crate) type GetMethod = unsafe extern "C" fn(*const c_void) -> Opaque;
/// `uint32_t StackVisitor::GetDexPc(bool abort_on_failure) const`.
pub(crate) type GetDexPc = unsafe extern "C" fn(*const c_void, bool) -> u32;

/// The two functions of one version that suspend and resume a thread.
#[derive(Clone, Copy)]
pub(crate) enum Suspension {
    BoolBool(SuspendBoolBool, ResumeBool),
    ReasonBool(SuspendReasonBool, ResumeReason),
    ReasonAttempt(SuspendReasonAttempt, ResumeReason),
}

impl Suspension {
    pub(crate) fn abi(self) -> SuspendAbi {
        match self {
            Suspension::BoolBool(..) => SuspendAbi::BoolBool,
            Suspension::ReasonBool(..) => SuspendAbi::ReasonBool,
            Suspension::ReasonAttempt(..) => SuspendAbi::ReasonAttempt,
        }
    }

    /// Suspends the thread with this thin-lock id; returns null when it did not stop within ART's limit.
    ///
    /// # Safety
    /// `list` is the runtime's `ThreadList`; `id` is a living thread's and not the caller's; the
    /// caller is attached and in native state.
    pub(crate) unsafe fn suspend(self, list: Opaque, id: u32) -> Opaque {
        let mut timed_out = false;
        // SAFETY: the caller's promise; each arm passes what its signature takes.
        unsafe {
            match self {
                Suspension::BoolBool(suspend, _) => suspend(list, id, false, &raw mut timed_out),
                Suspension::ReasonBool(suspend, _) => suspend(list, id, INTERNAL, &raw mut timed_out),
                Suspension::ReasonAttempt(suspend, _) => suspend(list, id, INTERNAL, FIRST_ATTEMPT),
            }
        }
    }

    /// Resumes a thread that [`suspend`](Self::suspend) returned.
    ///
    /// # Safety
    /// `thread` was returned by `suspend` on the same list and has not been resumed since: resuming a
    /// thread that is not suspended aborts the process on newer versions.
    pub(crate) unsafe fn resume(self, list: Opaque, thread: Opaque) {
        // SAFETY: the caller's promise; the reason is the one `suspend` used.
        unsafe {
            match self {
                Suspension::BoolBool(_, resume) => resume(list, thread, false),
                Suspension::ReasonBool(_, resume) | Suspension::ReasonAttempt(_, resume) => {
                    resume(list, thread, INTERNAL);
                }
            }
        }
    }
}

/// All functions, bound.
#[derive(Clone, Copy)]
pub(crate) struct Symbols {
    pub suspension: Suspension,
    pub visitor_new: VisitorNew,
    pub walk_stack: WalkStack,
    pub get_method: GetMethod,
    pub get_dex_pc: GetDexPc,
    /// `Monitor::GetContendedMonitor` and `Monitor::GetLockOwnerThreadId`, where both are found.
    pub locks: Option<(GetContendedMonitor, GetLockOwner)>,
    /// Address of `Runtime::instance_`, for a cross-check where it is exported.
    pub runtime_instance: Option<usize>,
    /// Whether ART was built with libstdc++ (Debian), recognised by the ABI tag in the name of
    /// `PrettyMethod`.
    pub host_build: bool,
    /// Of the tables in which the needed symbols were found, the last one in the order of [`SymbolSource`].
    pub source: SymbolSource,
}

/// Makes [`Symbol`] and [`NAMES`] from one list, so that no function can be called by the name of another.
macro_rules! symbols {
    ($($symbol:ident = $name:literal),+ $(,)?) => {
        /// A function or variable of ART. Its value is the number of its name in [`NAMES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Symbol {
            $($symbol),+
        }

        /// The mangled names in one text, a space after each. A table of references would take 600 bytes
        /// more.
        const NAMES: &str = concat!($($name, " "),+);
    };
}

symbols! {
    SuspendBoolBool = "_ZN3art10ThreadList23SuspendThreadByThreadIdEjbPb",
    SuspendReasonBool = "_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonEPb",
    SuspendReasonAttempt = "_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonEi",
    SuspendReasonOnly = "_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonE",
    ResumeBool = "_ZN3art10ThreadList6ResumeEPNS_6ThreadEb",
    ResumeReason = "_ZN3art10ThreadList6ResumeEPNS_6ThreadENS_13SuspendReasonE",
    VisitorNew = "_ZN3art12StackVisitorC2EPNS_6ThreadEPNS_7ContextENS0_13StackWalkKindEb",
    WalkStack = "_ZN3art12StackVisitor9WalkStackILNS0_16CountTransitionsE0EEEvb",
    GetMethod = "_ZNK3art12StackVisitor9GetMethodEv",
    GetDexPc = "_ZNK3art12StackVisitor8GetDexPcEb",
    Contended = "_ZN3art7Monitor19GetContendedMonitorEPNS_6ThreadE",
    Owner = "_ZN3art7Monitor20GetLockOwnerThreadIdENS_6ObjPtrINS_6mirror6ObjectEEE",
    OwnerByPointer = "_ZN3art7Monitor20GetLockOwnerThreadIdEPNS_6mirror6ObjectE",
    Instance = "_ZN3art7Runtime9instance_E",
    PrettyGnu = "_ZN3art9ArtMethod12PrettyMethodB5cxx11Eb",
}

fn names() -> impl Iterator<Item = &'static str> {
    NAMES.split_terminator(' ')
}

impl Symbols {
    /// Resolves everything and binds it.
    ///
    /// Up to ART 14 all functions are exported and found without a scan. Tables that must be scanned are
    /// opened only when a function is missing. If `known` keeps the result, that is done only once for each
    /// build of ART.
    pub(crate) fn bind(module: &Module, known: Option<&dyn KnownSymbols>) -> Result<Symbols, Off> {
        // Without a build id one build cannot be distinguished from another.
        let known = known.filter(|_| !module.build_id().is_empty());
        let names: Vec<&str> = names().collect();
        let contains = |address| module.contains(address);
        let place = Place { names: &names, load_bias: module.load_bias(), contains: &contains };
        Symbols::find(module.find_exported(&names), known, &place, || module.find_all(&names))
    }

    fn find(
        mut exported: Vec<Option<Found>>,
        known: Option<&dyn KnownSymbols>,
        place: &Place<'_>,
        search: impl FnOnce() -> Vec<Option<Found>>,
    ) -> Result<Symbols, Off> {
        if let Ok(symbols) = Symbols::choose(&Table(&exported)) {
            return Ok(symbols);
        }
        if let Some(text) = known.and_then(KnownSymbols::load) {
            known::add(&text, place.names, &mut exported, place.load_bias, place.contains);
            if let Ok(symbols) = Symbols::choose(&Table(&exported)) {
                return Ok(symbols);
            }
        }
        let found = search();
        let symbols = Symbols::choose(&Table(&found))?;
        if let Some(known) = known {
            known.keep(&known::write(place.names, &found, place.load_bias));
        }
        Ok(symbols)
    }

    /// Chooses the bindings from what was found.
    fn choose(table: &Table<'_>) -> Result<Symbols, Off> {
        let needed = |symbol, what| table.get(symbol).ok_or(Off::NoSymbol(what));
        let visitor_new =
            needed(Symbol::VisitorNew, "StackVisitor::StackVisitor(Thread*, Context*, StackWalkKind, bool)")?;
        let walk_stack = needed(Symbol::WalkStack, "StackVisitor::WalkStack<kYes>(bool)")?;
        let get_method = needed(Symbol::GetMethod, "StackVisitor::GetMethod()")?;
        let get_dex_pc = needed(Symbol::GetDexPc, "StackVisitor::GetDexPc(bool)")?;
        let forms = [Symbol::SuspendBoolBool, Symbol::SuspendReasonBool, Symbol::SuspendReasonAttempt]
            .map(|symbol| table.get(symbol));
        let (suspend, resume) = match forms {
            [None, None, None] if table.get(Symbol::SuspendReasonOnly).is_some() => {
                return Err(Off::OnlyAbortingSuspend("SuspendThreadByThreadId(uint32_t, SuspendReason)"));
            }
            [None, None, None] => return Err(Off::NoSymbol("ThreadList::SuspendThreadByThreadId")),
            [Some(suspend), None, None] => {
                (suspend, needed(Symbol::ResumeBool, "ThreadList::Resume(Thread*, bool)")?)
            }
            [None, Some(suspend), None] | [None, None, Some(suspend)] => {
                (suspend, needed(Symbol::ResumeReason, "ThreadList::Resume(Thread*, SuspendReason)")?)
            }
            _ => return Err(Off::MixedSymbols("more than one SuspendThreadByThreadId")),
        };
        // SAFETY: each address is that of the function whose mangled name spells out these parameter
        // types; return types are those of the headers, the same in every version that has the name.
        let suspension = unsafe {
            match forms {
                [Some(_), ..] => Suspension::BoolBool(bind(suspend), bind(resume)),
                [_, Some(_), _] => Suspension::ReasonBool(bind(suspend), bind(resume)),
                _ => Suspension::ReasonAttempt(bind(suspend), bind(resume)),
            }
        };
        let used = [visitor_new, walk_stack, get_method, get_dex_pc, suspend, resume];
        let source = used.iter().map(|f| f.source).max().unwrap_or(SymbolSource::Linker);
        let owner = table.get(Symbol::Owner).map(|owner| (owner, true));
        let owner = owner.or_else(|| table.get(Symbol::OwnerByPointer).map(|owner| (owner, false)));
        let locks = table.get(Symbol::Contended).zip(owner);
        // SAFETY: as above. An ObjPtr is passed like the pointer that it is.
        Ok(unsafe {
            Symbols {
                suspension,
                visitor_new: bind(visitor_new),
                walk_stack: bind(walk_stack),
                get_method: bind(get_method),
                get_dex_pc: bind(get_dex_pc),
                locks: locks.map(|(contended, (owner, returns_class))| {
                    (GetContendedMonitor { function: bind(contended), returns_class }, bind(owner))
                }),
                runtime_instance: table.get(Symbol::Instance).map(|f| f.address),
                host_build: table.get(Symbol::PrettyGnu).is_some(),
                source,
            }
        })
    }
}

/// What is needed to resolve names in a module.
struct Place<'a> {
    names: &'a [&'a str],
    load_bias: usize,
    contains: &'a dyn Fn(usize) -> bool,
}

/// Casts an address to a function pointer.
///
/// # Safety
/// `F` is a function pointer type and the function at the address has that signature.
unsafe fn bind<F: Copy>(found: Found) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: same size (checked above); the caller promises the type.
    unsafe { std::mem::transmute_copy(&found.address) }
}

/// What was found, in the order of [`Symbol`].
struct Table<'a>(&'a [Option<Found>]);

impl Table<'_> {
    fn get(&self, symbol: Symbol) -> Option<Found> {
        *self.0.get(symbol as usize)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count() -> usize {
        names().count()
    }

    fn table(symbols: &[Symbol]) -> Vec<Option<Found>> {
        let mut found = vec![None; count()];
        for symbol in symbols {
            found[*symbol as usize] = Some(Found { address: 0x1000, source: SymbolSource::DynSym });
        }
        found
    }

    #[test]
    fn each_symbol_has_its_name() {
        let name = |symbol: Symbol| names().nth(symbol as usize).unwrap();
        assert_eq!(count(), Symbol::PrettyGnu as usize + 1);
        assert!(names().all(|name| name.starts_with("_Z")));
        assert!(name(Symbol::PrettyGnu).contains("PrettyMethodB5cxx11"));
    }

    const WALK: [Symbol; 4] = [Symbol::VisitorNew, Symbol::WalkStack, Symbol::GetMethod, Symbol::GetDexPc];

    fn abi(extra: &[Symbol]) -> Result<SuspendAbi, Off> {
        let symbols: Vec<_> = WALK.iter().chain(extra).copied().collect();
        Symbols::choose(&Table(&table(&symbols))).map(|s| s.suspension.abi())
    }

    #[test]
    fn the_mangled_name_decides_the_signature() {
        assert_eq!(abi(&[Symbol::SuspendBoolBool, Symbol::ResumeBool]), Ok(SuspendAbi::BoolBool));
        assert_eq!(abi(&[Symbol::SuspendReasonBool, Symbol::ResumeReason]), Ok(SuspendAbi::ReasonBool));
        assert_eq!(abi(&[Symbol::SuspendReasonAttempt, Symbol::ResumeReason]), Ok(SuspendAbi::ReasonAttempt));
    }

    #[test]
    fn a_form_that_aborts_on_time_out_is_not_called() {
        let off = abi(&[Symbol::SuspendReasonOnly, Symbol::ResumeReason]).unwrap_err();
        assert_eq!(off.code(), "aborting-suspend");
    }

    #[test]
    fn a_resume_of_another_version_is_not_called() {
        assert_eq!(abi(&[Symbol::SuspendBoolBool, Symbol::ResumeReason]).unwrap_err().code(), "no-symbol");
        assert_eq!(abi(&[Symbol::SuspendReasonBool, Symbol::ResumeBool]).unwrap_err().code(), "no-symbol");
    }

    #[test]
    fn two_versions_at_once_are_refused() {
        let names = [Symbol::SuspendReasonBool, Symbol::SuspendReasonAttempt, Symbol::ResumeReason];
        assert_eq!(abi(&names).unwrap_err().code(), "mixed-symbols");
    }

    #[test]
    fn each_missing_function_is_named() {
        for missing in WALK {
            let symbols: Vec<_> = WALK.iter().filter(|n| **n != missing).copied().collect();
            let found = table(&symbols);
            let Err(Off::NoSymbol(what)) = Symbols::choose(&Table(&found)) else { panic!("{missing:?}") };
            assert!(what.starts_with("StackVisitor::"), "{what}");
        }
        assert_eq!(abi(&[]).unwrap_err(), Off::NoSymbol("ThreadList::SuspendThreadByThreadId"));
    }

    /// Keeps a text, and counts how often it was given one.
    #[derive(Default)]
    struct Kept(std::cell::RefCell<(Option<String>, u32)>);

    impl KnownSymbols for Kept {
        fn load(&self) -> Option<String> {
            self.0.borrow().0.clone()
        }

        fn keep(&self, text: &str) {
            let mut kept = self.0.borrow_mut();
            *kept = (Some(text.to_owned()), kept.1 + 1);
        }
    }

    #[test]
    fn what_is_hidden_is_searched_for_once() {
        let hidden = [Symbol::SuspendReasonAttempt, Symbol::Owner];
        let is_in = |symbols: &[Symbol], at: usize| symbols.iter().any(|symbol| *symbol as usize == at);
        let of = |at: usize, bias: usize| {
            let is_hidden = is_in(&hidden, at);
            let source = if is_hidden { SymbolSource::GnuDebugData } else { SymbolSource::Linker };
            let there =
                is_in(&WALK, at) || is_hidden || is_in(&[Symbol::ResumeReason, Symbol::Contended], at);
            there.then_some(Found { address: bias + 64 + at, source })
        };
        let all = |bias| (0..count()).map(|at| of(at, bias)).collect::<Vec<_>>();
        let exported = |bias| -> Vec<_> {
            all(bias).into_iter().map(|found| found.filter(|f| f.source == SymbolSource::Linker)).collect()
        };
        let names: Vec<&str> = names().collect();
        let kept = Kept::default();
        let searches = std::cell::Cell::new(0);
        let start = |bias: usize| {
            let place = Place { names: &names, load_bias: bias, contains: &|address| address > bias };
            let search = || {
                searches.set(searches.get() + 1);
                all(bias)
            };
            let symbols = Symbols::find(exported(bias), Some(&kept), &place, search).unwrap();
            let suspend = symbols.suspension;
            assert!(symbols.locks.is_some() && suspend.abi() == SuspendAbi::ReasonAttempt);
            let Suspension::ReasonAttempt(suspend, _) = suspend else { unreachable!() };
            assert_eq!(suspend as usize, bias + 64 + Symbol::SuspendReasonAttempt as usize);
            assert_eq!(symbols.source, SymbolSource::GnuDebugData);
            searches.get()
        };
        assert_eq!([0x1000, 0x7000, 0x2000].map(start), [1, 1, 1]);
        // What is kept may be damaged, or of a version that resolved less.
        *kept.0.borrow_mut() = (Some("d64 something".to_owned()), 1);
        assert_eq!([0x1000, 0x1000].map(start), [2, 2]);
        assert_eq!(kept.0.borrow().1, 2);
        // What is exported needs no search, and is not kept.
        let place = Place { names: &names, load_bias: 0, contains: &|_| true };
        let exported = all(0x1000);
        assert!(Symbols::find(exported, Some(&kept), &place, || panic!("searched")).is_ok());
    }

    #[test]
    fn the_least_accessible_table_is_reported() {
        let mut found = table(&WALK);
        let at = |source| Some(Found { address: 0x1000, source });
        found[Symbol::ResumeReason as usize] = at(SymbolSource::DynSym);
        found[Symbol::SuspendReasonAttempt as usize] = at(SymbolSource::GnuDebugData);
        let chosen = Symbols::choose(&Table(&found));
        assert_eq!(chosen.map(|s| s.source), Ok(SymbolSource::GnuDebugData));
    }
}
