//! Small real libraries of the host machine for the tests of the checks, made by the machine's own compiler.

use std::fs;
use std::process::Command;

/// Flags that make a library of the host satisfy every requirement for an Android one.
const GOOD: [&str; 10] = [
    "-Wl,-soname,libsample.so",
    "-Wl,-z,max-page-size=0x4000,-z,common-page-size=0x4000",
    "-Wl,--hash-style=both",
    "-Wl,--build-id=sha1",
    "-Wl,-z,relro,-z,now",
    "-Wl,-z,noexecstack",
    "-Wl,-z,nodelete",
    "-Wl,-z,norelr",
    "-Wl,-z,noseparate-code",
    "-fvisibility=hidden",
];

/// The source of the libraries: one exported function, one import, and one weak import that is newer than the
/// oldest Android.
const SOURCE: &str = "
    void abort(void);
    extern long getrandom(void *, unsigned long, unsigned) __attribute__((weak));
    static int (*volatile table[])(int);
    __attribute__((visibility(\"default\"))) int JNI_OnLoad(void) {
        if (getrandom && table[0](1)) abort();
        return 0x10006;
    }
    static int helper(int x) { return x + EXTRA; }
    static int (*volatile table[])(int) = { helper };
    MORE
";

/// A library linked with a substitute of Android's libc, and with additional flags for the compiler driver.
pub(crate) fn library(flags: &[&str]) -> Vec<u8> {
    library_with("", flags)
}

/// As [`library`], with more source text.
pub(crate) fn library_with(more: &str, flags: &[&str]) -> Vec<u8> {
    let all: Vec<&str> = GOOD.iter().chain(flags).copied().collect();
    make(more, &all)
}

/// A library that is built without one of the good flags.
pub(crate) fn library_without(flag: &str) -> Vec<u8> {
    let all: Vec<&str> = GOOD.iter().copied().filter(|good| *good != flag).collect();
    assert!(all.len() < GOOD.len());
    make("", &all)
}

fn make(more: &str, flags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("libc.c"), "void abort(void) {}\nvoid *memfd_create(void) { return 0; }\n").unwrap();
    fs::write(file("libc.map"), "LIBC { global: *; };\n").unwrap();
    fs::write(file("lib.c"), SOURCE.replace("EXTRA", "1").replace("MORE", more)).unwrap();
    let run = |arguments: Vec<String>| {
        let mut cc = Command::new("cc");
        cc.current_dir(folder.path()).args(["-shared", "-fPIC", "-O1", "-nostdlib"]).args(&arguments);
        let output = cc.output().expect("the tests need a C compiler, as Rust itself does");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let own = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    run(own(&["-Wl,-soname,libc.so,--version-script=libc.map", "libc.c", "-o", "libc.so"]));
    let mut arguments = own(&["lib.c", "-o", "libsample.so"]);
    arguments.extend(own(flags));
    arguments.push("./libc.so".into());
    run(arguments);
    fs::read(file("libsample.so")).unwrap()
}
