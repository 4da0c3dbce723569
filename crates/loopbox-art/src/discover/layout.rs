//! Compares the numbers found in the running process with the table of known builds.

use crate::off::Off;
use crate::offsets::{ROWS, Row, SuspendAbi};

/// The numbers found in the running process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Findings {
    pub suspend: SuspendAbi,
    pub thread_list: usize,
    pub java_vm: usize,
    pub thin_lock_id: usize,
    pub jni_env: usize,
    pub visitor_size: usize,
    /// Whether this is a Debian build (libstdc++).
    pub host_build: bool,
}

/// Which rows of the table agree with the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Match {
    /// The indices of rows that agree. There are several when builds differ only in what is not compared.
    Rows(Vec<usize>),
    /// No row is about this build.
    NoRow,
}

impl Findings {
    /// Whether a row describes this build. All numbers of such a row must agree with the findings.
    ///
    /// The row must be for the same kind of build (device or Debian) and have the same suspend signature.
    /// Below API 31 the platform's ART cannot be updated, so on a device the API level alone then finds the
    /// row. Otherwise three numbers must match: the two offsets found by value (`java_vm_` in Runtime,
    /// `jni_env` in Thread), and the size of StackVisitor. That size was measured in this process, from what
    /// the constructor filled. So from API 31 on a row with another size describes another build, and the
    /// difference is no contradiction.
    fn concerns(&self, row: &Row, api_level: Option<u32>) -> bool {
        let same_build = row.suspend == self.suspend && row.device != self.host_build;
        let by_level = !self.host_build && api_level.is_some_and(|l| l < 31 && row.is_of_level(l));
        let by_numbers = [row.java_vm, row.jni_env, row.visitor_size].map(usize::from)
            == [self.java_vm, self.jni_env, self.visitor_size];
        same_build && (by_level || by_numbers)
    }

    /// Finds the rows that agree. If there are rows about this build but none agrees, that is a
    /// contradiction.
    pub(crate) fn compare(&self, api_level: Option<u32>) -> Result<Match, Off> {
        self.compare_with(ROWS, api_level)
    }

    fn compare_with(&self, rows: &'static [Row], api_level: Option<u32>) -> Result<Match, Off> {
        let mut agreeing = Vec::new();
        let mut difference = None;
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| self.concerns(row, api_level)) {
            match self.difference(row) {
                None => agreeing.push(index),
                Some(off) => difference = difference.or(Some(off)),
            }
        }
        match difference {
            _ if !agreeing.is_empty() => Ok(Match::Rows(agreeing)),
            Some(off) => Err(off),
            None => self.ensure_shape_is_known(rows).map(|()| Match::NoRow),
        }
    }

    /// Checks the findings when no row is about this build of libart. If there are rows with this build's
    /// suspend function, the distance between the thread list and the JavaVM must be that of one of these
    /// rows. So far the members between thread list and JavaVM changed only together with that function, so
    /// another distance means that the wrong members were found.
    fn ensure_shape_is_known(&self, rows: &[Row]) -> Result<(), Off> {
        let distance = |java_vm: usize, thread_list: usize| java_vm.checked_sub(thread_list);
        let mut known = rows.iter().filter(|row| row.suspend == self.suspend).peekable();
        let is_known = known.peek().is_none()
            || known.any(|row| {
                distance(row.java_vm.into(), row.thread_list.into())
                    == distance(self.java_vm, self.thread_list)
            });
        is_known.then_some(()).ok_or(Off::UnknownArt("thread_list_ is at another distance from java_vm_"))
    }

    fn difference(&self, row: &'static Row) -> Option<Off> {
        [
            ("Runtime::thread_list_", row.thread_list, self.thread_list),
            ("Runtime::java_vm_", row.java_vm, self.java_vm),
            ("Thread::tls32_.thin_lock_thread_id", row.thin_lock_id, self.thin_lock_id),
            ("Thread::tlsPtr_.jni_env", row.jni_env, self.jni_env),
            ("sizeof(StackVisitor)", row.visitor_size, self.visitor_size),
            ("ThreadList::list_", row.list, super::LIST_AT),
        ]
        .into_iter()
        .map(|(field, table, found)| (field, usize::from(table), found))
        .find(|(_, table, found)| table != found)
        .map(|(field, table, found)| Off::Contradiction {
            row: row.id.as_str(),
            field,
            table,
            found,
        })
    }
}

/// The rows of `found` that have the same name layout as the row in use, which is one of them; oldest first.
/// Empty when no row is in use.
pub(crate) fn agreeing(used: Option<&Row>, found: &[usize]) -> Vec<&'static Row> {
    let rows = found.iter().filter_map(|index| ROWS.get(*index));
    rows.filter(|row| used.is_some_and(|used| used.names == row.names)).collect()
}

