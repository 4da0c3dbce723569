//! Some classes around the testbeds' real queue and frame clock are written by hand. They are as the platform
//! has them: each class and each member that another package can name is in the real class files of API 29. A
//! list names those that are newer or belong to another level. Those that exist only for tests are recognized
//! by their names.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::class_file::{ClassFile, Member};
use loopbox_e2e::real_classes::read;
use loopbox_setup::files::files_below;
use loopbox_setup::jar;
use loopbox_setup::workspace::root;
use loopbox_testbed::{self as testbed, level_classes};

/// The level that the stubs are of.
const OURS: u32 = 29;
/// The newest level: it has all that the stubs have and the level [`OURS`] does not have.
const NEWEST: u32 = 37;

/// The class files of the stubs and of their nested classes, by name.
fn stubs() -> Result<BTreeMap<String, ClassFile>> {
    let sources = root().join("tests/testbed/framework-stubs");
    let mut outer = BTreeSet::new();
    for file in files_below(&sources)? {
        outer.insert(file.strip_prefix(&sources)?.with_extension("").display().to_string());
    }
    let is_ours = |class: &str| outer.contains(class.split('$').next().unwrap_or_default());
    let mut all = BTreeMap::new();
    for jar in testbed::ensure("art11")?.java_class_path() {
        let names = jar::names(&jar)?;
        let wanted = names.iter().filter(|name| name.strip_suffix(".class").is_some_and(is_ours));
        let wanted: Vec<&String> = wanted.collect();
        for (name, bytes) in jar::read_entries(&jar, &wanted)? {
            let class = ClassFile::parse(&bytes).with_context(|| name)?;
            all.insert(class.name.clone(), class);
        }
    }
    let found: BTreeSet<&str> = all.keys().filter_map(|name| name.split('$').next()).collect();
    ensure!(found.len() == outer.len(), "{} of {} stubs are compiled", found.len(), outer.len());
    Ok(all)
}

/// Whether a class or member exists for tests, by its name: `android/view/TestInput`,
/// `android/os/Trace.testBegun`, or `BedNative`, by which the stubs call the host program.
fn is_of_tests(name: &str) -> bool {
    let name = name.split(':').next().unwrap_or(name);
    let last = name.rsplit('/').next().unwrap_or(name);
    let is = |part: &str| part == "BedNative" || ["Test", "test"].iter().any(|mark| part.starts_with(mark));
    last.split(['$', '.']).any(is)
}

/// Real class files of a level.
struct Level(BTreeMap<String, ClassFile>);

impl Level {
    fn read(api: u32, wanted: &BTreeSet<String>) -> Result<Self> {
        Ok(Self(read(&level_classes(api)?, wanted.clone())?))
    }

    /// A member that a class declares or inherits.
    fn member(&self, class: &str, name: &str) -> Option<&Member> {
        let of = self.0.get(class)?;
        let own = of.members.get(name);
        if own.is_some() || name.starts_with("<init>:") {
            return own;
        }
        of.extends.iter().find_map(|above| self.member(above, name))
    }

    /// Whether a class is the class `above`, or extends it.
    fn is_a(&self, class: &str, above: &str) -> bool {
        class == above
            || above == "java/lang/Object"
            || self.0.get(class).is_some_and(|of| of.extends.iter().any(|next| self.is_a(next, above)))
    }
}

/// How a class or a member of a stub differs from that of the level.
enum Fault {
    /// The level does not have it.
    Absent,
    /// The level has this member in another form, which the text describes.
    Other(String),
}

fn class_fault(level: &Level, class: &ClassFile, written: &BTreeMap<String, ClassFile>) -> Option<Fault> {
    let Some(real) = level.0.get(&class.name) else { return Some(Fault::Absent) };
    if class.is_interface != real.is_interface || !real.is_visible && class.is_visible {
        return Some(Fault::Other("is declared as what it is not".into()));
    }
    // What tests have in between is none of the platform's.
    let mut above: Vec<&String> = class.extends.iter().collect();
    while let Some(next) = above.pop() {
        if is_of_tests(next) {
            above.extend(written.get(next).iter().flat_map(|class| &class.extends));
        } else if !level.is_a(&class.name, next) {
            return Some(Fault::Other(format!("does not extend {next}")));
        }
    }
    None
}

fn member_fault(level: &Level, class: &str, name: &str, member: &Member) -> Option<Fault> {
    let Some(real) = level.member(class, name) else { return Some(Fault::Absent) };
    let constant = member.constant.as_ref().filter(|own| real.constant.as_ref() != Some(own));
    let is_same = real.is_static() == member.is_static() && (real.is_visible() || !member.is_visible());
    (!is_same || constant.is_some()).then(|| Fault::Other(format!("is {member:?} here, and there {real:?}")))
}

