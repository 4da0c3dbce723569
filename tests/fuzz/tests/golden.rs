//! Report files of every released version (`tests/golden`), kept for ever: complete, cut anywhere, changed
//! anywhere. `crates/loopbox-store/tests` does the same for rings.

use loopbox_format::model::Report;
use loopbox_format::report::{Decoded, decode, encode};
use loopbox_fuzz::peak_of;
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, text};
use std::fs;
use std::path::PathBuf;

/// The reports by name: of the demo; of a hang that then ended, with a verdict, a chain of locks and other
/// threads; of a hang in native code; of a damaged ring; of display frames; and of a main thread without a
/// processor.
const REPORTS_1_0: [(&str, &[u8]); 6] = [
    ("report-1.0", include_bytes!("../../golden/report-1.0.lbx")),
    ("report-1.0-anr", include_bytes!("../../golden/report-1.0-anr.lbx")),
    ("report-1.0-native", include_bytes!("../../golden/report-1.0-native.lbx")),
    ("report-1.0-lost", include_bytes!("../../golden/report-1.0-lost.lbx")),
    ("report-1.0-frames", include_bytes!("../../golden/report-1.0-frames.lbx")),
    ("report-1.0-starved", include_bytes!("../../golden/report-1.0-starved.lbx")),
];
/// How much memory decoding holds at most for a file as small as these, whatever its bytes.
const MEMORY: usize = 1 << 20;

fn golden(name: &str) -> PathBuf {
    std::env::current_dir().unwrap().join("../golden").join(name)
}

fn whole(golden: &[u8]) -> Decoded {
    decode(golden).expect("a golden report")
}

/// The parts of a report, each as printed by `Debug`, for comparing two reports.
fn parts(report: &Report) -> [String; 20] {
    [
        format!("{:?}", report.meta),
        format!("{:?}", report.main),
        format!("{:?}", report.history),
        format!("{:?}", report.features),
        format!("{:?}", report.symbols),
        format!("{:?}", report.trees),
        format!("{:?}", report.locks),
        format!("{:?}", report.main_thread),
        format!("{:?}", report.threads),
        format!("{:?}", report.anr),
        format!("{:?}", report.cpu_use),
        format!("{:?}", report.pending),
        format!("{:?}", report.statistics),
        format!("{:?}", report.digest),
        format!("{:?}", report.lost),
        format!("{:?}", report.frames.scenes),
        format!("{:?}", report.frames.gestures),
        format!("{:?}", report.frames.janks),
        format!("{:?}", report.frames.recent),
        format!("{:?}", report.frames.stages),
    ]
}

/// Checks that each part equals that of the complete report, `known`, or is empty, and that a loss is
/// reported. Returns how many parts are lost.
fn salvaged(known: &[String; 20], bytes: &[u8], what: &str) -> usize {
    let (peak, decoded) = peak_of(|| decode(bytes));
    assert!(peak <= MEMORY, "{what}: {peak} bytes of heap");
    let Ok(Decoded { report, damage }) = decoded else { return usize::MAX };
    let empty = parts(&Report::default());
    let mut lost = 0;
    for ((got, known), empty) in parts(&report).iter().zip(known).zip(&empty) {
        assert!(got == known || got == empty, "{what}: {got} was not written");
        lost += usize::from(got != known);
    }
    assert!(lost == 0 || !damage.is_empty(), "{what}: {lost} parts are lost, and no damage is reported");
    lost
}

#[test]
fn a_report_of_version_1_0_is_shown_as_ever() {
    for (name, bytes) in REPORTS_1_0 {
        let decoded = whole(bytes);
        assert_eq!(decoded.damage, []);
        let analysis = Analysis::new(&decoded);
        let styled = text::show(&analysis, &diagnose(&analysis), text::Options { full: false });
        let shown = anstream::adapter::strip_str(&styled).to_string();
        let file = golden(&format!("{name}.txt"));
        if std::env::var_os("LOOPBOX_BLESS").is_some() {
            fs::write(&file, &shown).expect("the golden text");
        }
        let known = fs::read_to_string(&file).expect("the golden text");
        assert!(
            shown == known,
            "`loopbox show` prints something else of {name}; LOOPBOX_BLESS=1 takes it over:\n{shown}"
        );
    }
}

#[test]
fn every_part_is_in_one_of_them() {
    let empty = parts(&Report::default());
    let all = REPORTS_1_0.map(|(_, bytes)| parts(&whole(bytes).report));
    for (place, empty) in empty.iter().enumerate() {
        assert!(all.iter().any(|parts| parts[place] != *empty), "{empty} in all golden reports");
    }
}

/// A change here is a change of the format: see "Versions" in `docs/file-format.md`.
#[test]
fn this_version_writes_version_1_0_byte_for_byte() {
    for (name, bytes) in REPORTS_1_0 {
        assert!(encode(&whole(bytes).report).expect("encodes") == bytes, "{name}");
    }
}

#[test]
fn cut_anywhere_it_is_an_error_or_what_lies_before() {
    for (name, bytes) in REPORTS_1_0 {
        let known = parts(&whole(bytes).report);
        let mut unreadable = 0;
        for len in 0..bytes.len() {
            match salvaged(&known, &bytes[..len], &format!("{name} cut at {len}")) {
                usize::MAX => unreadable = len + 1,
                lost => assert!(lost < known.len(), "the first section is whole"),
            }
        }
        // From its first whole section on there is something to read.
        assert!(unreadable < 512, "nothing can be had of {unreadable} bytes");
    }
}

#[test]
fn changed_anywhere_it_is_an_error_or_what_is_intact() {
    for (name, bytes) in REPORTS_1_0 {
        let known = parts(&whole(bytes).report);
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() {
            for change in [1 << (at % 8), 0xFF] {
                bytes[at] ^= change;
                let lost = salvaged(&known, &bytes, &format!("{name} changed at {at}"));
                assert!(lost <= 1 || at < 16, "{name} changed at {at}: {lost} parts are lost");
                bytes[at] ^= change;
            }
        }
    }
}
