//! The machine types that beds are made for.

use clap::ValueEnum;

/// A processor architecture, as `cargo xtask bed --arch` and `bed.toml` name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum)]
pub enum Arch {
    /// The machine's own.
    #[default]
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit Arm, run by an emulator.
    #[value(name = "arm64")]
    Arm64,
}

impl Arch {
    /// The one that a manifest names.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::X86_64, Self::Arm64].into_iter().find(|arch| arch.name() == name)
    }

    /// The name in `bed.toml`, in offset tables and in the names of beds.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }

    /// Debian's name of it.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The folder of its libraries and headers on Debian; also what clang calls it.
    pub(crate) fn triplet(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu",
            Self::Arm64 => "aarch64-linux-gnu",
        }
    }

    /// What Rust calls it.
    pub(crate) fn rust_triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The dynamic loader that its programs ask for, without the folder.
    pub(crate) fn loader(self) -> &'static str {
        match self {
            Self::X86_64 => "ld-linux-x86-64.so.2",
            Self::Arm64 => "ld-linux-aarch64.so.1",
        }
    }

    /// Where Debian puts its libraries, below the root of a package.
    pub(crate) fn library_folders(self) -> [String; 3] {
        let triplet = self.triplet();
        [format!("usr/lib/{triplet}/android"), format!("usr/lib/{triplet}"), format!("lib/{triplet}")]
    }
}
