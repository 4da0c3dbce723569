//! Compares a library file with the tables of `offsets/`: its symbols, and the constants in its code.

mod code;

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use loopbox_elf::{Image, Symbol, hex};

use loopbox_art_tables::{Generation, Row, Suspend};
use loopbox_setup::workspace::root;

use code::displacements;

const SUSPEND: [(&str, Suspend); 3] = [
    ("_ZN3art10ThreadList23SuspendThreadByThreadIdEjbPb", Suspend::BoolBool),
    ("_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonEPb", Suspend::ReasonBool),
    ("_ZN3art10ThreadList23SuspendThreadByThreadIdEjNS_13SuspendReasonEi", Suspend::ReasonAttempt),
];
const OTHERS: [&str; 6] = [
    "_ZN3art10ThreadList6ResumeEPNS_6ThreadEb",
    "_ZN3art10ThreadList6ResumeEPNS_6ThreadENS_13SuspendReasonE",
    "_ZN3art12StackVisitorC2EPNS_6ThreadEPNS_7ContextENS0_13StackWalkKindEb",
    "_ZN3art12StackVisitor9WalkStackILNS0_16CountTransitionsE0EEEvb",
    "_ZNK3art12StackVisitor9GetMethodEv",
    "_ZNK3art12StackVisitor8GetDexPcEb",
];
const PRETTY_GNU: &str = "_ZN3art9ArtMethod12PrettyMethodB5cxx11Eb";

/// The name of a function whose code loads a member of an ART class. `SIGQUIT` and `FIND_THREAD` are the
/// names of two more such functions. A function has two names here if its mangled name differs between GNU's
/// and LLVM's C++ libraries; a library has one of them.
const CREATED_VMS: &[&str] = &["JNI_GetCreatedJavaVMs"];
const SIGQUIT: &[&str] = &[
    "_ZN3art7Runtime14DumpForSigQuitERSo",
    "_ZN3art7Runtime14DumpForSigQuitERNSt3__113basic_ostreamIcNS1_11char_traitsIcEEEE",
];
const FIND_THREAD: &[&str] = &["_ZN3art10ThreadList20FindThreadByThreadIdEj"];

/// What was found in a library.
#[derive(Debug)]
pub struct Report {
    arch: &'static str,
    build_id: String,
    symbols: Vec<(String, String)>,
    rows: Vec<Verdict>,
}

/// How the library compares to one row.
#[derive(Debug)]
struct Verdict {
    id: String,
    label: String,
    agrees: Vec<&'static str>,
    differs: Vec<&'static str>,
    unknown: Vec<&'static str>,
}

impl Report {
    /// The build id in hex; empty when it has none.
    #[must_use]
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// Whether at least one row of the tables fits: nothing in the library contradicts that row.
    #[must_use]
    pub fn fits(&self) -> bool {
        !self.matches().is_empty()
    }

    /// Ids of the rows that nothing in the library contradicts.
    #[must_use]
    pub fn matches(&self) -> Vec<&str> {
        self.rows.iter().filter(|v| v.differs.is_empty()).map(|v| v.id.as_str()).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "architecture {}, build id {}", self.arch, self.build_id)?;
        for (name, place) in &self.symbols {
            writeln!(f, "  {place:16} {name}")?;
        }
        for row in &self.rows {
            let word = if row.differs.is_empty() { "fits" } else { "differs" };
            write!(f, "row {:20} {word:8} ({})", row.id, row.label)?;
            for (what, names) in
                [("agrees", &row.agrees), ("differs", &row.differs), ("not seen", &row.unknown)]
            {
                if !names.is_empty() {
                    write!(f, "; {what}: {}", names.join(", "))?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Reads a library and compares it with every row of `offsets/` for its architecture.
///
/// # Errors
/// When it cannot be read, or has nothing to do with ART.
pub fn compare(path: &Path) -> Result<Report> {
    let tables = loopbox_art_tables::load(&root().join("offsets")).map_err(|error| anyhow!(error))?;
    library(path, &tables)
}

/// Does what [`compare`] does, with tables that have already been read.
///
/// # Errors
/// When the library cannot be read, is no ELF file for an architecture of Android, or has none of ART's
/// symbols.
pub fn library(path: &Path, generations: &[Generation]) -> Result<Report> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let image = Image::parse(&bytes).with_context(|| format!("{} is no ELF file", path.display()))?;
    let arch = match image.machine() {
        183 => "arm64",
        40 => "arm",
        62 => "x86_64",
        3 => "x86",
        other => anyhow::bail!("ELF machine {other} is none that Android has"),
    };
    let names: Vec<&str> = SUSPEND.iter().map(|(n, _)| *n).chain(OTHERS).chain([PRETTY_GNU]).collect();
    let defined = image.find_all(&names);
    let imported = image.find_imported(&names);
    let place = |at: usize| match defined[at] {
        Some(symbol) => symbol.source.name().to_owned(),
        None if imported[at] => "imported".to_owned(),
        None => "-".to_owned(),
    };
    let symbols = names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), place(at))).collect();
    let known = |at: usize| defined[at].is_some() || imported[at];
    ensure!((0..names.len()).any(known), "{} has nothing to do with ART", path.display());

