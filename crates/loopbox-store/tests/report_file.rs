//! Reports on disk.

use loopbox_store::{Outlives, REQUESTED, ReportPolicy, enforce, replace_report, write_report};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn age(path: &Path, by: Duration) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - by).unwrap();
}

#[test]
fn a_report_is_there_whole_under_its_name_and_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_report(dir.path(), "anr-1", b"first", Outlives::Process, || Some(())).unwrap();
    assert_eq!(path, dir.path().join("anr-1.lbx"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        write_report(dir.path(), "anr-1", b"second, longer", Outlives::PowerLoss, || Some(())).unwrap(),
        path
    );
    assert_eq!(fs::read(&path).unwrap(), b"second, longer");
    assert_eq!(names(dir.path()), ["anr-1.lbx"]);
}

#[test]
fn a_report_that_the_app_has_taken_does_not_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_report(dir.path(), "r", b"first", Outlives::Process, || Some(())).unwrap();
    assert_eq!(replace_report(dir.path(), "r", b"second", Outlives::Process, || Some(())).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), b"second");
    fs::remove_file(&path).unwrap();
    assert_eq!(
        replace_report(dir.path(), "r", b"third", Outlives::Process, || Some(())).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(names(dir.path()).len(), 0);
}

#[test]
fn a_name_cannot_lead_out_of_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["", ".", "../up", "a/b", "/etc/passwd", "nul\0", ".hidden"] {
        assert_eq!(
            write_report(dir.path(), name, b"", Outlives::Process, || Some(())).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{name}"
        );
    }
    assert_eq!(names(dir.path()).len(), 0);
}

#[test]
fn what_an_earlier_process_left_half_written_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let unfinished = dir.path().join(format!("r.{}.lbx.new", std::process::id()));
    fs::write(&unfinished, "half").unwrap();
    write_report(dir.path(), "r", b"whole", Outlives::Process, || Some(())).unwrap();
    assert_eq!(names(dir.path()), ["r.lbx"]);
}

#[test]
fn a_missing_directory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = write_report(&dir.path().join("gone"), "r", b"", Outlives::Process, || Some(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn old_reports_make_room_and_the_new_one_and_other_files_stay() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("other.txt"), [0; 5000]).unwrap();
    let paths: Vec<_> = (1..=6)
        .map(|n| {
            let path = write_report(dir.path(), &format!("r{n}"), &[0; 1000], Outlives::Process, || Some(()))
                .unwrap();
            age(&path, Duration::from_hours(10 - n));
            path
        })
        .collect();
    // The clock was set back: the newest report is the oldest by its file time.
    age(&paths[5], Duration::from_hours(1000));
    let policy = ReportPolicy { max_files: 5, ..ReportPolicy::default() };
    assert_eq!(enforce(dir.path(), &policy, Some(&paths[5])).unwrap(), 1);
    assert_eq!(names(dir.path()), ["other.txt", "r2.lbx", "r3.lbx", "r4.lbx", "r5.lbx", "r6.lbx"]);
    let policy = ReportPolicy { max_bytes: 3500, ..ReportPolicy::default() };
    assert_eq!(enforce(dir.path(), &policy, Some(&paths[5])).unwrap(), 2);
    assert_eq!(names(dir.path()), ["other.txt", "r4.lbx", "r5.lbx", "r6.lbx"]);
    let policy = ReportPolicy { max_age: Duration::from_mins(330), ..ReportPolicy::default() };
    assert_eq!(enforce(dir.path(), &policy, Some(&paths[5])).unwrap(), 1);
    assert_eq!(names(dir.path()), ["other.txt", "r5.lbx", "r6.lbx"]);
    assert_eq!(enforce(dir.path(), &policy, None).unwrap(), 1);
    assert_eq!(names(dir.path()), ["other.txt", "r5.lbx"]);
}

