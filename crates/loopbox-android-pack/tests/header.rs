//! The C header in the archive: a C and a C++ program that include it are compiled and run. They call its
//! functions before and after the library is loaded.

use std::fs;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = r#"
static void (*listener)(const char *, const char *, const char *);
int marked;
void loopbox_mark_crash(int signal) { marked = signal; }
void loopbox_on_report(void (*l)(const char *, const char *, const char *)) { listener = l; }
void call(void) { if (listener) listener("a.lbx", "hang", "main runs"); }
"#;

const PROGRAM: &str = r#"
#include <loopbox.h>
#include <string.h>
static int heard;
static void on_report(const char *path, const char *reason, const char *digest) {
    heard += strcmp(path, "a.lbx") == 0 && strcmp(reason, "hang") == 0 && strcmp(digest, "main runs") == 0;
}
int main(int count, char **arguments) {
    void *library;
    loopbox_mark_crash_fn mark;
    loopbox_set_listener_fn set;
    if (count != 2 || loopbox_find_mark_crash() != NULL || loopbox_find_on_report() != NULL) return 1;
    library = dlopen(arguments[1], RTLD_NOW);
    if (library == NULL) return 2;
    mark = loopbox_find_mark_crash();
    set = loopbox_find_on_report();
    if (mark == NULL || set == NULL || loopbox_find_on_first_file() != NULL) return 3;
    mark(11);
    set(on_report);
    ((void (*)(void))dlsym(library, "call"))();
    set(NULL);
    ((void (*)(void))dlsym(library, "call"))();
    return *(int *)dlsym(library, "marked") == 11 && heard == 1 ? 0 : 4;
}
"#;

fn compile(compiler: &str, folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-Wall", "-Wextra", "-Werror"]).args(arguments);
    let output = command.output().expect("the tests need a C compiler, as Rust itself does");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_header_finds_the_functions_of_a_loaded_library_and_loads_none() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("library.c", LIBRARY);
    write("program.c", PROGRAM);
    write("program.cc", PROGRAM);
    let header = "../../jni-glue/android/prefab/modules/loopbox/include";
    let include = format!("-I{}", std::env::current_dir().unwrap().join(header).display());
    let soname = "-Wl,-soname,libloopbox.so";
    compile("cc", folder.path(), &["-shared", "-fPIC", soname, "library.c", "-o", "libloopbox.so"]);
    for (compiler, source) in [("cc", "program.c"), ("c++", "program.cc")] {
        compile(compiler, folder.path(), &[&include, source, "-o", "program", "-ldl"]);
        let library = folder.path().join("libloopbox.so");
        let status = Command::new(folder.path().join("program")).arg(&library).status().unwrap();
        assert_eq!(status.code(), Some(0), "{source}");
    }
}
