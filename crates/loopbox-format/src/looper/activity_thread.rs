//! The messages of `android.app.ActivityThread$H`: component life cycles, identified by their `what`.

/// The time-outs of the system that can apply while a component message waits or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnrClass {
    /// An activity's life cycle. The system sets no time-out for it, but input waits for it, and input has
    /// one.
    Input,
    /// A broadcast receiver.
    Broadcast,
    /// A service's creation, start, binding or end.
    Service,
    /// Publishing a content provider.
    Provider,
    /// The start of the process until its application is bound.
    ProcessStart,
    /// A service that was started as one in the foreground, until it calls `startForeground`.
    ForegroundStart,
    /// A foreground service that must stop.
    ShortService,
    /// An operation of a scheduled job.
    Job,
}

/// How long the system waits before it reports an ANR, in milliseconds; AOSP's values, before
/// `Build.HW_TIMEOUT_MULTIPLIER` (API 31 and newer) and a vendor's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// For a component in the foreground.
    pub foreground_ms: u64,
    /// For a component in the background.
    pub background_ms: u64,
}

impl AnrClass {
    /// The system's time-out on this API level; `None` where exceeding it is no ANR.
    ///
    /// `ActivityManagerService`, `ActiveServices`, `ActivityManagerConstants`, `JobServiceContext` of AOSP's
    /// `services/core/java/com/android/server` and `apex/jobscheduler`, android-5.0.0_r1 to
    /// android-16.0.0_r1.
    pub fn timeout(self, api_level: u32) -> Option<Timeout> {
        let (foreground_s, background_s) = match self {
            Self::Input => (5, 5),
            Self::Broadcast => (10, 60),
            Self::Service => (20, 200),
            Self::ProcessStart if api_level >= 36 => (15, 15),
            Self::Provider | Self::ProcessStart => (10, 10),
            Self::ForegroundStart if api_level >= 33 => (30, 30),
            Self::ForegroundStart if api_level >= 28 => (10, 10),
            Self::ForegroundStart if api_level >= 26 => (5, 5),
            Self::ShortService if api_level >= 34 => (190, 190),
            Self::Job if api_level >= 34 => (8, 8),
            Self::ForegroundStart | Self::ShortService | Self::Job => return None,
        };
        Some(Timeout { foreground_ms: foreground_s * 1_000, background_ms: background_s * 1_000 })
    }
}

/// The kind of time-out that applies to a message of `ActivityThread$H`; `None` for a message without a
/// time-out, and for one to which only the time-out of input applies. The app uses this function, because it
/// has no table of names. The meaning of these numbers never changed (API 21 to 36).
pub fn component_anr_class(what: i32) -> Option<AnrClass> {
    match what {
        110 => Some(AnrClass::ProcessStart),
        113 => Some(AnrClass::Broadcast),
        114 | 115 | 116 | 121 | 122 => Some(AnrClass::Service),
        145 => Some(AnrClass::Provider),
        _ => None,
    }
}

/// A message of `ActivityThread$H`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentMessage {
    /// The name of the constant in `ActivityThread.H`.
    pub name: &'static str,
    /// The time-out that applies to it, if any.
    pub anr: Option<AnrClass>,
}

/// The meaning of `what` in `ActivityThread$H` on an API level; the newest meaning when the level is 0, which
/// means unknown. `None` for a number that AOSP does not use there; vendors have added some.
pub fn activity_thread(what: i32, api_level: u32) -> Option<ComponentMessage> {
    let known = |row: &&Row| row.what == what && (api_level == 0 || (row.from..=row.to).contains(&api_level));
    let row = ROWS.iter().rev().find(known)?;
    Some(ComponentMessage { name: row.name, anr: row.anr })
}

struct Row {
    what: i32,
    name: &'static str,
    from: u32,
    to: u32,
    anr: Option<AnrClass>,
}

/// Stands for the last API level of a message that still exists on the newest API level that is known.
const NOW: u32 = u32::MAX;
const ALL: (u32, u32) = (21, NOW);
/// The first and the last API level of the life-cycle messages that `EXECUTE_TRANSACTION` replaced.
const OLD: (u32, u32) = (21, 27);

const fn row(what: i32, name: &'static str, levels: (u32, u32), anr: Option<AnrClass>) -> Row {
    Row { what, name, from: levels.0, to: levels.1, anr }
}

