//! Versions of apps.

/// The number in `5.2.1 (50201)`. As text `5.10` comes before `5.9`.
pub fn version_code(app_version: &str) -> Option<i64> {
    app_version.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok()
}
