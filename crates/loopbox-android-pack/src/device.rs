//! A folder with a device's files: its `/system` and `/apex`, as `adb pull` copies them or an image has them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use goblin::elf::Elf;

use crate::abi::{self, Abi};

/// The number of links that are followed: a phone's `/system/lib64/libc.so` is a link into `/apex`.
const MAX_LINKS: usize = 8;

/// A folder laid out like a device's root.
#[derive(Debug)]
pub struct Device {
    root: PathBuf,
}

impl Device {
    /// Returns `folder` if it has a device's files, otherwise each folder in it that has a device's files.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn below(folder: &Path) -> Result<Vec<Self>> {
        if folder.join("system").is_dir() {
            return Ok(vec![Self { root: folder.to_owned() }]);
        }
        let below = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let below = below.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path());
        let mut roots: Vec<PathBuf> = below.filter(|path| path.join("system").is_dir()).collect();
        roots.sort();
        Ok(roots.into_iter().map(|root| Self { root }).collect())
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// The ABIs for which it has a C library.
    ///
    /// # Errors
    /// When one cannot be read, or is no ELF file.
    pub fn abis(&self) -> Result<Vec<Abi>> {
        let mut abis = Vec::new();
        for abi in abi::ALL {
            let Some(libc) = self.library("libc.so", abi) else { continue };
            let bytes = fs::read(&libc).with_context(|| format!("cannot read {}", libc.display()))?;
            let elf = Elf::parse(&bytes).with_context(|| format!("{} is no ELF file", libc.display()))?;
            if elf.header.e_machine == abi.elf_machine() && elf.is_64 == abi.is_64_bit() {
                abis.push(abi);
            }
        }
        Ok(abis)
    }

    /// The path of a library, where the linker of a device would find it; `None` when it is missing.
    pub fn library(&self, soname: &str, abi: Abi) -> Option<PathBuf> {
        let lib = if abi.is_64_bit() { "lib64" } else { "lib" };
        let system = ["system", "system/system"].map(|system| format!("{system}/{lib}/{soname}"));
        let apex = format!("apex/com.android.runtime/{lib}/bionic/{soname}");
        system.into_iter().chain([apex]).find_map(|path| self.inside(Path::new(&path)))
    }

    /// The path of the linker that starts the device's programs; `None` when it is missing.
    pub fn linker(&self, abi: Abi) -> Option<PathBuf> {
        let name = if abi.is_64_bit() { "linker64" } else { "linker" };
        let folders = ["system/bin", "system/system/bin", "apex/com.android.runtime/bin"];
        folders.into_iter().find_map(|folder| self.inside(&Path::new(folder).join(name)))
    }

    /// The value of `ro.build.version.sdk` in the `build.prop` of the system image; `None` when there is
    /// none.
    pub fn level(&self) -> Option<u32> {
        ["system/build.prop", "system/system/build.prop"].iter().find_map(|file| {
            let text = fs::read_to_string(self.inside(Path::new(file))?).ok()?;
            text.lines().find_map(|line| line.strip_prefix("ro.build.version.sdk=")?.trim().parse().ok())
        })
    }

    /// A file of the device. Links are followed within its root.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let here = self.root.join(plain(&path));
            match fs::read_link(&here) {
                Ok(target) => path = plain(&path).parent()?.join(target),
                Err(_) => return here.is_file().then_some(here),
            }
        }
        None
    }
}

/// A path relative to the device's root: `/apex/./x/../y` is `apex/y`. Nothing above the root is reachable.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::RootDir => plain.clear(),
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}
