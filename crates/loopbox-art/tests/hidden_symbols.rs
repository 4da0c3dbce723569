//! A libart that is built like those of ART 15 and newer: one function is hidden, and its name is only in a
//! packed symbol table. The C compiler and binutils build it, with as many other names as a real one has.

use std::cell::RefCell;
use std::ffi::CString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use loopbox_art::{JavaVm, KnownSymbols, Library};

const HIDDEN: &str = "_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonEi";
const EXPORTED: [&str; 7] = [
    "_ZN3art10ThreadList6ResumeEPNS_6ThreadENS_13SuspendReasonE",
    "_ZN3art12StackVisitorC2EPNS_6ThreadEPNS_7ContextENS0_13StackWalkKindEb",
    "_ZN3art12StackVisitor9WalkStackILNS0_16CountTransitionsE0EEEvb",
    "_ZNK3art12StackVisitor9GetMethodEv",
    "_ZNK3art12StackVisitor8GetDexPcEb",
    "_ZN3art7Monitor19GetContendedMonitorEPNS_6ThreadE",
    "_ZN3art7Monitor20GetLockOwnerThreadIdENS_6ObjPtrINS_6mirror6ObjectEEE",
];
/// The number of other symbols, as in a libart of ART 14.
const OTHERS: usize = 42_500;

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Builds the library. Returns its path, and the address of the hidden function in it.
fn build(folder: &Path) -> (PathBuf, usize) {
    fs::create_dir_all(folder).unwrap();
    let file = |name: &str| folder.join(name);
    let mut source = String::from(".text\n");
    for name in EXPORTED.iter().chain(&[HIDDEN, "get_env"]) {
        writeln!(source, ".globl {name}\n.type {name}, @function\n{name}: ret").unwrap();
    }
    writeln!(source, ".hidden {HIDDEN}").unwrap();
    for n in 0..OTHERS {
        writeln!(source, "_ZN3art11ClassLinker{n}EPNS_6ThreadENS_6HandleINS_6mirror5ClassEEE: .byte 0")
            .unwrap();
    }
    // A JavaVM: a pointer to its table, whose seventh word is a function of this module.
    source.push_str(".data\n.globl java_vm\n.type java_vm, @object\n.size java_vm, 8\n");
    source
        .push_str("java_vm: .quad table\ntable: .quad 0, 0, 0, 0, 0, 0, get_env\n.section .note.GNU-stack\n");
    fs::write(file("art.s"), source).unwrap();
    let whole = file("whole.so");
    run(Command::new("cc")
        .args(["-shared", "-nostdlib", "-Wl,--hash-style=gnu", "-Wl,--build-id", "-o"])
        .arg(&whole)
        .arg(file("art.s")));
    let packed = file("packed");
    run(Command::new("objcopy").arg("--only-keep-debug").arg(&whole).arg(&packed));
    run(Command::new("xz").args(["--force", "--keep"]).arg(&packed));
    let shipped = file("libart.so");
    run(Command::new("strip").arg("-o").arg(&shipped).arg(&whole));
    let section = format!(".gnu_debugdata={}", file("packed.xz").display());
    run(Command::new("objcopy").arg("--add-section").arg(section).arg(&shipped));
    let names = Command::new("nm").arg(&whole).output().unwrap().stdout;
    let names = String::from_utf8(names).unwrap();
    let line = names.lines().find(|line| line.ends_with(HIDDEN)).expect("nm knows it");
    (shipped, usize::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap())
}

/// What one start keeps for the next one.
#[derive(Default)]
struct Kept(RefCell<(Option<String>, u32)>);

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
fn a_hidden_function_is_searched_for_once_and_found_at_once_from_then_on() {
    let (library, address) = build(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("hidden-symbols"));
    let name = CString::new(library.display().to_string()).unwrap();
    // SAFETY: a library without constructors, never closed.
    let vm = unsafe {
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null());
        libc::dlsym(handle, c"java_vm".as_ptr())
    };
    assert!(!vm.is_null());
    // SAFETY: the library has the beginning of one by this name.
    let vm = unsafe { JavaVm::from_raw(vm) };
    let load = |vm: JavaVm, kept: &Kept| {
        let begun = Instant::now();
        Library::load(vm, Some(kept)).unwrap_or_else(|off| panic!("{off}"));
        begun.elapsed()
    };
    let kept = Kept::default();
    let searched = load(vm, &kept);
    assert_eq!(kept.0.borrow().0.as_deref(), Some(&*format!("d{address} {HIDDEN}\n")));
    let known: Vec<Duration> = (0..20).map(|_| load(vm, &kept)).collect();
    assert_eq!(kept.0.borrow().1, 1, "never searched for again");
    let again: Vec<Duration> = (0..2).map(|_| load(vm, &Kept::default())).collect();
    let (known, again) = (known.iter().min().unwrap(), again.iter().min().unwrap());
    println!(
        "searched {searched:?}, {again:?}; known {known:?}: {:.0} times",
        again.div_duration_f64(*known)
    );
    // What is damaged, or not of this module, is searched for.
    for text in ["", &format!("d{} {HIDDEN}\n", usize::MAX / 2)] {
        *kept.0.borrow_mut() = (Some(text.to_owned()), 0);
        load(vm, &kept);
        assert_eq!(kept.0.borrow().1, 1, "{text:?}");
    }
}
