//! A file system of the test program (FUSE), whose files never answer. A thread that waits for a file's data
//! waits for a disk, as far as the kernel is concerned. A thread that calls `ioctl` on a file waits as in a
//! binder call.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Two files. `page` has one page whose data never comes. An `ioctl` on `driver` only ends when a signal
/// comes, like an `ioctl` of the binder driver.
#[derive(Debug)]
pub struct SlowFiles {
    folder: PathBuf,
}

/// Whether this process may mount a file system of FUSE.
pub fn can_mount() -> bool {
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    root && device().is_ok()
}

fn device() -> std::io::Result<File> {
    File::options().read(true).write(true).open("/dev/fuse")
}

impl SlowFiles {
    /// Creates the folder and mounts the files there, until the value is dropped.
    ///
    /// # Errors
    /// When it cannot be mounted.
    pub fn mount(folder: PathBuf) -> Result<Self> {
        std::fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let device = device().context("cannot open /dev/fuse")?;
        let mut mount = Command::new("mount");
        mount.args(["-i", "-t", "fuse", "-o", "fd=0,rootmode=40000,user_id=0,group_id=0", "loopbox-slow"]);
        mount.arg(&folder).stdin(Stdio::from(device.try_clone()?));
        ensure!(mount.status().context("cannot run mount")?.success(), "cannot mount {}", folder.display());
        let files = Self { folder };
        std::thread::spawn(move || serve(device));
        Ok(files)
    }

    /// The folder in which the files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for SlowFiles {
    fn drop(&mut self) {
        // Also while a process still has one of them open.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}

/// The requests of the kernel's `fuse.h` that are answered here.
mod op {
    pub(super) const LOOKUP: u32 = 1;
    pub(super) const FORGET: u32 = 2;
    pub(super) const GETATTR: u32 = 3;
    pub(super) const OPEN: u32 = 14;
    pub(super) const READ: u32 = 15;
    pub(super) const RELEASE: u32 = 18;
    pub(super) const FLUSH: u32 = 25;
    pub(super) const INIT: u32 = 26;
    pub(super) const INTERRUPT: u32 = 36;
    pub(super) const IOCTL: u32 = 39;
    pub(super) const BATCH_FORGET: u32 = 42;
}

const EINTR: i32 = -4;
const ENOENT: i32 = -2;
const ENOSYS: i32 = -38;
const HEADER: usize = 40;
const PAGE: u64 = 4096;
/// The size of the buffer for a request in bytes. It is more than the kernel requires: a header and the
/// longest write.
const BUFFER: usize = 64 << 10;

/// Answers until the file system is unmounted.
fn serve(mut device: File) {
    let mut buffer = vec![0; BUFFER];
    let mut calls = Vec::new();
    while let Ok(length) = device.read(&mut buffer) {
        let request = &buffer[..length];
        let unique = word(request, 8);
        let answer = match (word(request, 4) as u32, word(request, 16)) {
            (op::INIT, _) => Ok(init()),
            (op::LOOKUP, _) => lookup(&request[HEADER..]),
            (op::GETATTR, node) => Ok([&[0; 16], attributes(node).as_slice()].concat()),
            (op::OPEN, _) => Ok(vec![0; 16]),
            (op::RELEASE | op::FLUSH, _) => Ok(Vec::new()),
            (op::READ | op::FORGET | op::BATCH_FORGET, _) => continue,
            (op::IOCTL, _) => {
                calls.push(unique);
                continue;
            }
            (op::INTERRUPT, _) => {
                let interrupted = word(request, HEADER);
                if calls.contains(&interrupted) {
                    calls.retain(|call| *call != interrupted);
                    reply(&mut device, interrupted, Err(EINTR));
                }
                continue;
            }
            _ => Err(ENOSYS),
        };
        reply(&mut device, unique, answer);
    }
}

fn reply(device: &mut File, unique: u64, answer: Result<Vec<u8>, i32>) {
    let (error, body) = answer.map_or_else(|error| (error, Vec::new()), |body| (0, body));
    let length = (16 + body.len()) as u32;
    let head = [length.to_ne_bytes(), error.to_ne_bytes()].concat();
    // The process that asked may be gone.
    let _ = device.write_all(&[head.as_slice(), &unique.to_ne_bytes(), &body].concat());
}

/// Eight bytes of a request as a number; bytes after its end count as 0.
fn word(request: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    for (byte, from) in bytes.iter_mut().zip(request.iter().skip(at)) {
        *byte = *from;
    }
    u64::from_ne_bytes(bytes)
}

fn init() -> Vec<u8> {
    const ASYNC_READ: u32 = 1;
    const READ_AHEAD: u32 = 64 << 10;
    // Version 7.31. With asynchronous read-ahead a thread waits for the page, as with a disk's, and not for
    // this program, which not even SIGKILL would end. One page is the longest write.
    let mut answer = [7_u32, 31, READ_AHEAD, ASYNC_READ, 0, PAGE as u32].map(u32::to_ne_bytes).concat();
    answer.resize(64, 0);
    answer
}

/// The answer to a lookup of this name in the folder, which is node 1.
fn lookup(name: &[u8]) -> Result<Vec<u8>, i32> {
    let node: u64 = match name {
        b"page\0" => 2,
        b"driver\0" => 3,
        _ => return Err(ENOENT),
    };
    Ok([&node.to_ne_bytes(), [0; 32].as_slice(), &attributes(node)].concat())
}

fn attributes(node: u64) -> Vec<u8> {
    let (kind, size): (u32, u64) = if node == 1 { (0o040_755, 0) } else { (0o100_644, PAGE) };
    let mut attributes = [node, size, 1].map(u64::to_ne_bytes).concat();
    attributes.resize(60, 0);
    attributes.extend([kind, 1].map(u32::to_ne_bytes).concat());
    attributes.resize(88, 0);
    attributes
}
