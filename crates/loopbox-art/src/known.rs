//! The results of a slow search for functions, as text for the next process with the same build of ART. Each
//! line has one function: the letter of the table it was found in, its address without the load bias, and its
//! name.

use crate::module::Found;
use loopbox_elf::SymbolSource;

/// Keeps the results of a slow search, as text, for later processes. An implementation must return the text
/// unchanged, and only to a process with the same build of ART.
pub trait KnownSymbols {
    /// The text of an earlier process; `None` when there is none, or it is damaged.
    fn load(&self) -> Option<String>;
    /// Stores the text for later processes.
    fn keep(&self, text: &str);
}

/// The tables that are slow to search, each with the letter that stands for it in the text.
const SLOW: [(char, SymbolSource); 2] = [('s', SymbolSource::SymTab), ('d', SymbolSource::GnuDebugData)];

/// Writes the text: a line for each found function that came from a slow table.
pub(crate) fn write(names: &[&str], found: &[Option<Found>], load_bias: usize) -> String {
    let mut text = String::new();
    for (name, found) in names.iter().zip(found) {
        let Some(found) = found else { continue };
        let Some((sign, _)) = SLOW.iter().find(|(_, source)| *source == found.source) else { continue };
        text.push(*sign);
        text.push_str(&found.address.wrapping_sub(load_bias).to_string());
        text.push(' ');
        text.push_str(name);
        text.push('\n');
    }
    text
}

/// Adds the functions of a kept text to those that were found without it. Addresses outside of the module are
/// ignored.
pub(crate) fn add(
    text: &str,
    names: &[&str],
    found: &mut [Option<Found>],
    load_bias: usize,
    contains: impl Fn(usize) -> bool,
) {
    for line in text.lines() {
        let Some((address, known)) = line.split_once(' ') else { continue };
        let mut signed = address.chars();
        let sign = signed.next();
        let Some((_, source)) = SLOW.iter().find(|(slow, _)| Some(*slow) == sign) else { continue };
        let offset = signed.as_str().parse::<u64>().ok().and_then(|offset| usize::try_from(offset).ok());
        let Some(offset) = offset else { continue };
        let address = load_bias.wrapping_add(offset);
        let slot = names.iter().zip(found.iter_mut()).find(|(name, _)| **name == known);
        if let Some((_, slot @ None)) = slot
            && contains(address)
        {
            *slot = Some(Found { address, source: *source });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["exported", "hidden", "packed", "absent"];
    const BIAS: usize = 0x7000_0000;

    fn found(address: usize, source: SymbolSource) -> Found {
        Found { address: BIAS + address, source }
    }

    #[test]
    fn what_was_found_slowly_is_found_again_where_the_module_is_now() {
        let all = [
            Some(found(0x10, SymbolSource::Linker)),
            Some(found(0x20, SymbolSource::SymTab)),
            Some(found(0x30, SymbolSource::GnuDebugData)),
            None,
        ];
        let text = write(&NAMES, &all, BIAS);
        assert_eq!(text, "s32 hidden\nd48 packed\n");
        let mut again = [Some(found(0x10, SymbolSource::Linker)), None, None, None];
        add(&text, &NAMES, &mut again, BIAS, |_| true);
        assert_eq!(again, all);
    }

    #[test]
    fn nothing_that_was_exported_or_is_elsewhere_is_taken_over() {
        let mut now = [Some(found(0x10, SymbolSource::Linker)), None, None, None];
        let text =
            "s999 exported\ns32 hidden\nd48 packed\nd7 another\nx1 absent\ns absent\nsx absent\ns1\n\n";
        add(text, &NAMES, &mut now, BIAS, |address| address != BIAS + 48);
        assert_eq!(
            now,
            [Some(found(0x10, SymbolSource::Linker)), Some(found(0x20, SymbolSource::SymTab)), None, None]
        );
    }
}
