//! Lets the libraries of the process find this program's malloc, mmap and pthread_create before the C
//! library's: see `src/heap.rs` and `src/exhausted.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Else the unwinder of ART 10 ends a trace at this program's frames.
    println!("cargo::rustc-link-arg-bins=-Wl,--no-rosegment");
    for name in [
        "malloc",
        "calloc",
        "realloc",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "mmap",
        "mmap64",
        "pthread_create",
    ] {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
}
