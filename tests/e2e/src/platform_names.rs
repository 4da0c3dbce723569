//! The framework's names that the recorder and its reports know, compared with the real class files of an API
//! level.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use anyhow::Result;
use loopbox_format::looper::{activity_thread, component, component_of_stack};
use loopbox_setup::command::run;
use loopbox_setup::tools::Tools;
use loopbox_setup::{jar, workspace};
use loopbox_testbed::level_classes;

/// The newest level that is known.
const NEWEST: u32 = 37;

/// A class, a member of it, and the levels that have it. A member with `*` at its end is any member that
/// begins like that. An empty member is the class alone.
type Name = (&'static str, &'static str, RangeInclusive<u32>);

const fn since(api: u32) -> RangeInclusive<u32> {
    api..=NEWEST
}

/// Every name of the framework that any code here matches or uses. In the code, each name is written where it
/// is used.
const NAMES: &[Name] = &[
    // Frames of stacks: `looper::stack`, `report::model::framework`, `agent::report::{outside,
    // unseen_message, running_message}`.
    ("android.os.Looper", "loop", since(21)),
    ("android.os.Looper", "loopOnce", since(31)),
    ("android.os.Handler", "dispatchMessage", since(21)),
    ("android.os.Handler", "dispatchMessageImpl", since(37)),
    ("android.os.Handler", "handleCallback", since(21)),
    ("android.os.MessageQueue", "next*", since(21)),
    ("android.os.MessageQueue", "nextConcurrent", 36..=36),
    ("android.os.MessageQueue", "nextDeliQueue", since(37)),
    ("android.os.MessageQueue", "nativePollOnce", since(21)),
    ("android.os.MessageQueue", "dispatchEvents", since(23)),
    ("android.os.MessageQueue$IdleHandler", "queueIdle", since(21)),
    ("android.os.MessageQueue$OnFileDescriptorEventListener", "onFileDescriptorEvents", since(23)),
    ("android.view.InputEventReceiver", "dispatchInputEvent", since(21)),
    ("android.view.DisplayEventReceiver", "dispatchVsync", since(21)),
    ("android.hardware.SystemSensorManager$SensorEventQueue", "", since(21)),
    ("android.app.servertransaction.TransactionExecutor", "execute", since(28)),
    ("android.app.ActivityThread", "installContentProviders", since(21)),
    // Targets and callbacks: `looper::component`.
    ("android.app.ActivityThread$H", "", since(21)),
    ("android.app.LoadedApk$ReceiverDispatcher$Args", "", since(21)),
    ("android.app.LoadedApk$ServiceDispatcher$RunConnection", "run", since(21)),
    ("android.view.Choreographer$FrameDisplayEventReceiver", "run", since(21)),
    ("android.view.Choreographer$FrameHandler", "", since(21)),
    ("android.app.job.JobService$JobHandler", "", 21..=25),
    ("android.app.job.JobServiceEngine$JobHandler", "", since(26)),
    // What main waits in: `report::diagnose::wait_kind`.
    ("android.app.QueuedWork", "waitToFinish", since(21)),
    ("android.app.QueuedWork", "processPendingWork", since(26)),
    ("android.os.BinderProxy", "transact*", since(21)),
    ("android.os.SystemClock", "sleep", since(21)),
    ("android.database.sqlite.SQLiteConnectionPool", "waitForConnection", since(21)),
    ("android.database.sqlite.SQLiteConnection", "native*", since(21)),
    ("android.content.res.AssetManager", "native*", since(28)),
    ("android.content.res.ApkAssets", "native*", since(28)),
    // Reached by reflection: `io.loopbox.internal`.
    ("android.os.Looper", "mLogging", since(21)),
    ("android.os.Looper", "sObserver", since(29)),
    ("android.os.Looper", "setObserver", since(29)),
    ("android.os.Looper$Observer", "messageDispatchStarting", since(29)),
    ("android.os.Looper$Observer", "messageDispatched", since(29)),
    ("android.os.Looper$Observer", "dispatchingThrewException", since(29)),
    ("android.os.MessageQueue", "mMessages", since(21)),
    ("android.os.MessageQueue", "mIdleHandlers", since(21)),
    ("android.os.Message", "next", since(21)),
    ("android.os.Message", "when", since(21)),
    ("android.os.Message", "target", since(21)),
    ("android.os.Message", "callback", since(21)),
];

/// The levels of the tests.
pub const IN_TESTS: [u32; 5] = [23, 28, 31, 35, 37];

/// The members of some classes, and the values of constants.
#[derive(Debug, Default)]
struct Classes(BTreeMap<String, BTreeMap<String, Option<i32>>>);

impl Classes {
    fn has(&self, class: &str, member: &str) -> bool {
        let Some(members) = self.0.get(class) else { return false };
        match member.strip_suffix('*') {
            Some(start) => members.keys().any(|name| name.starts_with(start)),
            None => member.is_empty() || members.contains_key(member),
        }
    }

