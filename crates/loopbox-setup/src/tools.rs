//! The compilers: found on this machine, installed when they are missing and the user is root.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::arch::Arch;
use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::warm_jvm::{self, SHORT_LIVED};
use crate::{apt, workspace};

/// A program and the Debian package that contains it. `package` may name alternatives, in the form that
/// [`apt::install`] takes.
#[derive(Debug)]
struct Needed {
    program: &'static str,
    package: &'static str,
}

/// The tools that every set-up needs. A JDK newer than 17 works as long as its javac still compiles for Java
/// 8.
const NEEDED: &[Needed] = &[
    Needed { program: "g++", package: "g++" },
    Needed { program: "javac", package: "openjdk-17-jdk-headless | openjdk-21-jdk-headless" },
    Needed { program: "tar", package: "tar" },
    Needed { program: "xz", package: "xz-utils" },
    Needed { program: "apt-get", package: "apt" },
    Needed { program: "dpkg-deb", package: "dpkg" },
];

/// The additional tools for building a runtime's compiler. The sources of ART are written for clang.
const NEEDED_FOR_COMPILER: &[Needed] = &[
    Needed { program: "clang++", package: "clang" },
    Needed { program: "ld.lld", package: "lld" },
    Needed { program: "python3", package: "python3-minimal" },
    Needed { program: "patch", package: "patch" },
];

/// The tools that download files from Maven Central.
const NEEDED_FOR_MAVEN: &[Needed] = &[Needed { program: "mvn", package: "maven" }];

/// Code with which javac loads most of the classes that it needs for any code.
const SAMPLE: &str = r#"
import java.util.*;

/** A sample. */
public class Sample<T extends Comparable<T>> implements Iterable<T> {
    enum Kind { ONE, TWO }

    private static final Map<String, List<Kind>> KINDS = new HashMap<>();
    private final T[] values;

    @SafeVarargs
    Sample(T... values) {
        this.values = values;
    }

    @Override
    public Iterator<T> iterator() {
        return Arrays.asList(values).iterator();
    }

    synchronized int count(Kind kind) throws Exception {
        int sum = 0;
        for (T value : this) {
            try {
                switch (kind) {
                    case ONE:
                        sum += value.hashCode() & 7;
                        break;
                    default:
                        sum -= "a b".equals(value + " b") ? 1 : 0;
                }
            } catch (RuntimeException | Error fault) {
                throw new IllegalStateException("no " + kind, fault);
            } finally {
                KINDS.computeIfAbsent(kind.name(), name -> new ArrayList<>()).add(kind);
            }
        }
        return new Object() {
            int twice(int number) {
                return 2 * number;
            }
        }.twice(sum);
    }
}
"#;

/// The compilers of this machine.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The C++ compiler.
    pub cxx: PathBuf,
    /// The Java compiler.
    javac: PathBuf,
    /// The JVM of the same JDK.
    java: PathBuf,
    /// The path of the JVM's class data sharing archive with the classes that javac loads.
    javac_classes: PathBuf,
}

impl Tools {
    /// Finds all tools. As root, missing ones are installed by the machine's own apt.
    ///
    /// # Errors
    /// When a tool is missing and cannot be installed. For a user other than root, the error says what to
    /// install.
    pub fn ensure() -> Result<Self> {
        install_missing(NEEDED)?;
        Self::locate()
    }

    fn locate() -> Result<Self> {
        // javac and java must be of one JDK: what javac compiles, the tests run.
        let javac = tool("javac")?;
        let real = fs::canonicalize(&javac).with_context(|| format!("cannot resolve {}", javac.display()))?;
        let sibling = real.with_file_name("java");
        let java = if sibling.is_file() { sibling } else { tool("java")? };
        let found = Self { cxx: tool("g++")?, javac, java, javac_classes: PathBuf::new() };
        Ok(Self { javac_classes: found.javac_classes()?, ..found })
    }

    /// The path of the class data sharing archive with javac's classes. The archive is made by the first
    /// call.
    fn javac_classes(&self) -> Result<PathBuf> {
        const ARCHIVE: &str = "javac.jsa";
        let key = Key::new("javac", 1).with(&self.jdk_identity()?).with(SAMPLE);
        let made = Cache::open(&workspace::set_up().join("tools"))?.step("javac", &key, |out| {
            let sample = out.join("Sample.java");
            fs::write(&sample, SAMPLE).with_context(|| format!("cannot write {}", sample.display()))?;
            let mut javac = self.of_jdk("javac");
            javac.args(recorded_classes(&out.join(ARCHIVE)).map(|option| format!("-J{option}")));
            run(javac.args(["-proc:none", "-d"]).arg(out).arg(&sample))?;
            Ok(())
        })?;
        Ok(made.join(ARCHIVE))
    }

    /// The Java compiler, in the [warm JVM](crate::warm_jvm) where there is one.
    pub fn javac(&self) -> Command {
        warm_jvm::command(&self.java, "", "javac").unwrap_or_else(|| {
            let mut javac = self.of_jdk("javac");
            javac.args(shared_classes(&self.javac_classes).map(|option| format!("-J{option}")));
            javac
        })
    }

    /// A class of `class_path` in the [warm JVM](crate::warm_jvm); `None` where there is none.
    pub(crate) fn warm(&self, class_path: &str, class: &str) -> Option<Command> {
        warm_jvm::command(&self.java, class_path, class)
    }

    /// Javadoc, in the [warm JVM](crate::warm_jvm) where there is one.
    pub fn javadoc(&self) -> Command {
        warm_jvm::command(&self.java, "", "javadoc").unwrap_or_else(|| self.of_jdk("javadoc"))
    }

