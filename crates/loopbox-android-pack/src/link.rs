//! How the library is linked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::abi::Abi;
use crate::project::{LIBRARY, Product};
use loopbox_setup::workspace::root;

/// Compiler flags of every Android link, with Debian's linker and with an NDK's.
const FLAGS: [&str; 17] = [
    // Every import must be found: the stubs (or the NDK's own) have only what the oldest Android has.
    "-Clink-arg=-Wl,-z,defs",
    "-Clink-arg=-Wl,--error-limit=0",
    // ART unloads a library with the class loader that has loaded it. The SIGQUIT handler stays for good.
    "-Clink-arg=-Wl,-z,nodelete",
    // Pages of 16 KiB, which Google Play asks for; the second keeps the read-only data's end on a page too.
    "-Clink-arg=-Wl,-z,max-page-size=16384",
    "-Clink-arg=-Wl,-z,common-page-size=16384",
    // Read-only data lies in the executable segment, which begins where the file does: the unwinders up to
    // Android 10 take what is elsewhere for another place of the library, and traces would end at it.
    "-Clink-arg=-Wl,--no-rosegment",
    // Functions with the same instructions are one. Only the poll hook goes by the addresses of functions of
    // ours: its trampolines and the two natives that it finds an ArtMethod's code by, which all differ.
    "-Clink-arg=-Wl,--icf=all",
    // Loaders before API 23 know only the old hash table, newer ones are faster with the new.
    "-Clink-arg=-Wl,--hash-style=both",
    "-Clink-arg=-Wl,--build-id=sha1",
    // Names that show which crates generic code is for; tombstones are read with them.
    "-Csymbol-mangling-version=v0",
    "-Clink-arg=-Wl,-soname,libloopbox.so",
    // One key for all thread-local variables (`thread_keys.rs` of loopbox-agent). Without the flags, or
    // without that module, names are undefined.
    "-Clink-arg=-Wl,--wrap=pthread_key_create",
    "-Clink-arg=-Wl,--wrap=pthread_key_delete",
    "-Clink-arg=-Wl,--wrap=pthread_getspecific",
    "-Clink-arg=-Wl,--wrap=pthread_setspecific",
    NO_UNWIND_TABLES,
    // The functions of assembly bring theirs, which unwinders find by this table.
    "-Clink-arg=-Wl,--eh-frame-hdr",
];

/// Compiler flags of the arm64 library, where LLVM moves repeated instructions into separate functions.
const ARM64_FLAGS: [&str; 6] = [
    // Instructions that are not rearranged for in-order processors repeat more often.
    "-Cllvm-args=-enable-misched=false",
    "-Cllvm-args=-enable-post-misched=false",
    // Calls of the functions that were made repeat, too.
    "-Cllvm-args=-machine-outliner-reruns=1",
    // Functions save and restore registers by shared code, where they are optimised for size alone.
    "-Cllvm-args=-homogeneous-prolog-epilog",
    // Functions that differ in constants alone become one with parameters.
    "-Cllvm-args=-enable-global-merge-func",
    // All that is used by its address lies within a megabyte, so that one instruction makes it. The reserve
    // of memory is longer: it comes last (`sys/memory.rs` of loopbox-agent). The linker refuses what is not.
    "-Ccode-model=tiny",
];

/// The flags of an ABI for all its libraries.
pub(crate) fn flags(abi: Abi) -> Vec<String> {
    let more: &[&str] = if abi == Abi::Arm64 { &ARM64_FLAGS } else { &[] };
    let script = root().join("jni-glue/android/reserve.ld");
    let script = format!("-Clink-arg=-Wl,-T,{}", script.display());
    FLAGS.iter().chain(more).map(|flag| (*flag).to_owned()).chain([script]).collect()
}

/// Whether a flag is needed only to link a library. The other crates are compiled without such flags, so
/// crates that two libraries use are compiled once.
fn is_for_the_linker(flag: &str) -> bool {
    flag.starts_with("-Clink-arg=")
}

