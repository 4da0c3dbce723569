//! What compiled classes use of others, by their constant pools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use loopbox_setup::command::run;
use loopbox_setup::files::files_below;
use loopbox_setup::tools::Tools;

/// A class, `android/os/Looper`, or a member, `android/os/Looper.getQueue:()Landroid/os/MessageQueue;`.
pub(crate) type Used = String;

/// Each class, `io/loopbox/Loopbox`, with what it uses.
pub(crate) type Uses = BTreeMap<String, BTreeSet<Used>>;

/// Those of all classes below a folder.
pub(crate) fn below(folder: &Path) -> Result<Uses> {
    let mut javap = Tools::ensure()?.of_jdk("javap");
    let said = run(javap.args(["-verbose", "-private"]).args(files_below(folder)?)).context("javap")?;
    Ok(parse(&said))
}

/// From what javap says of classes.
fn parse(said: &str) -> Uses {
    let mut uses = Uses::new();
    let mut class = String::new();
    for line in said.lines().map(str::trim) {
        let Some((left, what)) = line.split_once("//") else { continue };
        let what = what.trim().replace('"', "");
        if left.starts_with("this_class:") {
            class = what;
        } else if left.starts_with('#') {
            let kind = left.split_once(" = ").map_or("", |(_, kind)| kind);
            let used = match kind.split_whitespace().next() {
                Some("Class") => class_of(&what),
                Some("Methodref" | "Fieldref" | "InterfaceMethodref") => {
                    Some(what).filter(|what| is_of_a_class(what))
                }
                _ => None,
            };
            uses.entry(class.clone()).or_default().extend(used);
        }
    }
    uses
}

/// The class that an array is of, or the class itself; none for numbers.
fn class_of(name: &str) -> Option<String> {
    let element = name.trim_start_matches('[');
    if element.len() == name.len() {
        return Some(name.to_owned());
    }
    Some(element.strip_prefix('L')?.trim_end_matches(';').to_owned())
}

/// Arrays have one member, `clone`, everywhere.
fn is_of_a_class(member: &str) -> bool {
    !member.starts_with('[') && member.split(':').next().is_some_and(|name| name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_members_are_read_from_the_pool() {
        let said = r#"
  this_class: #1                          // io/loopbox/A
   #1 = Class              #2             // io/loopbox/A
   #3 = Methodref          #4.#5          // android/os/Looper.getQueue:()Landroid/os/MessageQueue;
   #6 = Methodref          #7.#8          // "[Landroid/os/Message;".clone:()Ljava/lang/Object;
   #7 = Class              #9             // "[Landroid/os/Message;"
   #8 = Class              #9             // "[J"
   #9 = Utf8               // android/os/None
   #10 = Methodref         #2.#3          // java/lang/Object."<init>":()V
         1: invokevirtual #3              // Method android/os/Looper.none:()V
"#;
        let used =
            ["android/os/Looper.getQueue:()Landroid/os/MessageQueue;", "android/os/Message", "io/loopbox/A"];
        let used = used.map(str::to_owned).into_iter().chain(["java/lang/Object.<init>:()V".to_owned()]);
        assert_eq!(parse(said), Uses::from([("io/loopbox/A".to_owned(), used.collect())]));
    }
}