/// The generations of rows, each once.
pub(crate) fn generations(rows: &[&'static Row]) -> Vec<&'static str> {
    let mut all: Vec<_> = rows.iter().map(|row| row.generation.as_str()).collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::Text;

    const fn row(id: &str, api_level: u8, thread_list: u16, java_vm: u16) -> Row {
        Row {
            id: Text::new(id),
            generation: Text::new("x"),
            api_levels: (api_level, api_level),
            device: true,
            suspend: SuspendAbi::ReasonBool,
            thread_list,
            java_vm,
            list: 8192,
            thin_lock_id: 8,
            jni_env: 200,
            visitor_size: 496,
            names: 0,
        }
    }

    static TABLE: [Row; 4] =
        [row("29", 29, 464, 496), row("33", 33, 576, 624), row("33m", 33, 576, 624), row("34", 34, 584, 632)];

    fn found(thread_list: usize, java_vm: usize) -> Findings {
        Findings {
            suspend: SuspendAbi::ReasonBool,
            thread_list,
            java_vm,
            thin_lock_id: 8,
            jni_env: 200,
            visitor_size: 496,
            host_build: false,
        }
    }

    #[test]
    fn rows_that_agree_are_all_named() {
        assert_eq!(found(576, 624).compare_with(&TABLE, Some(33)), Ok(Match::Rows(vec![1, 2])));
        assert_eq!(found(576, 624).compare_with(&TABLE, None), Ok(Match::Rows(vec![1, 2])));
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn versions_with_the_same_numbers_are_all_named() {
        let of = |prefix: &str| {
            let row = ROWS.iter().find(|row| row.id.as_str().starts_with(prefix) && row.device).unwrap();
            let Ok(Match::Rows(found)) = findings_of(row).compare(None) else { panic!("{prefix}") };
            let agreeing = agreeing(Some(row), &found);
            assert!(agreeing.iter().any(|one| one.id == row.id), "{agreeing:?}");
            generations(&agreeing)
        };
        assert_eq!(of("35-"), ["14", "15"], "15.0.0 and the last 14");
        assert_eq!(of("36-"), ["16"], "the same numbers of the runtime, and others of classes");
        assert_eq!((of("36q2-"), of("29-")), (vec!["16"], vec!["10"]));
        assert!(agreeing(None, &[0]).is_empty(), "found without a row");
    }

    fn findings_of(row: &Row) -> Findings {
        Findings {
            suspend: row.suspend,
            thread_list: row.thread_list.into(),
            java_vm: row.java_vm.into(),
            thin_lock_id: row.thin_lock_id.into(),
            jni_env: row.jni_env.into(),
            visitor_size: row.visitor_size.into(),
            host_build: !row.device,
        }
    }

    #[test]
    fn a_newer_module_on_an_older_platform_is_known_by_its_layout() {
        assert_eq!(found(584, 632).compare_with(&TABLE, Some(31)), Ok(Match::Rows(vec![3])));
    }

    #[test]
    fn a_build_without_a_row_is_left_to_discovery() {
        assert_eq!(found(602, 650).compare_with(&TABLE, Some(36)), Ok(Match::NoRow));
        let host = Findings { host_build: true, ..found(576, 624) };
        assert_eq!(
            host.compare_with(&TABLE, Some(33)),
            Ok(Match::NoRow),
            "device rows are not about host builds"
        );
        let other = Findings { suspend: SuspendAbi::ReasonAttempt, ..found(576, 624) };
        assert_eq!(other.compare_with(&TABLE, Some(33)), Ok(Match::NoRow));
    }

    #[test]
    fn a_row_about_the_build_that_says_otherwise_is_a_contradiction() {
        let off = found(568, 624).compare_with(&TABLE, Some(33)).unwrap_err();
        assert_eq!(
            off,
            Off::Contradiction { row: "33", field: "Runtime::thread_list_", table: 576, found: 568 }
        );
        let size = Findings { visitor_size: 552, ..found(464, 496) };
        assert_eq!(size.compare_with(&TABLE, Some(29)).unwrap_err().code(), "table-contradiction");
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn android_16s_last_shape_is_known_with_another_visitor_and_not_with_another_distance() {
        let row = ROWS.iter().find(|row| row.id.as_str().starts_with("36q2-")).unwrap();
        let known = findings_of(row);
        for level in [Some(36), Some(37), Some(99), None] {
            for visitor_size in [known.visitor_size - 8, known.visitor_size + 8, known.visitor_size + 64] {
                let other = Findings { visitor_size, ..known };
                assert_eq!(other.compare(level), Ok(Match::NoRow), "{level:?}, {visitor_size}");
            }
            for slots in [4, 5, 7, 8] {
                for java_vm in [known.java_vm, known.java_vm + 8, known.java_vm - 8] {
                    let other = Findings { java_vm, thread_list: java_vm - 8 * slots, ..known };
                    let off = other.compare(level).unwrap_err();
                    let is_at_row = java_vm == known.java_vm;
                    assert_eq!(off.code(), if is_at_row { "table-contradiction" } else { "unknown-art" });
                    let bigger = Findings { visitor_size: known.visitor_size + 8, ..other };
                    assert_eq!(bigger.compare(level).unwrap_err().code(), "unknown-art");
                }
            }
        }
    }

    #[test]
    fn below_api_31_the_level_names_the_row() {
        let off = found(576, 608).compare_with(&TABLE, Some(29)).unwrap_err();
        assert_eq!(off.code(), "table-contradiction");
        assert_eq!(found(464, 496).compare_with(&TABLE, Some(29)), Ok(Match::Rows(vec![0])));
    }

    #[test]
    fn the_table_of_this_architecture_is_consistent() {
        // Every row must be found by its own numbers.
        for (index, row) in ROWS.iter().enumerate() {
            let findings = findings_of(row);
            let (first, last) = row.api_levels;
            for level in (first..=last).map(|level| Some(level.into())).chain([None]) {
                let Ok(Match::Rows(rows)) = findings.compare(level) else { panic!("{:?}", row.id) };
                assert!(rows.contains(&index), "{:?}", row.id);
            }
        }
        assert!(ROWS.len() >= if cfg!(target_arch = "x86") { 3 } else { 18 });
    }
}
