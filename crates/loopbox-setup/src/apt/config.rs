//! The configuration of an apt with a separate state.

use std::path::Path;

/// The configuration that apt reads after the machine's own, so that proxies still apply. It replaces
/// everything else: hooks do not run, installed packages are ignored, and other architectures are disabled.
pub(super) fn configuration(state: &Path, arch: &str) -> String {
    let state = state.display();
    format!(
        "#clear APT::Update;\n\
         #clear DPkg::Post-Invoke;\n\
         Dir::Etc::sourcelist \"{state}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         Dir::Etc::preferences \"/dev/null\";\n\
         Dir::Etc::preferencesparts \"-\";\n\
         Dir::State \"{state}\";\n\
         Dir::State::lists \"{state}/lists\";\n\
         Dir::State::status \"{state}/status\";\n\
         Dir::Log \"{state}\";\n\
         Dir::Cache \"{state}/cache\";\n\
         Dir::Cache::pkgcache \"pkgcache.bin\";\n\
         Dir::Cache::srcpkgcache \"srcpkgcache.bin\";\n\
         APT::Architecture \"{arch}\";\n\
         APT::Architectures {{ \"{arch}\"; }};\n\
         APT::Sandbox::User \"root\";\n\
         APT::Update::Error-Mode \"any\";\n\
         Acquire::ForceHash \"SHA256\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
         Acquire::Retries \"2\";\n\
         Acquire::http::Timeout \"20\";\n\
         Acquire::https::Timeout \"20\";\n"
    )
}
