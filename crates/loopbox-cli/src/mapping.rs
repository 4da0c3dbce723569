//! The mappings given with `--mapping`.

use crate::args::Mappings;
use anyhow::{Context, Result};
use loopbox_format::model::Report;
use loopbox_report::retrace::{Mapping, Misfit};

/// Mappings of one or more builds; each report takes the one that fits it.
#[derive(Debug)]
pub(crate) struct Mapper {
    mappings: Vec<Mapping>,
}

impl Mapper {
    /// Reads the files.
    pub(crate) fn load(args: &Mappings) -> Result<Self> {
        let read = |path: &std::path::PathBuf| {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            Mapping::parse(&bytes).with_context(|| path.display().to_string())
        };
        Ok(Self { mappings: args.files.iter().map(read).collect::<Result<_>>()? })
    }

    /// Puts the names of the source into a report; the report is unchanged when no mapping fits, and when there is
    /// none.
    pub(crate) fn apply(&self, report: &mut Report) -> Result<(), String> {
        if let Some(own) = self.mappings.iter().find(|mapping| mapping.is_of(report) == Some(true)) {
            return harmless(own.retrace(report));
        }
        let mut misfit = None;
        for mapping in &self.mappings {
            match harmless(mapping.retrace(report)) {
                Ok(()) => return Ok(()),
                Err(why) => misfit = Some(why),
            }
        }
        match misfit {
            None => Ok(()),
            Some(why) if self.mappings.len() == 1 => Err(why),
            Some(_) => Err(format!("none of the {} mappings is of its build", self.mappings.len())),
        }
    }
}

/// A report without any name of the app has nothing to put back, which is no fault of the mapping.
fn harmless(result: Result<(), Misfit>) -> Result<(), String> {
    match result {
        Ok(()) | Err(Misfit::NothingToDo) => Ok(()),
        Err(why) => Err(why.to_string()),
    }
}
