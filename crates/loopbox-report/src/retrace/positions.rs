//! The numbers by which a mapping of R8 identifies places in a method: lines, where the app has a line table
//! for the method, or dex pcs.
//!
//! The lines in an app's debug info are rarely lines of the source. Observed with R8 8.5 to 9.5:
//!
//! * With a `min_api` below 26, most methods share one table, in which the line is the dex pc plus one. Since
//!   R8 8.12 this is also so with a higher `min_api`, unless `-renamesourcefileattribute` names another file.
//!   Methods that share a table have `r8-map-id-…` as their source file since R8 8.12.
//! * Otherwise most methods have no table. A stack trace of Android 8 and later then has the dex pc in place
//!   of the line (`Thread::CreateInternalStackTrace`).
//! * Overloads (methods of one class with the same name) have separate tables in both cases. Since R8 9.1 one
//!   overload has no separate table: the one with the lowest numbers.
//!
//! The recorder reads line tables. A frame has no line where the method has no table, and where ART keeps
//! another kind of table (compact dex). Reports of old recorders, which took shared tables for damaged ones,
//! also have no lines for these methods.

use crate::load::identity::MAP_ID_FILE;

/// An app with this `min_api` or a higher one may have no tables.
const NO_TABLES_API: u32 = 26;
/// The oldest R8 version known to share tables.
const SHARES_TABLES: (u32, u32) = (8, 5);

/// The oldest R8 version in which one of several methods with the same name was seen without a separate
/// table.
const LEAVES_ONE: (u32, u32) = (9, 1);

/// How a build numbers positions.
#[derive(Debug, Default)]
pub(super) struct Positions {
    is_r8: bool,
    version: Option<(u32, u32)>,
    min_api: Option<u32>,
}

/// A place in a method, in the mapping's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub number: u32,
    is_line: bool,
}

impl Position {
    pub(super) fn of_line(number: u32) -> Self {
        Self { number, is_line: true }
    }

    /// The line in the report, if the position is a line.
    pub(super) fn line(self) -> Option<u32> {
        self.is_line.then_some(self.number)
    }
}

impl Positions {
    /// Records a line at the head of a mapping.
    pub(super) fn header(&mut self, key: &str, value: &str) {
        match key {
            "compiler" => self.is_r8 = value == "R8",
            "compiler_version" => {
                let mut numbers = value.split('.').map_while(|number| number.parse().ok());
                self.version = numbers.next().zip(numbers.next());
            }
            "min_api" => self.min_api = value.parse().ok(),
            _ => {}
        }
    }

    /// Whether one of the methods that share a name has no separate table, so that its positions are dex pcs.
    pub(super) fn one_of_a_name_has_pcs(&self) -> bool {
        self.is_r8 && self.version.is_some_and(|version| version >= LEAVES_ONE)
    }

    /// The place of a frame: its line if it has one, otherwise a number computed from `dex_pc`. The caller
    /// passes `dex_pc` only for a method without a separate line table. `None` when the place is not known.
    pub(super) fn of(&self, source_file: &str, dex_pc: Option<u32>, line: Option<u32>) -> Option<Position> {
        if let Some(line) = line {
            return Some(Position::of_line(line));
        }
        let shares_tables = self.is_r8 && self.version.is_some_and(|version| version >= SHARES_TABLES);
        let before_first = match self.min_api {
            _ if source_file.starts_with(MAP_ID_FILE) => 1,
            Some(NO_TABLES_API..) => 0,
            Some(_) if shares_tables => 1,
            _ => return None,
        };
        Some(Position { number: dex_pc?.checked_add(before_first)?, is_line: false })
    }
}
