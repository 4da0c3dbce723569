//! Lets the libraries of the process find this program's malloc before the C library's: see `src/heap.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["malloc", "calloc", "realloc"] {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
}
