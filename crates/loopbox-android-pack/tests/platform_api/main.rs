//! Compares every class and member of the platform that the Java half uses with the public API of each level
//! from the oldest supported Android on. Those that are newer or hidden are listed in
//! `jni-glue/android/platform-api.toml`, each with what guards it.

mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use loopbox_android_pack::half;
use loopbox_android_pack::platform::{Guard, Known, Uses, uses_below};
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};
use loopbox_setup::unpack;

use list::Api;

/// Declarations of the platform's API at each level from 17 to 35, made from the SDK's own `android.jar`.
const LEVELS: Pinned<'_> = Pinned {
    registry: Registry::Npm,
    package: "@nativescript/types-android",
    version: "9.0.0",
    sha256: "5063c94008386120951acff74a0070bf9498ca51241f128b19777124579afcd4",
    megabytes: 13,
};

const NEWEST: u32 = 35;

/// Each use of the platform that some level lacks, with the levels that lack it.
type Absent = BTreeMap<String, BTreeSet<u32>>;

/// Whether a class belongs to the platform. Classes in the archives or in their dependencies exist on every
/// level.
fn is_platform(used: &str) -> bool {
    !["io/loopbox/", "androidx/", "kotlin/", "kotlinx/"].iter().any(|brought| used.starts_with(brought))
}

fn note_absent(api: &Api, level: u32, uses: &Uses, absent: &mut Absent) {
    let all: BTreeSet<&String> = uses.values().flatten().filter(|used| is_platform(used)).collect();
    for used in all {
        let there = match used.split_once(':') {
            Some((member, descriptor)) => {
                let (class, name) = member.rsplit_once('.').unwrap_or((member, ""));
                api.has_member(class, (name, descriptor))
            }
            None => api.has_class(used),
        };
        if !there {
            absent.entry(used.clone()).or_default().insert(level);
        }
    }
}

/// What is used but missing from the recorded list or described differently there, and the entries of the
/// list that are not used.
fn faults(known: &Known, uses: &Uses, absent: &Absent, newest: u32) -> Vec<String> {
    let mut faults = Vec::new();
    let mut said = BTreeSet::new();
    let newer = known.newer.iter().flat_map(|entry| {
        entry.uses.iter().map(move |used| {
            (used, known.oldest..entry.since.min(newest + 1), entry.guard, &entry.guarded_in)
        })
    });
    let hidden = known.hidden.iter().flat_map(|entry| {
        entry.uses.iter().map(move |used| (used, known.oldest..newest + 1, entry.guard, &entry.guarded_in))
    });
    for (used, levels, guard, class) in newer.chain(hidden) {
        said.insert(used.clone());
        if !uses.values().any(|of| of.contains(used)) {
            faults.push(format!("{used} is in the list, and nothing uses it"));
        } else if absent.get(used) != Some(&levels.collect()) {
            faults.push(format!("{used} is absent at {:?}, not as the list says", absent.get(used)));
        }
        let has = |what: &str| uses.get(class).is_some_and(|of| of.contains(what));
        let guarded = match guard {
            Guard::Level => has("android/os/Build$VERSION.SDK_INT:I"),
            Guard::LinkageError => has("java/lang/LinkageError") || has("java/lang/Throwable"),
        };
        if !guarded {
            faults.push(format!("{class} has no guard by {guard:?} for {used}"));
        }
    }
    for (used, levels) in absent.iter().filter(|(used, _)| !said.contains(*used)) {
        let by: Vec<&String> =
            uses.iter().filter(|(_, of)| of.contains(used)).map(|(class, _)| class).collect();
        faults.push(format!("{used}, used by {by:?}, is not there at {levels:?}, and not in the list"));
    }
    faults
}

#[test]
fn all_that_older_platforms_have_not_is_known_and_guarded() -> Result<()> {
    let work = tempfile::tempdir()?;
    let compiled = half::compiled()?;
    let mut uses = Uses::new();
    let half::Compiled { library, inhouse, ktx, noop, screen, startup, testing, .. } = &compiled;
    for classes in [library, inhouse, ktx, noop, screen, startup, testing] {
        for (class, used) in uses_below(classes)? {
            uses.entry(class).or_default().extend(used);
        }
    }
    let known = Known::read()?;
    let file = LEVELS.ensure(&Progress::new("platform API"))?;
    let levels: Vec<u32> = (known.oldest..=NEWEST).collect();
    let member = |level: &u32| format!("package/lib/android/android-platform-{level}.d.ts");
    unpack::tar_members(&file, &levels.iter().map(member).collect::<Vec<_>>(), work.path())?;
    let mut absent = Absent::new();
    for level in &levels {
        let text = fs::read_to_string(work.path().join(member(level))).with_context(|| member(level))?;
        note_absent(&Api::parse(&text), *level, &uses, &mut absent);
    }
    let faults = faults(&known, &uses, &absent, NEWEST);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// The faults of a list, for a platform of two levels, 21 and 22, of which only the second has `getQueue`.
fn problems(known: &str, used: &[&str]) -> Vec<String> {
    let list = |members: &str| {
        let text = format!(
            "declare module android {{\nexport module os {{\nexport class Looper {{\npublic loop(): void;\n{members}\n}}\n}}\n}}\n"
        );
        Api::parse(&text)
    };
    let of_one: BTreeSet<String> = used.iter().map(|used| (*used).to_owned()).collect();
    let uses = Uses::from([("io/loopbox/A".to_owned(), of_one)]);
    let mut absent = Absent::new();
    note_absent(&list(""), 21, &uses, &mut absent);
    note_absent(&list("public getQueue(): number;"), 22, &uses, &mut absent);
    absent.remove("java/lang/LinkageError"); // the lists of the test are of android alone
    faults(&toml::from_str(known).unwrap(), &uses, &absent, 22)
}

#[test]
fn what_is_newer_and_not_in_the_list_is_a_fault() {
    let empty = "oldest = 21\nnewer = []\nhidden = []";
    assert_eq!(problems(empty, &["android/os/Looper", "android/os/Looper.loop:()V"]), [""; 0]);
    let new = "android/os/Looper.getQueue:()I";
    let found = problems(empty, &[new]);
    assert!(found.len() == 1 && found[0].starts_with(new) && found[0].contains("{21}"), "{found:?}");
    let known = |since: u32, hidden: bool| {
        let entry = format!("uses = ['{new}']\nguard = 'LinkageError'\nguarded_in = 'io/loopbox/A'");
        if hidden {
            format!("oldest = 21\nnewer = []\n[[hidden]]\n{entry}")
        } else {
            format!("oldest = 21\nhidden = []\n[[newer]]\nsince = {since}\n{entry}")
        }
    };
    let caught = [new, "java/lang/LinkageError"];
    assert_eq!(problems(&known(22, false), &caught), [""; 0]);
    assert!(problems(&known(22, false), &[new])[0].contains("no guard by LinkageError"));
    assert!(problems(&known(23, false), &caught)[0].contains("not as the list says"));
    assert!(problems(&known(22, true), &caught)[0].contains("not as the list says"));
    assert!(problems(&known(22, false), &["java/lang/LinkageError"])[0].contains("nothing uses it"));
}
