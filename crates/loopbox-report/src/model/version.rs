//! Versions of apps.

/// The version code, 50201 of `5.2.1 (50201)`; `None` where there is none. Versions are sorted by it, because
/// as text `5.10` comes before `5.9`.
pub fn version_code(app_version: &str) -> Option<i64> {
    app_version.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok()
}
