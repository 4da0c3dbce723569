//! Where a command writes its result: to a file, completely or not at all, or to stdout.

use crate::input::STDIO;
use crate::output;
use anyhow::{Context, Result, bail};
use same_file::is_same_file;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use tempfile::TempPath;

/// The exit code that a shell gives a program that Ctrl-C ended: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// Where a command writes its result. It is never one of the files that the command reads.
#[derive(Debug)]
pub(crate) struct Destination<'a> {
    file: Option<&'a Path>,
}

impl<'a> Destination<'a> {
    /// A file, or stdout.
    ///
    /// # Errors
    /// When the file is one of `inputs`, or one that a search of a folder among them would find.
    pub(crate) fn new(file: Option<&'a Path>, inputs: &[PathBuf]) -> Result<Self> {
        let Some(path) = file.filter(|path| *path != Path::new(STDIO)) else {
            return Ok(Self { file: None });
        };
        // Only files are compared: comparing opens them, and a pipe would have to be waited for.
        let is_same = |input: &Path| input.is_file() && is_same_file(input, path).unwrap_or(false);
        if path.is_file() && inputs.iter().any(|input| is_same(input) || is_in(path, input)) {
            bail!(
                "{}: this would overwrite a report that is to be read: give the output another name",
                path.display()
            );
        }
        Ok(Self { file })
    }

    /// Writes all of it at once.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        match self.file {
            None => output::write_plain(bytes),
            Some(path) => write_file(path, |mut file| Ok(std::io::Write::write_all(&mut file, bytes)?)),
        }
    }
}

/// Whether a search of a folder for reports would find the file: it exists below the folder and ends in .lbx.
fn is_in(file: &Path, folder: &Path) -> bool {
    let has = |wanted| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted));
    let (Ok(file), Ok(folder)) = (file.canonicalize(), folder.canonicalize()) else { return false };
    has("lbx") && folder.is_dir() && file.starts_with(folder)
}

/// Writes a file so that it is either complete or unchanged.
pub(crate) fn write_file<T>(path: &Path, write: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let written = || -> Result<T> {
        // A link stays one, and what is no file (a device, a pipe) is written to.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if path.exists() && !path.is_file() {
            return write(&File::options().write(true).open(path)?);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // As for any new file, the umask decides who may read it; temporary files are private by default.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (part, part_path) = builder.tempfile_in(folder)?.into_parts();
        let part_path = Unfinished::new(part_path);
        let result = write(&part)?;
        part_path.finish(&path)?;
        Ok(result)
    };
    written().with_context(|| path.display().to_string())
}

/// The file being written, which Ctrl-C deletes.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file under a temporary name.
struct Unfinished(TempPath);

impl Unfinished {
    fn new(path: TempPath) -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // Without a handler the file stays, and nothing else is different.
            let _ = ctrlc::set_handler(|| {
                if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    let _ = std::fs::remove_file(path);
                }
                std::process::exit(INTERRUPTED);
            });
        });
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_path_buf());
        Self(path)
    }

    /// Gives the file its name.
    fn finish(self, path: &Path) -> Result<()> {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.persist(path)?;
        *unfinished = None;
        Ok(())
    }
}