    let suspend: Vec<Suspend> =
        SUSPEND.iter().enumerate().filter(|(at, _)| known(*at)).map(|(_, s)| s.1).collect();
    let facts = Facts {
        suspend,
        resume_by_reason: known(4).then_some(true).or(known(3).then_some(false)),
        host_build: defined.last().is_some_and(Option::is_some),
        created_vms: code_of(&image, arch, CREATED_VMS),
        sigquit: code_of(&image, arch, SIGQUIT),
        find_thread: code_of(&image, arch, FIND_THREAD),
    };
    let rows = generations.iter().flat_map(|g| &g.rows).filter(|r| r.arch == arch);
    let build_id = image.build_id().map(hex).unwrap_or_default();
    Ok(Report { arch, build_id, symbols, rows: rows.map(|row| facts.verdict(row)).collect() })
}

type Loads = Option<std::collections::BTreeSet<u32>>;

struct Facts {
    suspend: Vec<Suspend>,
    resume_by_reason: Option<bool>,
    host_build: bool,
    created_vms: Loads,
    sigquit: Loads,
    find_thread: Loads,
}

impl Facts {
    fn verdict(&self, row: &Row) -> Verdict {
        let has = |loads: &Loads, number: u32| loads.as_ref().map(|l| l.contains(&number));
        let by_reason = row.suspend != Suspend::BoolBool;
        let questions = [
            ("suspend function", (!self.suspend.is_empty()).then(|| self.suspend.contains(&row.suspend))),
            ("resume function", self.resume_by_reason.map(|reason| reason == by_reason)),
            ("C++ library", Some(self.host_build == (row.stdlib == "libstdc++"))),
            ("java_vm_", has(&self.created_vms, row.runtime.java_vm)),
            ("thread_list_", has(&self.sigquit, row.runtime.thread_list)),
            ("list_", has(&self.find_thread, row.thread_list.list)),
            ("thin_lock_thread_id", has(&self.find_thread, row.thread.thin_lock_id)),
        ];
        let that = |wanted: Option<bool>| {
            questions.iter().filter(|(_, answer)| *answer == wanted).map(|(name, _)| *name).collect()
        };
        Verdict {
            id: row.id.clone(),
            label: row.label.clone(),
            agrees: that(Some(true)),
            differs: that(Some(false)),
            unknown: that(None),
        }
    }
}

/// The displacements of the loads in one function's code: the first function of `names` that the image has.
/// `None` when the image has none of them, or not the code.
fn code_of(image: &Image<'_>, arch: &str, names: &[&str]) -> Loads {
    let symbol: Symbol = image.find_all(names).into_iter().flatten().next()?;
    // Bit 0 of an arm function's address marks Thumb code.
    let (address, encoding) = match arch {
        "arm" if symbol.value & 1 == 0 => (symbol.value, "a32"),
        "arm" => (symbol.value & !1, "arm"),
        _ => (symbol.value, arch),
    };
    Some(displacements(encoding, image.bytes_at(address, symbol.size)?))
}