/// From `ActivityThread.java` of API 21 to 36, and its class file of 37. For a number with two meanings the
/// newer one comes later.
#[rustfmt::skip]
const ROWS: &[Row] = &{
    use AnrClass::{Broadcast, Input, ProcessStart, Provider, Service, ShortService};
    [
        row(100, "LAUNCH_ACTIVITY", OLD, Some(Input)),
        row(101, "PAUSE_ACTIVITY", OLD, Some(Input)),
        row(102, "PAUSE_ACTIVITY_FINISHING", OLD, Some(Input)),
        row(103, "STOP_ACTIVITY_SHOW", OLD, Some(Input)),
        row(104, "STOP_ACTIVITY_HIDE", OLD, Some(Input)),
        row(105, "SHOW_WINDOW", OLD, Some(Input)),
        row(106, "HIDE_WINDOW", OLD, Some(Input)),
        row(107, "RESUME_ACTIVITY", OLD, Some(Input)),
        row(108, "SEND_RESULT", OLD, Some(Input)),
        row(109, "DESTROY_ACTIVITY", OLD, Some(Input)),
        row(110, "BIND_APPLICATION", ALL, Some(ProcessStart)),
        row(111, "EXIT_APPLICATION", ALL, None),
        row(112, "NEW_INTENT", OLD, Some(Input)),
        row(113, "RECEIVER", ALL, Some(Broadcast)),
        row(114, "CREATE_SERVICE", ALL, Some(Service)),
        row(115, "SERVICE_ARGS", ALL, Some(Service)),
        row(116, "STOP_SERVICE", ALL, Some(Service)),
        row(118, "CONFIGURATION_CHANGED", ALL, None),
        row(119, "CLEAN_UP_CONTEXT", ALL, None),
        row(120, "GC_WHEN_IDLE", ALL, None),
        row(121, "BIND_SERVICE", ALL, Some(Service)),
        row(122, "UNBIND_SERVICE", ALL, Some(Service)),
        row(123, "DUMP_SERVICE", ALL, None),
        row(124, "LOW_MEMORY", ALL, None),
        row(125, "ACTIVITY_CONFIGURATION_CHANGED", OLD, Some(Input)),
        row(126, "RELAUNCH_ACTIVITY", OLD, Some(Input)),
        row(127, "PROFILER_CONTROL", ALL, None),
        row(128, "CREATE_BACKUP_AGENT", ALL, None),
        row(129, "DESTROY_BACKUP_AGENT", ALL, None),
        row(130, "SUICIDE", ALL, None),
        row(131, "REMOVE_PROVIDER", ALL, None),
        row(132, "ENABLE_JIT", (21, 28), None),
        row(133, "DISPATCH_PACKAGE_BROADCAST", ALL, None),
        row(134, "SCHEDULE_CRASH", ALL, None),
        row(135, "DUMP_HEAP", ALL, None),
        row(136, "DUMP_ACTIVITY", ALL, None),
        row(137, "SLEEPING", ALL, None),
        row(138, "SET_CORE_SETTINGS", ALL, None),
        row(139, "UPDATE_PACKAGE_COMPATIBILITY_INFO", ALL, None),
        row(140, "TRIM_MEMORY", OLD, None),
        row(141, "DUMP_PROVIDER", ALL, None),
        row(142, "UNSTABLE_PROVIDER_DIED", ALL, None),
        row(143, "REQUEST_ASSIST_CONTEXT_EXTRAS", ALL, None),
        row(144, "TRANSLUCENT_CONVERSION_COMPLETE", ALL, None),
        row(145, "INSTALL_PROVIDER", ALL, Some(Provider)),
        row(146, "ON_NEW_ACTIVITY_OPTIONS", (21, 34), None),
        row(146, "ON_NEW_SCENE_TRANSITION_INFO", (35, NOW), None),
        row(147, "CANCEL_VISIBLE_BEHIND", (21, 26), None),
        row(148, "BACKGROUND_VISIBLE_BEHIND_CHANGED", (21, 26), None),
        row(149, "ENTER_ANIMATION_COMPLETE", ALL, None),
        row(150, "START_BINDER_TRACKING", (24, NOW), None),
        row(151, "STOP_BINDER_TRACKING_AND_DUMP", (24, NOW), None),
        row(152, "MULTI_WINDOW_MODE_CHANGED", (24, 27), None),
        row(153, "PICTURE_IN_PICTURE_MODE_CHANGED", (24, 27), None),
        row(154, "LOCAL_VOICE_INTERACTION_STARTED", (24, NOW), None),
        row(155, "ATTACH_AGENT", (26, NOW), None),
        row(156, "APPLICATION_INFO_CHANGED", (26, NOW), None),
        row(157, "ACTIVITY_MOVED_TO_DISPLAY", (26, 27), None),
        row(158, "RUN_ISOLATED_ENTRY_POINT", (28, NOW), None),
        row(159, "EXECUTE_TRANSACTION", (28, NOW), Some(Input)),
        row(160, "RELAUNCH_ACTIVITY", (28, NOW), Some(Input)),
        row(161, "PURGE_RESOURCES", (29, NOW), None),
        row(162, "ATTACH_STARTUP_AGENTS", (30, NOW), None),
        row(163, "UPDATE_UI_TRANSLATION_STATE", (31, NOW), None),
        row(164, "SET_CONTENT_CAPTURE_OPTIONS_CALLBACK", (31, NOW), None),
        row(165, "DUMP_GFXINFO", (31, NOW), None),
        row(166, "DUMP_RESOURCES", (33, NOW), None),
        row(167, "TIMEOUT_SERVICE", (34, NOW), Some(ShortService)),
        row(168, "PING", (34, NOW), None),
        row(170, "INSTRUMENT_WITHOUT_RESTART", (31, NOW), None),
        row(171, "FINISH_INSTRUMENTATION_WITHOUT_RESTART", (31, NOW), None),
        row(172, "TIMEOUT_SERVICE_FOR_TYPE", (35, NOW), None),
        row(173, "REQUEST_HANDOFF_ACTIVITY_DATA", (37, NOW), None),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    fn name(what: i32, api_level: u32) -> Option<&'static str> {
        activity_thread(what, api_level).map(|message| message.name)
    }

    #[test]
    fn a_number_means_what_its_level_says() {
        assert_eq!(name(100, 27), Some("LAUNCH_ACTIVITY"));
        assert_eq!(name(100, 28), None);
        assert_eq!(name(159, 27), None);
        assert_eq!(name(159, 29), Some("EXECUTE_TRANSACTION"));
        assert_eq!(name(146, 34), Some("ON_NEW_ACTIVITY_OPTIONS"));
        assert_eq!(name(146, 35), Some("ON_NEW_SCENE_TRANSITION_INFO"));
        assert_eq!(name(146, 0), Some("ON_NEW_SCENE_TRANSITION_INFO"));
        assert_eq!(name(100, 0), Some("LAUNCH_ACTIVITY"));
        assert_eq!((name(117, 30), name(169, 36), name(2_000, 26), name(-1, 0)), (None, None, None, None));
    }

    #[test]
    fn each_level_has_as_many_messages_as_its_source() {
        // Counted in the constants of `ActivityThread.H`.
        for (level, count) in [(21, 49), (24, 54), (36, 51)] {
            let known = (90..200).filter(|&what| activity_thread(what, level).is_some()).count();
            assert_eq!(known, count, "level {level}");
        }
    }

    #[test]
    fn the_apps_short_table_agrees_with_the_names() {
        for level in 21..=36 {
            for what in 90..200 {
                let named = activity_thread(what, level).and_then(|message| message.anr);
                let expected =
                    named.filter(|class| !matches!(class, AnrClass::Input | AnrClass::ShortService));
                assert_eq!(component_anr_class(what), expected, "{what} on {level}");
            }
        }
    }

    #[test]
    fn component_messages_are_under_their_clock() {
        let anr = |what, level| activity_thread(what, level).and_then(|message| message.anr);
        assert_eq!(anr(113, 30), Some(AnrClass::Broadcast));
        assert_eq!(
            AnrClass::Broadcast.timeout(30),
            Some(Timeout { foreground_ms: 10_000, background_ms: 60_000 })
        );
        assert_eq!(anr(114, 21).and_then(|class| class.timeout(21)).map(|t| t.background_ms), Some(200_000));
        assert_eq!(AnrClass::ProcessStart.timeout(35).map(|t| t.foreground_ms), Some(10_000));
        assert_eq!(AnrClass::ProcessStart.timeout(36).map(|t| t.foreground_ms), Some(15_000));
        assert_eq!(AnrClass::Job.timeout(33), None);
        let start = [25, 26, 27, 28, 32, 33, 36].map(|level| AnrClass::ForegroundStart.timeout(level));
        let start = start.map(|time| time.map_or(0, |time| time.foreground_ms / 1_000));
        assert_eq!(start, [0, 5, 5, 10, 10, 30, 30]);
        assert_eq!(anr(118, 36), None);
    }
}