    /// Another tool of the JDK that takes options for the JVM in the same way as the compiler, such as
    /// `javap`.
    pub fn of_jdk(&self, program: &str) -> Command {
        command(self.javac.with_file_name(program), SHORT_LIVED.map(|option| format!("-J{option}")))
    }

    /// The folder of the JDK.
    ///
    /// # Errors
    /// When the compiler is not in the folder of a JDK.
    pub fn jdk(&self) -> Result<PathBuf> {
        let real = fs::canonicalize(&self.javac)?;
        Ok(real.ancestors().nth(2).context("javac is in no JDK")?.to_owned())
    }

    /// A JVM of the same JDK, for a program that runs for seconds.
    pub fn java(&self) -> Command {
        command(&self.java, SHORT_LIVED)
    }

    /// A text that changes when a compiler changes.
    ///
    /// # Errors
    /// When a compiler does not run.
    pub fn identity(&self) -> Result<String> {
        let cxx = run(&mut command(&self.cxx, ["-dumpfullversion", "-dumpmachine"]))?;
        Ok(format!("{cxx}{}", self.jdk_identity()?))
    }

    fn jdk_identity(&self) -> Result<String> {
        // The JDK's release file saves a 0.3 s start of javac.
        match fs::read_to_string(self.jdk()?.join("release")) {
            Ok(text) => Ok(text),
            Err(_) => run(&mut command(&self.javac, ["-version"])),
        }
    }
}

/// JVM options with which a program leaves the classes that it has loaded in a class data sharing archive.
pub(crate) fn recorded_classes(archive: &Path) -> [String; 2] {
    [format!("-XX:ArchiveClassesAtExit={}", archive.display()), "-Xlog:disable".to_owned()]
}

/// JVM options with which a program uses the archive that [`recorded_classes`] made. The JVM maps the archive
/// into memory and does not load the archived classes one by one, which halves the processor time of a short
/// run. The JVM uses an archive only for the class path that the archive was made with. It ignores any other
/// archive without a message.
pub(crate) fn shared_classes(archive: &Path) -> [String; 2] {
    [format!("-XX:SharedArchiveFile={}", archive.display()), "-Xlog:disable".to_owned()]
}

/// The programs that build a runtime's compiler.
#[derive(Debug, Clone)]
pub struct CompilerTools {
    /// The C++ compiler.
    pub clang: PathBuf,
    /// The program that generates sources.
    pub python: PathBuf,
    /// The program that applies Debian's patches.
    pub patch: PathBuf,
}

impl CompilerTools {
    /// Finds or installs them, as [`Tools::ensure`] does.
    ///
    /// # Errors
    /// As [`Tools::ensure`].
    pub fn ensure() -> Result<Self> {
        install_missing(NEEDED_FOR_COMPILER)?;
        Ok(Self { clang: tool("clang++")?, python: tool("python3")?, patch: tool("patch")? })
    }

    /// The C++ compiler for another architecture. `sysroot` has the parts of a system that the compiler
    /// needs.
    pub fn for_arch(&self, arch: Arch, sysroot: &Path) -> Command {
        let mut clang = command(&self.clang, ["-fuse-ld=lld"]);
        clang.arg(format!("--target={}", arch.clang_triple())).arg("--sysroot").arg(sysroot);
        clang
    }

    /// A text that changes when the compiler changes.
    ///
    /// # Errors
    /// When it does not run.
    pub fn identity(&self) -> Result<String> {
        run(&mut command(&self.clang, ["--version"]))
    }
}

/// Maven, found or installed as [`Tools::ensure`] does.
pub(crate) fn maven() -> Result<Command> {
    install_missing(NEEDED_FOR_MAVEN)?;
    let mut maven = command(tool("mvn")?, ["--quiet", "--batch-mode"]);
    // What the user gives comes later and wins: it may name a proxy.
    let own = env::var("MAVEN_OPTS").unwrap_or_default();
    maven.env("MAVEN_OPTS", format!("{} {own}", SHORT_LIVED.join(" ")));
    Ok(maven)
}

/// The path of a program on the search path. It is called after missing programs were installed, so a program
/// that is still missing is an error.
fn tool(program: &str) -> Result<PathBuf> {
    find(program, search_path().as_ref())
        .with_context(|| format!("{program} is still missing after its installation"))
}

fn install_missing(needed: &'static [Needed]) -> Result<()> {
    let missing = missing(needed, search_path().as_ref());
    let packages: Vec<&str> = missing.iter().map(|needed| needed.package).collect();
    apt::install(&packages).with_context(|| {
        let programs: Vec<&str> = missing.iter().map(|needed| needed.program).collect();
        format!("no {} on this machine", programs.join(", "))
    })
}

fn search_path() -> Option<OsString> {
    env::var_os("PATH")
}

/// The first executable file called `program` in the folders of the search path `path`.
fn find(program: &str, path: Option<&OsString>) -> Option<PathBuf> {
    env::split_paths(path?).map(|folder| folder.join(program)).find(|file| {
        fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

fn missing(needed: &'static [Needed], path: Option<&OsString>) -> Vec<&'static Needed> {
    needed.iter().filter(|needed| find(needed.program, path).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_found_with_what_to_install() {
        let folder = tempfile::tempdir().unwrap();
        for program in ["g++", "tar", "xz", "apt-get"] {
            let file = folder.path().join(program);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(folder.path().join("dpkg-deb"), "").unwrap(); // there, but not a program
        let path = folder.path().as_os_str().to_owned();
        let missing: Vec<(&str, &str)> =
            missing(NEEDED, Some(&path)).iter().map(|needed| (needed.program, needed.package)).collect();
        let jdk = "openjdk-17-jdk-headless | openjdk-21-jdk-headless";
        assert_eq!(missing, [("javac", jdk), ("dpkg-deb", "dpkg")]);
    }
}