/// What differs, what is newer than API 29, and how many classes and members were compared.
fn differences(written: &BTreeMap<String, ClassFile>) -> Result<(BTreeSet<String>, BTreeSet<String>, usize)> {
    let wanted = written.keys().cloned().collect();
    let (ours, newest) = (Level::read(OURS, &wanted)?, Level::read(NEWEST, &wanted)?);
    let (mut differ, mut newer, mut compared) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut put = |what: String, older: Option<Fault>, newest: Option<Fault>| match (older, newest) {
        (None, _) => false,
        (Some(_), None) => newer.insert(what),
        (Some(Fault::Other(how)), _) | (Some(Fault::Absent), Some(Fault::Other(how))) => {
            differ.insert(format!("{what} {how}"))
        }
        (Some(Fault::Absent), Some(Fault::Absent)) => differ.insert(format!("{what} is nowhere")),
    };
    for class in written.values() {
        let is_inside =
            class.name.split('$').skip(1).any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        if is_inside || is_of_tests(&class.name) {
            continue;
        }
        let [old, new] = [&ours, &newest].map(|level| class_fault(level, class, written));
        if let (false, Some(Fault::Absent), Some(Fault::Absent)) = (class.is_visible, &old, &new) {
            // Nobody else can name it.
            continue;
        }
        compared += 1;
        let is_newer = matches!((&old, &new), (Some(_), None));
        put(class.name.clone(), old, new);
        for (name, member) in class.members.iter().filter(|(_, member)| !member.is_private()) {
            let what = format!("{}.{name}", class.name);
            if is_of_tests(&what) || name.starts_with("<clinit>") || name.starts_with("access$") {
                continue;
            }
            let [old, new] = [&ours, &newest].map(|level| member_fault(level, &class.name, name, member));
            if let (false, Some(Fault::Absent), Some(Fault::Absent)) = (member.is_visible(), &old, &new) {
                continue;
            }
            compared += 1;
            if !is_newer || new.is_some() {
                put(what, old, new);
            }
        }
    }
    Ok((differ, newer, compared))
}

/// Members that the frame clock of another level uses, and that API 29 lacks, each with that level.
const OF_OTHERS: [(&str, u32); 3] = [
    ("android/view/DisplayInfo.refreshRate:F", 21),
    ("android/view/animation/AnimationUtils.lockAnimationClock:(JJ)V", 35),
    ("android/view/DisplayInfo.getRefreshRate:()F", NEWEST),
];

/// What the stubs have that API 37 has and API 29 does not. Classes of newer levels use it on a testbed, or
/// the recorder does where the level is high enough.
const NEWER: [&str; 12] = [
    "android/os/Build$VERSION_CODES.R:I",
    "android/os/Parcel.readParcelable:(Ljava/lang/ClassLoader;Ljava/lang/Class;)Ljava/lang/Object;",
    "android/os/Process.myProcessName:()Ljava/lang/String;",
    "android/os/Trace.asyncTraceForTrackBegin:(JLjava/lang/String;Ljava/lang/String;I)V",
    "android/os/Trace.asyncTraceForTrackEnd:(JLjava/lang/String;I)V",
    "android/os/Trace.instant:(JLjava/lang/String;)V",
    "android/os/Trace.instantForTrack:(JLjava/lang/String;Ljava/lang/String;)V",
    "android/view/AttachedSurfaceControl",
    "android/view/SurfaceControl$JankData",
    "android/view/SurfaceControl$OnJankDataListener",
    "android/view/SurfaceControl$OnJankDataListenerRegistration",
    "android/view/Window.getRootSurfaceControl:()Landroid/view/AttachedSurfaceControl;",
];

#[test]
fn stubs_of_the_testbeds_are_as_the_platform_is() -> Result<()> {
    let (differ, newer, compared) = differences(&stubs()?)?;
    let of_others: BTreeSet<String> =
        OF_OTHERS.iter().map(|(what, _)| format!("{what} is nowhere")).collect();
    assert_eq!(differ, of_others);
    assert_eq!(newer.iter().map(String::as_str).collect::<Vec<_>>(), NEWER);
    assert!(compared > 450, "{compared}");
    Ok(())
}

#[test]
fn what_api_29_does_not_have_is_called_by_another_level() -> Result<()> {
    const CLOCK: &str = "android/view/Choreographer";
    for (what, api) in OF_OTHERS {
        let level = Level::read(api, &[CLOCK.to_owned()].into())?;
        let clock = level.0.get(CLOCK).with_context(|| format!("no clock of API {api}"))?;
        ensure!(clock.uses.contains(what), "API {api} does not call {what}");
    }
    Ok(())
}

/// A class of the testbed has a member that the platform's class does not have. The comparison finds it.
#[test]
fn a_member_that_is_not_the_platforms_is_found() -> Result<()> {
    let mut written = stubs()?;
    let [clock, process] = ["android/os/SystemClock", "android/os/Process"];
    let uptime = written[clock].members["uptimeMillis:()J"].clone();
    let constant = written["android/view/Display"].members["DEFAULT_DISPLAY:I"].clone();
    let code = written.get_mut(process).context("no Process")?;
    code.members.insert("myUptime:()J".into(), uptime.clone());
    code.members.insert("THREAD_PRIORITY_BACKGROUND:I".into(), constant);
    code.extends.push("android/view/View".into());
    let log = written.get_mut("android/util/Log").context("no Log")?;
    log.is_interface = true;
    let expected = [
        "android/os/Process does not extend android/view/View",
        "android/os/Process.THREAD_PRIORITY_BACKGROUND:I is ",
        "android/os/Process.myUptime:()J is nowhere",
        "android/util/Log is declared as what it is not",
    ];
    let (differ, ..) = differences(&written)?;
    let found = |text: &&str| differ.iter().any(|difference| difference.starts_with(*text));
    ensure!(expected.iter().all(found) && differ.len() == expected.len() + OF_OTHERS.len(), "{differ:?}");
    Ok(())
}
