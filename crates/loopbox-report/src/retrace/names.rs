//! The names in a report for which a mapping may have other names.

use super::line::Part;
use super::words::{messages, pending_line};
use crate::load::limits;
use crate::load::system_trace::unpack;
use loopbox_format::model::Report;
use std::collections::{BTreeMap, BTreeSet};

/// The names of classes in a report. Each class has the names of its methods in the report.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    pub(super) fn of(report: &mut Report) -> Self {
        let mut names = Self::default();
        for method in &report.symbols.methods {
            names.method(&method.class, &method.name);
            names.descriptor(&method.signature);
        }
        messages(report, |message| {
            names.class(&message.target);
            names.class(&message.callback);
        });
        for wait in report.locks.waits.iter().take(limits::LOCK_WAITS) {
            names.class(&wait.class);
            names.class(&wait.of_class);
        }
        for line in report.pending.lines.iter().take(limits::PENDING_LINES) {
            pending_line(line, |name| {
                names.class(name);
                None
            });
        }
        names.text(&unpack(&report.system_trace).0);
        names
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn has(&self, class: &str, method: &str) -> bool {
        self.0.get(class).is_some_and(|methods| methods.contains(method))
    }

    fn class(&mut self, class: &str) -> Option<&mut BTreeSet<String>> {
        if class.is_empty() {
            return None;
        }
        if !self.0.contains_key(class) {
            self.0.insert(class.to_owned(), BTreeSet::new());
        }
        self.0.get_mut(class)
    }

    fn method(&mut self, class: &str, method: &str) {
        if let Some(methods) = self.class(class)
            && !methods.contains(method)
        {
            methods.insert(method.to_owned());
        }
    }

    /// Adds the classes of a descriptor: `(La/b;I)V`.
    fn descriptor(&mut self, descriptor: &str) {
        let mut rest = descriptor;
        while let Some((_, from)) = rest.split_once('L') {
            let Some((class, after)) = from.split_once(';') else { break };
            self.class(&class.replace('/', "."));
            rest = after;
        }
    }

    /// Adds the names in the lines of a text: ART's own trace, or any other text.
    pub(super) fn text(&mut self, text: &str) {
        for (class, method) in text.lines().filter_map(|line| Part::read(line)?.names()) {
            match method {
                Some(method) => self.method(class, method),
                None => {
                    self.class(class);
                }
            }
        }
    }
}
