//! ART's own trace of an ANR, packed.

/// ART's own trace of an ANR. The system kept it, and the app's next start wrote it into the file.
#[derive(Debug, Clone, Default, Eq)]
pub struct PackedTrace {
    /// The text, packed by gzip; empty without a trace.
    pub gzip: Vec<u8>,
    /// Where the trace is in the file that it was read from, in bytes from its start.
    pub offset: usize,
}

/// Compares only the traces, not where in the file they were.
impl PartialEq for PackedTrace {
    fn eq(&self, other: &Self) -> bool {
        self.gzip == other.gzip
    }
}
