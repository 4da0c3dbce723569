//! Naming native frames by the libraries in the folders given with `--symbols`.

use anyhow::{Context, Result};
use loopbox_report::{NativeModule, NativeStack, SourceFunction, harmless};
use loopbox_symbolize::{Binary, Detail, Function, SymbolFile, find};
use std::collections::HashMap;
use std::path::PathBuf;

/// A module whose frames have no names, or fewer than they could.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct MissingSymbols {
    /// Its path on the device.
    pub(crate) path: String,
    /// The build id to search for; empty when the module has no build id.
    pub(crate) build_id: String,
    /// Why names are missing: no usable file was found, or what the found file lacks.
    pub(crate) why: String,
}

impl std::fmt::Display for MissingSymbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.build_id.as_str() {
            "" => write!(f, "{}: {}", harmless(&self.path), harmless(&self.why)),
            id => write!(f, "{}, build id {id}: {}", harmless(&self.path), harmless(&self.why)),
        }
    }
}

/// Names the frames of a native stack. Returns the modules for which better symbols are missing.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn symbolize(stack: &mut NativeStack, folders: &[PathBuf]) -> Result<Vec<MissingSymbols>> {
    let wanted: Vec<&str> =
        stack.modules.iter().map(|module| module.build_id.as_str()).filter(|id| !id.is_empty()).collect();
    let files = find(folders, &wanted).context("cannot search for symbols")?;
    let mut binaries: HashMap<String, Binary> = HashMap::new();
    let mut missing = Vec::new();
    for module in &stack.modules {
        match open(module, files.get(&module.build_id)) {
            Ok((binary, note)) => {
                binaries.insert(module.build_id.clone(), binary);
                missing.extend(note.map(|why| MissingSymbols::new(module, why)));
            }
            Err(why) => missing.push(MissingSymbols::new(module, why)),
        }
    }
    stack.symbolize(|module, address| {
        let functions = binaries.get(&module.build_id).map(|binary| binary.functions(address));
        functions.unwrap_or_default().into_iter().map(source_function).collect()
    });
    Ok(missing)
}

/// The symbols of a module and what they lack; or why there are none.
fn open(module: &NativeModule, file: Option<&SymbolFile>) -> Result<(Binary, Option<String>), String> {
    if module.build_id.is_empty() {
        return Err("it has no build id to look for".to_owned());
    }
    let file = file.ok_or("no file has this build id")?;
    let binary = Binary::open(&file.path).map_err(|error| error.to_string())?;
    let note = (file.detail == Detail::Exports)
        .then(|| format!("{} is stripped: only names of exported functions", file.path.display()));
    Ok((binary, note))
}

impl MissingSymbols {
    fn new(module: &NativeModule, why: String) -> Self {
        Self { path: module.path.clone(), build_id: module.build_id.clone(), why }
    }
}

/// A function with harmless names: symbol files come from others, and a terminal must not interpret their
/// texts.
fn source_function(function: Function) -> SourceFunction {
    SourceFunction {
        name: harmless(&function.name),
        file: function.file.map(|file| harmless(&file)),
        line: function.line,
        inlined: function.inlined,
    }
}