    /// Reads what `javap -p -constants` prints of several classes.
    fn parse(text: &str) -> Self {
        let mut classes = Self::default();
        let mut members = None;
        for line in text.lines() {
            if line.ends_with('{') && !line.starts_with(' ') {
                // Parameters of types have spaces and further names in them.
                let (head, _) = line.split_once(['<', '{']).unwrap_or((line, ""));
                let mut words = head.split_whitespace().skip_while(|w| !matches!(*w, "class" | "interface"));
                members = words.nth(1).map(|class| classes.0.entry(class.to_owned()).or_default());
            } else if let Some((members, member)) = members.as_mut().zip(line.strip_suffix(';')) {
                let (declared, value) = member.split_once(" = ").unwrap_or((member, ""));
                let declared = declared.split('(').next().unwrap_or_default();
                let name = declared.split_whitespace().last().unwrap_or_default();
                members.insert(name.to_owned(), value.parse().ok());
            }
        }
        classes
    }

    /// The classes of [`NAMES`] on a level.
    fn of_level(api: u32) -> Result<Self> {
        let kept = level_classes(api)?;
        let there: BTreeSet<String> = jar::names(&kept)?.into_iter().collect();
        let wanted: BTreeSet<&str> = NAMES.iter().map(|(class, ..)| *class).collect();
        let is_there = |class: &&str| there.contains(&format!("{}.class", class.replace('.', "/")));
        let mut javap = Tools::ensure()?.of_jdk("javap");
        javap.current_dir(workspace::root()).args(["-p", "-constants", "-cp"]).arg(&kept);
        Ok(Self::parse(&run(javap.args(wanted.into_iter().filter(is_there)))?))
    }
}

/// The constant of the message that a method handles: `BIND_APPLICATION` for `handleBindApplication`.
fn constant_of(handler: &str) -> Option<String> {
    let mut constant = String::new();
    let handled = handler.strip_prefix("handle")?;
    // Called from elsewhere, too, where the app asks for it itself.
    for letter in handled.strip_suffix("Locally").unwrap_or(handled).chars() {
        if letter.is_uppercase() && !constant.is_empty() {
            constant.push('_');
        }
        constant.extend(letter.to_uppercase());
    }
    Some(constant)
}

/// The differences between a level's classes and what is known here, as text.
///
/// # Errors
/// When the level's classes cannot be had or read.
pub fn faults(api: u32) -> Result<Vec<String>> {
    let classes = Classes::of_level(api)?;
    let mut faults = Vec::new();
    for (class, member, levels) in NAMES {
        let expected = levels.contains(&api);
        if classes.has(class, member) != expected {
            let has = if expected { "lacks" } else { "has" };
            faults.push(format!("API {api} {has} {class} {member}"));
        }
    }
    let constants = classes.0.get("android.app.ActivityThread$H");
    for (name, what) in constants.into_iter().flatten() {
        let Some(what) = *what else { continue };
        let known = activity_thread(what, api).map(|message| message.name);
        if known != Some(name.as_str()) {
            faults.push(format!("API {api} calls {what} {name}, and here it is {known:?}"));
        }
    }
    let named: BTreeMap<i32, &String> =
        constants.into_iter().flatten().filter_map(|(name, what)| Some(((*what)?, name))).collect();
    for what in 0..1_000 {
        if let Some(known) = activity_thread(what, api).filter(|_| !named.contains_key(&what)) {
            faults.push(format!("API {api} has no {} = {what}", known.name));
        }
    }
    let thread = "android.app.ActivityThread";
    for method in classes.0.get(thread).into_iter().flat_map(BTreeMap::keys) {
        let stack = [("android.os.Handler", "dispatchMessage"), (thread, method)];
        let Some(what) = component_of_stack(stack, api).and_then(|found| found.what) else { continue };
        let handled = named.get(&what).map(|name| name.as_str());
        if handled.is_none() || handled != constant_of(method).as_deref() {
            faults.push(format!("API {api}: {method} is known to handle {what}, which is {handled:?}"));
        }
    }
    for (class, member, levels) in NAMES {
        let of_component =
            matches!(*member, "" | "run") && class.starts_with("android.app.") && class.contains('$');
        if of_component && levels.contains(&api) && component(class, class).is_none() {
            faults.push(format!("{class} is of no component"));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_constants_are_read_of_what_javap_prints() {
        let text = "Compiled from \"A.java\"\npublic final class a.A<T extends a.B> extends a.C {\n  \
            public static final int ONE = 1;\n  private final java.util.Map<java.lang.String, a.B> map;\n  \
            static void f(int, long) throws a.E;\n}\ninterface a.A$I {\n  public abstract void g();\n}\n";
        let classes = Classes::parse(text);
        assert_eq!(classes.0["a.A"]["ONE"], Some(1));
        assert!(classes.has("a.A", "map") && classes.has("a.A", "f") && classes.has("a.A$I", "g"));
        assert!(classes.has("a.A", "ma*") && classes.has("a.A", "") && !classes.has("a.A", "g"));
        assert_eq!(constant_of("handleBindApplication").as_deref(), Some("BIND_APPLICATION"));
    }
}
