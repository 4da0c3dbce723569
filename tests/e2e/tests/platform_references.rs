//! Each of the Java half's references to the platform exists in the real class files: those of the oldest
//! supported level and of the newest, as AOSP compiled them. The declarations of the platform for the
//! compiler match these class files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::class_file::{ClassFile, Used};
use loopbox_android_pack::half::{self, Compiled};
use loopbox_android_pack::platform::{Known, classes_below, uses_below};
use loopbox_e2e::real_classes::read;
use loopbox_testbed::{self as testbed, level_classes};

/// The newest existing level.
const NEWEST: u32 = 37;

/// The class files of a level that are kept.
struct Level(BTreeMap<String, ClassFile>);

impl Level {
    /// Reads these classes, and their superclasses.
    fn read(api: u32, wanted: BTreeSet<String>) -> Result<Self> {
        Ok(Self(read(&level_classes(api)?, wanted)?))
    }

    /// Whether a class has a member, declared or inherited. Members from Java's library are not compared.
    fn has(&self, class: &str, member: &str) -> Result<bool> {
        let of_java = class.starts_with("java/") && !self.0.contains_key(class);
        if of_java && class != "java/lang/Object" {
            return Ok(true);
        }
        if of_java {
            const OF_ALL: [&str; 5] = ["equals:", "getClass:", "hashCode:", "toString:", "<init>:()"];
            return Ok(OF_ALL.iter().any(|name| member.starts_with(name)));
        }
        let found = self.0.get(class).with_context(|| format!("{class} is not kept"))?;
        if found.members.contains_key(member) {
            return Ok(true);
        }
        let is_constructor = member.starts_with("<init>:");
        for above in found.extends.iter().filter(|_| !is_constructor) {
            if self.has(above, member)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Why a reference is invalid, if it is.
    fn fault(&self, used: &Used) -> Option<String> {
        let Some((member, descriptor)) = used.split_once(':') else {
            return (!self.0.contains_key(used)).then(|| format!("no {used}"));
        };
        let (class, name) = member.rsplit_once('.').unwrap_or((member, ""));
        match self.has(class, &format!("{name}:{descriptor}")) {
            Ok(true) => None,
            Ok(false) => Some(format!("no {used}")),
            Err(unknown) => Some(format!("{used}: {unknown:#}")),
        }
    }
}

/// The class of a reference.
fn class_of(used: &Used) -> String {
    let member = used.split(':').next().unwrap_or_default();
    if used.contains(':') {
        member.rsplit_once('.').map_or(member, |(class, _)| class).into()
    } else {
        member.into()
    }
}

/// All names of Android in all archives.
fn references(compiled: &Compiled) -> Result<BTreeSet<Used>> {
    let Compiled { library, inhouse, ktx, noop, screen, startup, testing, .. } = compiled;
    let mut all = BTreeSet::new();
    for classes in [library, inhouse, ktx, noop, screen, startup, testing] {
        all.extend(uses_below(classes)?.into_values().flatten());
    }
    all.retain(|used| used.starts_with("android/"));
    ensure!(all.len() > 300, "{} references: {all:?}", all.len());
    Ok(all)
}

fn faults(api: u32, references: &BTreeSet<Used>) -> Result<Vec<String>> {
    let level = Level::read(api, references.iter().map(class_of).collect())?;
    for absent in ["android/os/Looper.loop:(I)V", "android/os/Looper.none:()V", "android/os/None"] {
        ensure!(level.fault(&absent.to_owned()).is_some(), "API {api} has {absent}");
    }
    Ok(references
        .iter()
        .filter_map(|used| level.fault(used))
        .map(|fault| format!("API {api}: {fault}"))
        .collect())
}

#[test]
fn each_reference_is_to_what_the_oldest_and_the_newest_level_have() -> Result<()> {
    let (known, all) = (Known::read()?, references(&half::compiled()?)?);
    let newer = known.newer.iter().flat_map(|newer| &newer.uses);
    let later: BTreeSet<&Used> = newer.chain(known.hidden.iter().flat_map(|hidden| &hidden.uses)).collect();
    let of_oldest: BTreeSet<Used> = all.iter().filter(|used| !later.contains(used)).cloned().collect();
    let faults = [faults(known.oldest, &of_oldest)?, faults(NEWEST, &all)?].concat();
    assert_eq!(faults, [""; 0]);
    Ok(())
}

/// No compiler compares these callbacks with the platform's: the oldest level's interface has none of them,
/// so they override nothing.
#[test]
fn callbacks_before_a_step_of_a_life_cycle_are_the_platform_s() -> Result<()> {
    const INTERFACE: &str = "android/app/Application$ActivityLifecycleCallbacks";
    let library = half::compiled()?.library;
    let foreground = classes_below(&library)?.into_iter().find(|class| class.name.ends_with("/Foreground"));
    let members = foreground.context("the class that is called")?.members;
    let ours: Vec<_> = members.keys().filter(|member| member.starts_with("onActivityPre")).collect();
    assert_eq!(ours.len(), 6, "{ours:?}");
    let [newest, oldest] = [NEWEST, 21].map(|api| Level::read(api, [INTERFACE.to_owned()].into()));
    let (newest, oldest) = (newest?, oldest?);
    for member in ours {
        assert!(newest.has(INTERFACE, member)?, "no {member}");
        assert!(!oldest.has(INTERFACE, member)?, "{member} is not newer");
    }
    Ok(())
}

/// The declarations that differ from the newest level.
fn differences(declared: &Path) -> Result<Vec<String>> {
    let all = classes_below(declared)?;
    // Annotations of androidx are separate libraries.
    let all: Vec<ClassFile> = all.into_iter().filter(|class| !class.name.starts_with("androidx/")).collect();
    ensure!(all.len() > 20, "{} classes are declared", all.len());
    let names = |of_java| {
        let is = move |class: &&ClassFile| class.name.starts_with("java/") == of_java;
        all.iter().filter(is).map(|class| class.name.clone()).collect()
    };
    let mut level = Level::read(NEWEST, names(false))?;
    // The framework's jar has nothing of Java's library.
    for jar in testbed::ensure("art11")?.java_class_path() {
        level.0.extend(read(&jar, names(true))?);
    }
    let mut found = Vec::new();
    for class in &all {
        let Some(real) = level.0.get(&class.name) else {
            found.push(format!("no {}", class.name));
            continue;
        };
        if class.is_interface != real.is_interface {
            found.push(format!("{} is declared as what it is not", class.name));
        }
        // What is not visible is there to keep others from it.
        for (name, member) in class.members.iter().filter(|(_, member)| member.is_visible()) {
            match real.members.get(name) {
                None => found.push(format!("{} has no {name}", class.name)),
                Some(real)
                    if (real.is_static(), real.is_visible(), &real.constant)
                        != (member.is_static(), true, &member.constant) =>
                {
                    found.push(format!("{}.{name} is {member:?} here, and there {real:?}", class.name));
                }
                Some(_) => {}
            }
        }
    }
    Ok(found)
}

#[test]
fn what_is_declared_of_the_platform_is_as_it_is_there() -> Result<()> {
    assert_eq!(differences(&half::compiled()?.declared)?, [""; 0]);
    Ok(())
}
