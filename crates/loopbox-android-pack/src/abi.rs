//! The machine types that the library is built for.

use std::str::FromStr;

use anyhow::{Result, bail};
use goblin::elf::header::{EM_386, EM_AARCH64, EM_ARM, EM_X86_64};

/// An Android ABI, with the names that Gradle and the `jni/` folder of an AAR use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Abi {
    /// 64-bit Arm: nearly every phone in use.
    Arm64,
    /// 32-bit Arm with VFPv3: old and small devices.
    Arm,
    /// 64-bit x86: emulators and Chromebooks.
    X86_64,
    /// 32-bit x86: old emulators.
    X86,
}

/// All of them, in the order used in the AAR.
pub const ALL: [Abi; 4] = [Abi::Arm64, Abi::Arm, Abi::X86_64, Abi::X86];

impl FromStr for Abi {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let Some(abi) = ALL.into_iter().find(|abi| abi.name() == name) else {
            bail!("there is no ABI {name}; there are: {}", ALL.map(Self::name).join(", "));
        };
        Ok(abi)
    }
}

impl Abi {
    /// The name in `jni/<abi>`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arm64 => "arm64-v8a",
            Self::Arm => "armeabi-v7a",
            Self::X86_64 => "x86_64",
            Self::X86 => "x86",
        }
    }

    /// Rust's name of the target.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64-linux-android",
            Self::Arm => "armv7-linux-androideabi",
            Self::X86_64 => "x86_64-linux-android",
            Self::X86 => "i686-linux-android",
        }
    }

    /// Prefix of the compiler drivers in an NDK, which differs from Rust's name for 32-bit Arm.
    pub(crate) fn ndk_prefix(self) -> &'static str {
        match self {
            Self::Arm => "armv7a-linux-androideabi",
            other => other.triple(),
        }
    }

    /// The linker's emulation (`-m`), needed where no object file implies it.
    pub fn emulation(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64linux",
            Self::Arm => "armelf_linux_eabi",
            Self::X86_64 => "elf_x86_64",
            Self::X86 => "elf_i386",
        }
    }

    /// `e_machine` of the ELF header.
    pub(crate) fn elf_machine(self) -> u16 {
        match self {
            Self::Arm64 => EM_AARCH64,
            Self::Arm => EM_ARM,
            Self::X86_64 => EM_X86_64,
            Self::X86 => EM_386,
        }
    }

    /// Whether addresses have 64 bits.
    pub fn is_64_bit(self) -> bool {
        matches!(self, Self::Arm64 | Self::X86_64)
    }
}

impl std::fmt::Display for Abi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_gradle_and_cargo() {
        let names = ALL.map(|abi| abi.to_string());
        assert_eq!(names, ["arm64-v8a", "armeabi-v7a", "x86_64", "x86"]);
        assert_eq!(names.map(|name| name.parse::<Abi>().unwrap()), ALL);
        assert!("mips".parse::<Abi>().unwrap_err().to_string().contains("arm64-v8a"));
        assert_eq!(Abi::Arm.ndk_prefix(), "armv7a-linux-androideabi");
    }
}
