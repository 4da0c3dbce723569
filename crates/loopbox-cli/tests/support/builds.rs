//! Builds of an app: reports of its versions, and R8's names in them.

use loopbox_format::model::{Location, MainState, Report};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The package whose names R8 changes.
pub(crate) const APP: &str = "com.example.";

/// All texts of a report that can contain a class of the app.
fn class_names(report: &mut Report) -> Vec<&mut String> {
    let mut names: Vec<&mut String> =
        report.symbols.methods.iter_mut().map(|method| &mut method.class).collect();
    names.extend(report.locks.waits.iter_mut().map(|wait| &mut wait.class));
    if let MainState::Running(running) = &mut report.main {
        names.extend(running.message.iter_mut().map(|message| &mut message.callback));
    }
    names
}

/// The report as this version of the app would write it: line numbers, and the numbers of anonymous classes,
/// differ between versions.
pub(crate) fn of_version(report: &Report, version: u32) -> Report {
    let mut report = report.clone();
    report.meta.process.app_version = format!("5.{version}.0 (50{version}00)");
    class_names(&mut report).into_iter().for_each(|name| *name = name.replace("$1", &format!("${version}")));
    for location in &mut report.symbols.locations {
        if let Location::Frame { line: Some(line), .. } = location {
            *line += 100 * version;
        }
    }
    report
}

/// R8's names in one build: of classes, and of methods by class.
#[derive(Default)]
pub(crate) struct Build {
    version: u32,
    /// Classes that keep their names.
    kept: &'static [&'static str],
    classes: BTreeMap<String, (String, BTreeMap<String, String>)>,
}

impl Build {
    pub(crate) fn new(version: u32, kept: &'static [&'static str]) -> Self {
        Self { version, kept, ..Self::default() }
    }

    fn renames(&self, class: &str) -> bool {
        class.starts_with(APP) && !self.kept.iter().any(|kept| class.contains(kept))
    }

    fn id(&self) -> String {
        format!("{:07x}", 0xAB_CDE0 + self.version).repeat(9)
    }

    /// A name that differs in each build.
    fn name(&self, nth: usize) -> String {
        let letter = |at: usize| char::from(b'a' + (at % 26) as u8);
        format!("{}{}", letter(nth * 7 + self.version as usize), letter(nth / 26 + self.version as usize))
    }

    fn class(&mut self, class: &str) -> String {
        let name = format!("{}.{}", self.name(5), self.name(self.classes.len()));
        self.classes.entry(class.to_owned()).or_insert((name, BTreeMap::new())).0.clone()
    }

    pub(crate) fn obfuscate(&mut self, report: &mut Report) {
        let source_file = format!("r8-map-id-{}", self.id());
        for method in &mut report.symbols.methods {
            if !self.renames(&method.class) {
                continue;
            }
            self.class(&method.class);
            let name = self.name(self.classes[&method.class].1.len());
            // What the platform calls keeps its name.
            let kept = ["run", "queueIdle", "dispatchTouchEvent"].contains(&method.name.as_str());
            let name = if kept { method.name.clone() } else { name };
            let methods = &mut self.classes.get_mut(&method.class).expect("it is there").1;
            method.name = methods.entry(method.name.clone()).or_insert(name).clone();
            method.source_file.clone_from(&source_file);
        }
        for name in class_names(report) {
            if self.renames(name) {
                *name = self.class(name);
            }
        }
    }

    pub(crate) fn mapping(&self) -> String {
        let id = self.id();
        let mut text = format!(
            "# compiler: R8\n# min_api: 21\n# pg_map_id: {}\n# pg_map_hash: SHA-256 {id}\n",
            &id[..7]
        );
        for (class, (short, methods)) in &self.classes {
            let _ = writeln!(text, "{class} -> {short}:");
            for (method, short) in methods {
                let _ = writeln!(text, "    1:9999:void {method}():1:9999 -> {short}");
            }
        }
        text
    }
}
