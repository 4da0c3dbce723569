//! The machine types that programs are built for.

use std::str::FromStr;

use anyhow::{Result, bail};

/// A processor architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Arch {
    /// The machine's own.
    #[default]
    X86_64,
    /// 64-bit Arm, run by an emulator.
    Arm64,
}

impl FromStr for Arch {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let all = [Self::X86_64, Self::Arm64];
        let Some(arch) = all.into_iter().find(|arch| arch.name() == name) else {
            bail!("unknown architecture {name:?}; there are: {}", all.map(Self::name).join(", "));
        };
        Ok(arch)
    }
}

impl Arch {
    /// The name in `testbed.toml`, in offset tables and in the names of testbeds.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }

    /// Debian's name of it.
    pub fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The folder of its libraries and headers on Debian; also what clang calls it.
    pub fn triplet(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu",
            Self::Arm64 => "aarch64-linux-gnu",
        }
    }

    /// What Rust calls it.
    pub fn rust_triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The dynamic loader that its programs ask for, without the folder.
    pub fn loader(self) -> &'static str {
        match self {
            Self::X86_64 => "ld-linux-x86-64.so.2",
            Self::Arm64 => "ld-linux-aarch64.so.1",
        }
    }

    /// Where Debian puts its libraries, below the root of a package.
    pub fn library_folders(self) -> [String; 3] {
        let triplet = self.triplet();
        [format!("usr/lib/{triplet}/android"), format!("usr/lib/{triplet}"), format!("lib/{triplet}")]
    }
}
