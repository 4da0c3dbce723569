//! Small files of the app in addition to the ring: reports, and data that one launch leaves for the next.

pub(crate) mod blown_fuse;
pub(crate) mod directory;
pub(crate) mod file_age;
pub(crate) mod known_symbols;
pub(crate) mod report_file;
