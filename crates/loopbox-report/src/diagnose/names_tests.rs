//! The name of a message that a library dispatches, and the method that a verdict names.

use super::Confidence;
use super::tests::{calm, diagnosis, evidence, expect};
use crate::json::ReportView;
use crate::test_support::ReportBuilder;
use crate::{Analysis, text};
use loopbox_format::model::Token;

const RX: &str = "android.os.Handler.handleCallback \
                  io.reactivex.rxjava3.android.schedulers.HandlerScheduler$ScheduledRunnable.run \
                  io.reactivex.rxjava3.internal.observers.LambdaObserver.onNext com.shop.Feed$2.accept:12 \
                  java.util.regex.Pattern.compile java.util.regex.Pattern.atom";
const DISPATCHED: &str = "io.reactivex.rxjava3.android.schedulers.HandlerScheduler$ScheduledRunnable";
const NAME: &str = "com.shop.Feed$2.accept, by io.reactivex.rxjava3.android.schedulers.\
                    HandlerScheduler$ScheduledRunnable on android.os.Handler";

/// A message of 3 s and the running message after it, both dispatched by Rx.
fn by_rx() -> ReportBuilder {
    let report = calm().single("android.os.Handler", 3_000, 2_900);
    let token = report.clone().build().report.history.last().unwrap().first_token.0;
    let report = report.with(|r| {
        let message = r.history.last_mut().unwrap().details[0].message.as_mut().unwrap();
        message.callback = DISPATCHED.into();
    });
    let report = report.running(99, 4_000).doing("android.os.Handler", DISPATCHED, 3_900);
    report.looper_tree(token, &[(RX, 290)]).looper_tree(99, &[(RX, 390)])
}

#[test]
fn names_of_a_message_are_one_in_history_running_and_verdict() {
    let v = expect(by_rx(), "current-slow", Confidence::High);
    assert!(evidence(&v).contains(&format!("it is message #99 ({NAME})")), "{v:#?}");
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Feed$2.accept(Feed.java:12)"));
    let past = v.causes.iter().find(|cause| cause.rule == "history").unwrap();
    assert!(past.evidence[0].contains(&format!("({NAME}) ended")), "{v:#?}");
    let a = Analysis::new(&by_rx().build());
    let shown = text::show(&a, &v, text::Options { full: false });
    let shown = anstream::adapter::strip_str(&shown).to_string();
    assert_eq!(shown.matches(NAME).count(), 3, "verdict, history and now: {shown}");
    let json = serde_json::to_value(ReportView::new(&a, &v)).unwrap();
    let now = &json["current"]["message"];
    assert_eq!(now["by_stacks"], "com.shop.Feed$2.accept");
    assert_eq!((&now["callback"], &now["target"]), (&DISPATCHED.into(), &"android.os.Handler".into()));
}

#[test]
fn names_stay_as_they_are_where_they_say_as_much() {
    let own = "android.os.Handler.handleCallback com.shop.A$1.run com.shop.A.a";
    for (target, callback, stack, name) in [
        ("android.os.Handler", "com.shop.A$1", own, "com.shop.A$1 on android.os.Handler"),
        ("android.os.Handler", "com.shop.A$1.run", own, "com.shop.A$1.run on android.os.Handler"),
        ("com.shop.H", "", "com.shop.H.handleMessage com.shop.A.a", "com.shop.H what=0"),
        (
            "android.os.Handler",
            "com.shop.R",
            "android.os.Handler.handleCallback java.lang.Thread.sleep!",
            "com.shop.R",
        ),
    ] {
        let report =
            calm().running(99, 4_000).doing(target, callback, 3_900).looper_tree(99, &[(stack, 390)]);
        let a = Analysis::new(&report.build());
        let title = a.title_of(Token(99), a.running().unwrap().message.as_ref()).unwrap();
        assert!(title.starts_with(name), "{title}");
    }
}

#[test]
fn names_of_what_took_the_time_are_the_apps_not_the_librarys() {
    let report =
        (0..30).fold(ReportBuilder::new(), |report, _| report.single("android.os.Handler", 280, 270));
    let tokens: Vec<u64> = report.clone().build().report.history.iter().map(|r| r.first_token.0).collect();
    let report = report.with(|r| {
        let details = r.history.iter_mut().flat_map(|record| &mut record.details);
        details.for_each(|detail| detail.message.as_mut().unwrap().callback = DISPATCHED.into());
    });
    let report = tokens.iter().fold(report, |report, &token| report.looper_tree(token, &[(RX, 25)]));
    let v = diagnosis(report.running(99, 20));
    assert!(evidence(&v).contains("most time went to com.shop.Feed$2.accept ("), "{v:#?}");
}

#[test]
fn culprit_of_a_wait_for_a_monitor_is_the_app_that_calls_a_class_of_java() {
    let stack = "com.shop.Cart.total:7 java.util.Hashtable.get:381";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &[(stack, 540)]);
    let v = expect(report.clone().watched(5_500, 0), "lock", Confidence::High);
    assert!(v.headline.ends_with("a monitor in Hashtable.get, called from Cart.total"), "{}", v.headline);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Cart.total(Cart.java:7)"));
    let v = expect(
        report.waits_for("java.util.Hashtable", "sync", "com.shop.Sync.run:9"),
        "lock",
        Confidence::High,
    );
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Cart.total(Cart.java:7)"));
}

#[test]
fn culprit_is_no_method_that_a_compiler_made() {
    let stack = "com.shop.Cart$1.run:3 com.shop.Cart.-$$Nest$mtotal:0 java.util.ArrayList.sort:5";
    let report = calm().running(99, 5_500).looper_tree(99, &[(stack, 540)]);
    let v = expect(report, "current-slow", Confidence::High);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Cart$1.run(Cart.java:3)"));
}
