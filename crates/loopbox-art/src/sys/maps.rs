//! `/proc/self/maps`: which file is mapped where.

/// One line of `/proc/self/maps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First address.
    pub(crate) start: usize,
    /// First address after it.
    pub(crate) end: usize,
    /// Position in the file, in bytes.
    pub(crate) offset: u64,
    /// Readable.
    pub(crate) read: bool,
    /// Executable.
    pub(crate) execute: bool,
    /// Inode of the file, 0 for anonymous memory.
    pub(crate) inode: u64,
    /// Path as the kernel prints it, without a trailing ` (deleted)`; empty for anonymous memory.
    pub(crate) path: String,
    /// The file was unlinked or replaced since it was mapped.
    pub(crate) deleted: bool,
}

impl Mapping {
    /// Parses one line: `start-end perms offset dev inode   path`.
    pub(crate) fn parse(line: &str) -> Option<Mapping> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (perms, rest) = rest.trim_ascii_start().split_once(' ')?;
        let (offset, rest) = rest.trim_ascii_start().split_once(' ')?;
        let (_device, rest) = rest.trim_ascii_start().split_once(' ')?;
        let rest = rest.trim_ascii_start();
        let (inode, path) = rest.split_once(' ').unwrap_or((rest, ""));
        let path = path.trim_ascii_start();
        let perms = perms.as_bytes();
        // One type for all: reading numbers is 200 bytes of code for each.
        let number = |digits: &str, radix: u32| u64::from_str_radix(digits, radix).ok();
        let start = usize::try_from(number(start, 16)?).ok()?;
        let end = usize::try_from(number(end, 16)?).ok()?;
        if end < start {
            return None;
        }
        let kept = path.strip_suffix(" (deleted)");
        Some(Mapping {
            start,
            end,
            offset: number(offset, 16)?,
            read: perms.first() == Some(&b'r'),
            execute: perms.get(2) == Some(&b'x'),
            inode: number(inode, 10)?,
            path: kept.unwrap_or(path).to_owned(),
            deleted: kept.is_some(),
        })
    }

    /// Whether an address lies within.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Whether the mapping is of a file.
    pub(crate) fn is_file(&self) -> bool {
        self.inode != 0 && self.path.starts_with('/')
    }
}

/// Parses the whole table. Lines that do not parse are left out, because a kernel may add new forms.
pub(crate) fn parse(table: &str) -> Vec<Mapping> {
    table.lines().filter_map(Mapping::parse).collect()
}

/// The table of this process.
pub(crate) fn of_self() -> std::io::Result<Vec<Mapping>> {
    Ok(parse(&table_of_self()?))
}

/// The table of this process as the kernel prints it.
pub(crate) fn table_of_self() -> std::io::Result<String> {
    // Not read_to_string: a path may hold any bytes.
    let bytes = std::fs::read("/proc/self/maps")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_forms_of_a_device() {
        let table = "\
70a3c00000-70a3d8f000 r--p 00000000 07:28 42                             /apex/com.android.art/lib64/libart.so
70a3d8f000-70a4398000 r-xp 0018f000 07:28 42                             /apex/com.android.art/lib64/libart.so
7fc0000-7fc1000 rw-p 00000000 00:00 0                                    [stack]
12c00000-22c00000 rw-p 00000000 00:00 0                                  [anon:dalvik-main space (region space)]
7000-8000 ---p 00000000 00:00 0
70000-80000 r--p 00345000 fd:06 7                                        /data/app/~~a b==/base.apk
90000-a0000 r-xp 00001000 fd:06 9                                        /data/old.so (deleted)
";
        let maps = parse(table);
        assert_eq!(maps.len(), 7);
        assert_eq!(maps[1].offset, 0x18_f000);
        assert!(maps[1].execute && maps[1].read && !maps[0].execute);
        assert!(maps[0].is_file() && !maps[2].is_file() && !maps[4].is_file());
        assert_eq!(maps[4].path, "");
        assert!(!maps[4].read);
        assert_eq!(maps[5].path, "/data/app/~~a b==/base.apk");
        assert_eq!(maps[6].path, "/data/old.so");
        assert!(maps[6].deleted);
        assert!(maps[0].contains(0x70_a3c0_0000) && !maps[0].contains(0x70_a3d8_f000));
    }

    #[test]
    fn damaged_lines_are_left_out() {
        assert_eq!(parse("nonsense\n-\n1-2\n2-1 r--p 0 0:0 0\nzz-1 r--p 0 0:0 0 /x"), vec![]);
    }

    #[test]
    fn finds_this_very_code() {
        let here = finds_this_very_code as *const () as usize;
        let maps = of_self().unwrap();
        let mine = maps.iter().find(|m| m.contains(here)).unwrap();
        assert!(mine.execute && mine.is_file());
    }
}
