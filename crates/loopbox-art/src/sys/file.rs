//! A read-only view of a part of a file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Larger libraries are not read (libart has 4 to 16 MB, with symbols 150 MB).
const LIMIT: u64 = 512 << 20;

/// A private read-only mapping of a file from a page-aligned position to its end.
///
/// System libraries are never written in place (they are on read-only images, or are replaced by rename), so
/// the content of a view does not change.
pub(crate) struct FileView {
    start: *mut libc::c_void,
    len: usize,
}

// SAFETY: read-only memory, owned by this value until drop.
unsafe impl Send for FileView {}
// SAFETY: as above.
unsafe impl Sync for FileView {}

impl FileView {
    /// Maps `path` from `offset` on (a multiple of the page size) to the end of the file.
    pub(crate) fn open(path: &str, offset: u64) -> io::Result<FileView> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let len = size.checked_sub(offset).filter(|n| *n > 0 && *n <= LIMIT);
        let Some(len) = len.and_then(|n| usize::try_from(n).ok()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        };
        let offset =
            libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // SAFETY: a fresh private mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(FileView { start, len })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping holds `len` readable bytes until drop and is not written to (see the type).
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), self.len) }
    }
}

impl Drop for FileView {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `open`, not used after this.
        unsafe { libc::munmap(self.start, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_file_from_the_position() {
        let path = std::env::current_exe().unwrap();
        let path = path.to_str().unwrap();
        let whole = std::fs::read(path).unwrap();
        assert_eq!(FileView::open(path, 0).unwrap().bytes(), &whole[..]);
        assert_eq!(FileView::open(path, 65536).unwrap().bytes(), &whole[65536..]);
    }

    #[test]
    fn a_position_past_the_end_is_an_error() {
        let path = std::env::current_exe().unwrap();
        assert!(FileView::open(path.to_str().unwrap(), 1 << 40).is_err());
        assert!(FileView::open("/nonexistent", 0).is_err());
    }
}
