//! Reads the lists of files out of Debian's makefiles.

use anyhow::{Result, bail};

/// The words assigned to a variable. An assignment whose value refers to another variable is left out,
/// because it is for another architecture or adds folders.
pub(crate) fn list(makefile: &str, variable: &str) -> Result<Vec<String>> {
    let text = makefile.replace("\\\n", " ");
    let mut words = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(['\t', '#'])) {
        let Some((name, value)) = line.split_once('=') else { continue };
        if name.trim_end_matches(['+', ':', ' ']) == variable && !value.contains("$(") {
            words.extend(value.split_whitespace().map(str::to_owned));
        }
    }
    if words.is_empty() {
        bail!("the makefile has no list {variable}");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_on_over_lines_and_assignments() {
        let text = "NAME = x\nA = \\\n  a.cc \\\n  b/c.cc \\\n\n# why\nA += d.cc\nA += $(A_$(CPU))\n\
            A_arm = arm.S\nALL := $(foreach s, $(A), f/$(s)) \\\n  e.cc\nx: $(A)\n\techo A = y\n";
        assert_eq!(list(text, "A").unwrap(), ["a.cc", "b/c.cc", "d.cc"]);
        assert_eq!(list(text, "A_arm").unwrap(), ["arm.S"]);
        assert!(list(text, "ALL").unwrap_err().to_string().contains("ALL"));
        assert!(list(text, "B").is_err());
    }
}