#[test]
fn reports_that_the_app_asked_for_make_room_for_hangs_and_never_take_theirs() {
    let dir = tempfile::tempdir().unwrap();
    let mut hour = 0;
    let mut write = |name: &str| {
        let path = write_report(dir.path(), name, &[0; 1000], Outlives::Process, || Some(())).unwrap();
        hour += 1;
        age(&path, Duration::from_hours(100 - hour));
        path
    };
    let requested = |n: u32| format!("app{REQUESTED}{n}");
    write("hang");
    let policy = ReportPolicy { max_files: 3, ..ReportPolicy::default() };
    for n in 1..=20 {
        let newest = write(&requested(n));
        enforce(dir.path(), &policy, Some(&newest)).unwrap();
    }
    assert_eq!(names(dir.path()), ["app-requested-19.lbx", "app-requested-20.lbx", "hang.lbx"]);
    // Hangs push out what was asked for, and older hangs.
    for n in 2..=4 {
        let newest = write(&format!("hang{n}"));
        enforce(dir.path(), &policy, Some(&newest)).unwrap();
    }
    assert_eq!(names(dir.path()), ["hang2.lbx", "hang3.lbx", "hang4.lbx"]);
    // The one that is asked for now is with them.
    for n in 21..=22 {
        let newest = write(&requested(n));
        enforce(dir.path(), &policy, Some(&newest)).unwrap();
    }
    assert_eq!(names(dir.path()), ["app-requested-22.lbx", "hang2.lbx", "hang3.lbx", "hang4.lbx"]);
    let policy = ReportPolicy { max_bytes: 2_500, ..policy };
    assert_eq!(enforce(dir.path(), &policy, None).unwrap(), 2);
    assert_eq!(names(dir.path()), ["hang3.lbx", "hang4.lbx"]);
}

#[test]
fn half_written_reports_go_when_they_are_old() {
    let dir = tempfile::tempdir().unwrap();
    let half = dir.path().join("r.1.lbx.new");
    fs::write(&half, "half").unwrap();
    assert_eq!(enforce(dir.path(), &ReportPolicy::default(), None).unwrap(), 0);
    age(&half, Duration::from_mins(11));
    assert_eq!(enforce(dir.path(), &ReportPolicy::default(), None).unwrap(), 1);
}

/// Four files have times before this recorder existed: a clock showed 1970 or 2020 when they were written,
/// and was set afterwards. Of the other two files, one has a correct time and one a time in the future.
#[test]
fn what_was_written_before_the_clock_was_set_is_not_old() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str, time: SystemTime| {
        let path = dir.path().join(name);
        fs::write(&path, b"x").unwrap();
        File::open(&path).unwrap().set_modified(time).unwrap();
    };
    let unix = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    at("epoch.lbx", unix(0));
    at("hour.lbx", unix(3_600));
    at("factory.lbx", unix(1_577_836_800));
    at("half.lbx.new", unix(60));
    at("known.lbx", SystemTime::now() - Duration::from_hours(1));
    at("to-come.lbx", SystemTime::now() + Duration::from_hours(24 * 365));
    let all = names(dir.path());
    assert_eq!(enforce(dir.path(), &ReportPolicy::default(), None).unwrap(), 0);
    assert_eq!(names(dir.path()), all);
    // From now on each is as old as it is known: two weeks later those are old that nobody has taken.
    for name in &all {
        let modified = fs::metadata(dir.path().join(name)).unwrap().modified().unwrap();
        assert!(modified.elapsed().is_ok_and(|age| age < Duration::from_hours(2)), "{name}");
        age(&dir.path().join(name), Duration::from_hours(15 * 24));
    }
    assert_eq!(enforce(dir.path(), &ReportPolicy::default(), None).unwrap(), all.len());
}

#[test]
fn what_was_written_before_the_clock_was_set_makes_no_room_for_what_is_older() {
    let dir = tempfile::tempdir().unwrap();
    for nth in 0..20 {
        let path =
            write_report(dir.path(), &format!("known-{nth}"), b"x", Outlives::Process, || Some(())).unwrap();
        age(&path, Duration::from_hours(24 + nth));
        let path = write_report(dir.path(), &format!("unknown-{nth}"), b"x", Outlives::Process, || Some(()))
            .unwrap();
        if nth < 6 {
            File::open(&path)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(nth))
                .unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(enforce(dir.path(), &ReportPolicy::default(), None).unwrap(), 10);
    let left = names(dir.path());
    assert_eq!(left.iter().filter(|name| name.starts_with("unknown")).count(), 6, "{left:?}");
    assert!(
        left.contains(&"known-9.lbx".to_owned()) && !left.contains(&"known-10.lbx".to_owned()),
        "{left:?}"
    );
}

#[test]
fn a_report_that_may_not_have_its_name_any_more_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let kept = write_report(dir.path(), "r", b"first", Outlives::Process, || Some(())).unwrap();
    let may_not = || None::<()>;
    let replaced = replace_report(dir.path(), "r", b"second", Outlives::Process, may_not);
    assert_eq!(replaced.unwrap_err().kind(), ErrorKind::Interrupted);
    let written = write_report(dir.path(), "s", b"other", Outlives::Process, may_not);
    assert_eq!(written.unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read(kept).unwrap(), b"first");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
