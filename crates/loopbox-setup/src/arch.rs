//! The machine types that programs are built for.

use std::str::FromStr;

use anyhow::{Result, bail};

/// A processor architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Arch {
    /// 64-bit x86, the machine's own architecture.
    #[default]
    X86_64,
    /// 64-bit Arm, run by an emulator.
    Arm64,
    /// 32-bit x86, which the machine's own processor runs.
    X86,
    /// 32-bit Arm, run by an emulator.
    Arm,
}

/// What Debian and the compilers call an architecture.
struct Names {
    own: &'static str,
    debian: &'static str,
    triplet: &'static str,
    clang: &'static str,
    rust: &'static str,
    loader: &'static str,
}

impl FromStr for Arch {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let Some(arch) = Self::ALL.into_iter().find(|arch| arch.name() == name) else {
            bail!("unknown architecture {name:?}; there are: {}", Self::ALL.map(Self::name).join(", "));
        };
        Ok(arch)
    }
}

impl Arch {
    /// All architectures, the machine's own first.
    pub const ALL: [Self; 4] = [Self::X86_64, Self::Arm64, Self::X86, Self::Arm];

    fn names(self) -> Names {
        match self {
            Self::X86_64 => Names {
                own: "x86_64",
                debian: "amd64",
                triplet: "x86_64-linux-gnu",
                clang: "x86_64-linux-gnu",
                rust: "x86_64-unknown-linux-gnu",
                loader: "ld-linux-x86-64.so.2",
            },
            Self::Arm64 => Names {
                own: "arm64",
                debian: "arm64",
                triplet: "aarch64-linux-gnu",
                clang: "aarch64-linux-gnu",
                rust: "aarch64-unknown-linux-gnu",
                loader: "ld-linux-aarch64.so.1",
            },
            Self::X86 => Names {
                own: "x86",
                debian: "i386",
                triplet: "i386-linux-gnu",
                clang: "i686-linux-gnu",
                rust: "i686-unknown-linux-gnu",
                loader: "ld-linux.so.2",
            },
            Self::Arm => Names {
                own: "arm",
                debian: "armhf",
                triplet: "arm-linux-gnueabihf",
                clang: "armv7-linux-gnueabihf",
                rust: "armv7-unknown-linux-gnueabihf",
                loader: "ld-linux-armhf.so.3",
            },
        }
    }

    /// The name in `testbed.toml`, in offset tables and in the names of testbeds.
    pub fn name(self) -> &'static str {
        self.names().own
    }

    /// Debian's name for it.
    pub fn debian(self) -> &'static str {
        self.names().debian
    }

    /// The folder of its libraries and headers on Debian.
    pub fn triplet(self) -> &'static str {
        self.names().triplet
    }

    /// clang's name for it.
    pub fn clang_triple(self) -> &'static str {
        self.names().clang
    }

    /// Rust's name for it.
    pub fn rust_triple(self) -> &'static str {
        self.names().rust
    }

    /// The dynamic loader that its programs ask for, without the folder.
    pub fn loader(self) -> &'static str {
        self.names().loader
    }

    /// Where Debian puts its libraries, below the root of a package.
    pub fn library_folders(self) -> [String; 3] {
        let triplet = self.triplet();
        [format!("usr/lib/{triplet}/android"), format!("usr/lib/{triplet}"), format!("lib/{triplet}")]
    }
}