/// The flags of a target that all crates are compiled with.
pub(crate) fn common(flags: &[String]) -> Vec<String> {
    flags.iter().filter(|flag| !is_for_the_linker(flag)).cloned().collect()
}

/// The flags of a target for linking one library only. They contain this library's name, and wrap functions
/// only when [`Product::shares_keys`] is set.
pub(crate) fn own(product: Product, flags: &[String]) -> Vec<String> {
    let kept = flags.iter().filter(|flag| is_for_the_linker(flag));
    let kept = kept.filter(|flag| product.shares_keys || !flag.contains(",--wrap="));
    kept.map(|flag| flag.replace(LIBRARY.soname, product.soname)).collect()
}

/// The option that leaves out the unwind tables. In an app only a tombstone unwinds through this library,
/// which does not justify 50 KB. The library with symbols has the same tables in `.debug_frame`, where crash
/// services read them.
pub(crate) const NO_UNWIND_TABLES: &str = "-Cforce-unwind-tables=no";

/// A part of the cache key: to be changed together with [`FRONT`].
pub(crate) const FRONT_VERSION: u32 = 1;

/// The script that rustc calls as its linker. It is called with the arguments of a C compiler, and calls lld
/// with the arguments that lld understands.
const FRONT: &str = r#"#!/bin/sh
# Generated: turns the arguments for a C compiler driver into those of the linker behind it.
left=$#
set -f
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    case $argument in
        -Wl,*)
            fields=$IFS
            IFS=,
            for word in ${argument#-Wl,}; do set -- "$@" "$word"; done
            IFS=$fields
            ;;
        -m32 | -m64 | -march=* | -nodefaultlibs | -nostartfiles | -fuse-ld=*) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "@LLD@" "$@"
"#;

/// Writes [`FRONT`], the script that calls the linker `lld`, to `file`, and makes `file` executable.
pub(crate) fn write_front(lld: &Path, file: &Path) -> Result<()> {
    let text = FRONT.replace("@LLD@", &lld.display().to_string());
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi;
    use crate::project::{INHOUSE, LIBRARY};
    use loopbox_setup::command::{command, run};

    #[test]
    fn the_front_gives_the_linker_plain_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let linker = folder.path().join("my lld");
        fs::write(&linker, "#!/bin/sh\nfor a in \"$@\"; do echo \"[$a]\"; done\n").unwrap();
        fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).unwrap();
        let front = folder.path().join("front");
        write_front(&linker, &front).unwrap();
        let given = ["-m64", "-Wl,-z,defs", "a b.o", "-Wl,--as-needed", "-nodefaultlibs", "-o", "*", "-lc"];
        let got = run(&mut command(&front, given)).unwrap();
        assert_eq!(got, "[-z]\n[defs]\n[a b.o]\n[--as-needed]\n[-o]\n[*]\n[-lc]\n");
    }

    #[test]
    fn the_flags_name_the_library() {
        for (abi, product) in abi::ALL.into_iter().flat_map(|abi| [(abi, LIBRARY), (abi, INHOUSE)]) {
            let flags = flags(abi);
            let (common, own) = (common(&flags), own(product, &flags));
            assert!(common.iter().all(|flag| !flag.contains("-Wl,")));
            assert!(common.contains(&NO_UNWIND_TABLES.to_owned()));
            let wrapped = flags.iter().filter(|flag| flag.contains(",--wrap=")).count();
            let left_out = if product.shares_keys { 0 } else { wrapped };
            assert_eq!(own.len() + common.len(), flags.len() - left_out);
            assert!(own.iter().any(|flag| flag.ends_with(&format!("-soname,{}", product.soname))));
            assert_eq!(
                own.iter().any(|flag| flag.contains("--wrap=pthread_key_create")),
                product.shares_keys
            );
        }
    }
}
