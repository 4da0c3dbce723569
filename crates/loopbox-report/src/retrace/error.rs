//! Why a mapping cannot be used.

/// Why a file is not a mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The file has no bytes.
    #[error("the mapping is empty")]
    Empty,
    /// No line of the file names a class.
    #[error("not a ProGuard or R8 mapping: it has no line like `original.Name -> obfuscated:`")]
    NotAMapping,
    /// The file is larger than can be addressed.
    #[error("larger than a mapping can be (4 GiB)")]
    TooLarge,
}

/// Why a mapping does not match a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingMismatch {
    /// Report and mapping both name their build, and the builds differ.
    #[error("the mapping is of another build: its id is {mapping}, and that of the report is {report}")]
    OtherBuild {
        /// The mapping's id.
        mapping: String,
        /// The id in the report's frames.
        report: String,
    },
    /// No app class of the report is in the mapping.
    #[error(
        "none of the report's {classes} app classes is in the mapping: it is of another app or build, \
         or the report is not obfuscated"
    )]
    NoClass {
        /// The number of app classes in the report.
        classes: usize,
    },
    /// Most methods are not in the mapping, though their classes are.
    #[error(
        "only {found} of {looked_up} obfuscated methods are in the mapping, though their classes are: \
         it is of another build"
    )]
    FewMethods {
        /// The number of methods that were found.
        found: usize,
        /// The number of methods that were looked up.
        looked_up: usize,
    },
    /// The part of the mapping that concerns the report is larger than is possible for a real report.
    #[error("more than {max_mib} MiB of the mapping are about the report's methods: it is damaged")]
    TooMuch {
        /// The size limit.
        max_mib: usize,
    },
    /// The report names no class of the app.
    #[error("the report names no class of the app; there is nothing to retrace")]
    NothingToDo,
}
