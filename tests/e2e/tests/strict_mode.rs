//! The recorder under the platform's own StrictMode: its calls may use the disk on the calling thread
//! although the app's policy forbids that, and the policy is in force again afterwards.

use anyhow::Result;
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use tempfile::tempdir;

#[test]
fn calls_use_the_disk_under_a_policy_that_forbids_it_and_leave_the_policy() -> Result<()> {
    for level in ["fw28", "fw31", "fw35", "fw37"] {
        let folder = tempdir()?;
        let app = launcher(&format!("art11-{level}"))?.app("scenario.Strict").argument("detect=disk");
        let ended =
            app.argument(format!("dir={}", folder.path().display())).start()?.finish(LIMIT)?.success()?;
        let said: Vec<&str> = ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ")).collect();
        let wanted = [
            "begin: , strict",
            "install: on, strict",
            "pendingReports: 1, strict",
            "claim: true, strict",
            "takePendingReports: 1, strict",
            "setEnabled: switched off by the app, strict",
            "refused: switched off by the app, strict",
        ];
        assert_eq!(said, wanted, "{level}: {}", ended.errors);
    }
    Ok(())
}

/// The documentation's list is in `docs/hook.md`. ART reports a member that is looked up if it is in the API
/// level's list of hidden members; the class files of level 28 come without such a list.
#[test]
fn requests_the_hidden_members_that_the_documentation_lists() -> Result<()> {
    const OBSERVER: &str = "Landroid/os/Looper;->sObserver:Landroid/os/Looper$Observer;";
    const LOGGING: &str = "Landroid/os/Looper;->mLogging:Landroid/util/Printer;";
    const NEXT: &str = "Landroid/os/Message;->next:Landroid/os/Message;";
    const MESSAGES: &str = "Landroid/os/MessageQueue;->mMessages:Landroid/os/Message;";
    const QUEUE: &str = "Landroid/os/MessageQueue;->mPtr:J";
    const POLL: &str = "Landroid/os/MessageQueue;->nativePollOnce(JI)V";
    const CALLBACK: &str = "Landroid/os/Message;->callback:Ljava/lang/Runnable;";
    const TARGET: &str = "Landroid/os/Message;->target:Landroid/os/Handler;";
    const WHEN: &str = "Landroid/os/Message;->when:J";
    let cases: [(&str, &str, &[&str]); 10] = [
        ("art10", "hook=AUTO", &[OBSERVER]),
        ("art10", "hiddenApi=NONE", &[]),
        ("art11-fw31", "hook=AUTO", &[LOGGING, NEXT, MESSAGES]),
        ("art11-fw31", "hook=POLL", &[NEXT, MESSAGES, QUEUE, POLL]),
        ("art11-fw31", "hook=POLL peek=on", &[CALLBACK, NEXT, TARGET, WHEN, MESSAGES, QUEUE, POLL]),
        ("art11-fw31", "hiddenApi=NONE", &[]),
        ("art11-fw35", "hook=AUTO", &[LOGGING, NEXT, MESSAGES]),
        ("art11-fw37", "hook=AUTO", &[LOGGING, MESSAGES]),
        ("art11-fw37", "hook=POLL", &[MESSAGES, QUEUE, POLL]),
        // The first one is refused.
        ("art11-fw37", "hook=POLL peek=on", &[MESSAGES, QUEUE, POLL]),
    ];
    for (testbed, options, wanted) in cases {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("scenario.Strict").option("--hidden-api");
        let app = options.split(' ').fold(app, lab_launch::App::argument);
        let app = app.argument("detect=members").argument(format!("dir={}", folder.path().display()));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let members: Vec<&str> =
            ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT member ")).collect();
        assert_eq!(members, wanted, "{testbed} {options}");
    }
    Ok(())
}
