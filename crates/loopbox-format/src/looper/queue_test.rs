//! Lines of queues, as each version of Android prints them.

use super::*;
use crate::model::{PendingSource, Uptime};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

fn pending(captured_ms: u64, lines: &[&str], dropped_lines: u32) -> model::Pending {
    model::Pending {
        source: PendingSource::LooperDump,
        captured_ns: Uptime(captured_ms * 1_000_000),
        lines: lines.iter().map(|&line| line.to_owned()).collect(),
        dropped_lines,
    }
}

fn queue(captured_ms: u64, lines: &[&str]) -> Queue {
    parse_queue(&pending(captured_ms, lines, 0))
}

/// A short text for each entry of the queue, in the queue's order.
fn names(queue: &Queue) -> Vec<String> {
    let name = |pending: &Pending| match &pending.body {
        PendingBody::Barrier { token } => format!("barrier {token}"),
        PendingBody::Message { target, callback, what, .. } if callback.is_empty() => {
            format!("{target}/{what}")
        }
        PendingBody::Message { target, callback, .. } => format!("{target}/{callback}"),
    };
    queue.messages.iter().map(name).collect()
}

#[test]
fn api_21_prints_idling() {
    let read = queue(
        1_000_000,
        &[
            "Looper (main, tid 1) {3b1c2d}",
            "  Message 0: { when=-1s5ms what=3 target=com.foo.H }",
            "  (Total messages: 1, idling=true, quitting=false)",
        ],
    );
    assert_eq!(read.thread.as_deref(), Some("main"));
    assert_eq!((read.total, read.polling, read.quitting), (Some(1), Some(true), Some(false)));
    assert_eq!((read.implementation, read.unread), (Implementation::Unnamed, vec![]));
    assert_eq!(read.messages[0].overdue_ns(), 1_005_000_000);
}

#[test]
fn api_23_to_35() {
    let read = queue(
        5_000_000,
        &[
            "Looper (main, tid 2) {c0ffee}",
            "  Message 0: { when=-12s401ms barrier=17 }",
            "  Message 1: { when=-12s300ms callback=android.view.Choreographer$FrameDisplayEventReceiver target=\
             android.view.Choreographer$FrameHandler }",
            "  Message 2: { when=-11s0ms what=114 obj=CreateServiceData{className=com.foo.Sync} target=\
             android.app.ActivityThread$H }",
            "  Message 3: { when=-10s0ms what=159 obj=ClientTransaction{\n  transactionItems=[\n    a target=b\n  ]\n} \
             target=android.app.ActivityThread$H }",
            "  Message 4: { when=0 callback=com.foo.Bar$$ExternalSyntheticLambda0 arg1=1 arg2=-2 target=android.os.Handler }",
            "  Message 5: { when=+1d2h3m4s5ms what=-1 target=com.foo.H }",
            "  (Total messages: 6, polling=false, quitting=false)",
        ],
    );
    assert_eq!(
        names(&read),
        [
            "barrier 17",
            "android.view.Choreographer$FrameHandler/android.view.Choreographer$FrameDisplayEventReceiver",
            "android.app.ActivityThread$H/114",
            "android.app.ActivityThread$H/159",
            "android.os.Handler/com.foo.Bar$$ExternalSyntheticLambda0",
            "com.foo.H/-1",
        ]
    );
    assert_eq!((read.total, read.polling, read.unread.len()), (Some(6), Some(false), 0));
    let components: Vec<_> = read
        .messages
        .iter()
        .map(|pending| match pending.body {
            PendingBody::Message { component, .. } => component,
            PendingBody::Barrier { .. } => None,
        })
        .collect();
    let thread = Some(Component::ActivityThread);
    assert_eq!(components, [None, Some(Component::Frame), thread, thread, None, None]);
    let PendingBody::Message { arg1, arg2, object, .. } = &read.messages[4].body else { panic!("a message") };
    assert_eq!((*arg1, *arg2, object), (1, -2, &None));
    let PendingBody::Message { object, .. } = &read.messages[3].body else { panic!("a message") };
    assert!(object.as_deref().unwrap().contains("transactionItems"));
    assert_eq!(read.messages[5].due_in_ns, 93_784_005 * MS);
    assert_eq!((read.messages[5].overdue_ns(), read.messages[0].overdue_ns()), (0, 12_401_000_000));
}

#[test]
fn api_36_names_its_implementation() {
    let read = queue(
        9_000_000,
        &[
            "Looper (main, tid 2) {c0ffee}",
            "  (MessageQueue is using Legacy implementation)",
            "  Message 0: { when=-3ms what=1 target=com.foo.H }",
            "  (Total messages: 1, polling=false, quitting=false)",
        ],
    );
    assert_eq!((read.implementation, read.messages.len()), (Implementation::Legacy, 1));
    let read = queue(9_000_000, &["(MessageQueue is using Quantum implementation)"]);
    assert_eq!(read.implementation, Implementation::Other("Quantum".into()));
}

#[test]
fn a_concurrent_queue_has_two_lists() {
    let read = queue(
        9_000_000,
        &[
            "Looper (main, tid 2) {c0ffee}",
            "  (MessageQueue is using Concurrent implementation)",
            "  State: android.os.MessageQueue$StackNode@1f",
            "  PriorityQueue Messages: ",
            "  Message 1: { when=-3ms what=1 target=com.foo.H }",
            "  Message 2: { when=+5ms what=2 target=com.foo.H }",
            "  AsyncPriorityQueue Messages: ",
            "  Message 3: { when=-2ms what=3 target=com.foo.H }",
            "  (Total messages: 4, polling=false, quitting=false)",
        ],
    );
    // Its own count has the line of the state in it.
    assert_eq!((read.total, read.whole), (Some(3), true));
    assert_eq!(names(&read), ["com.foo.H/1", "com.foo.H/3", "com.foo.H/2"]);
    let asynchronous: Vec<_> = read.messages.iter().map(|pending| pending.asynchronous).collect();
    assert_eq!(asynchronous, [Some(false), Some(true), Some(false)]);
    assert_eq!(read.unread.len(), 0);
}

#[test]
fn messages_of_one_time_come_as_they_were_posted_to_a_concurrent_queue() {
    let read = queue(
        9_000_000,
        &[
            "  (MessageQueue is using Concurrent implementation)",
            "  Message 0: { when=-5s0ms what=4 target=com.foo.H }",
            "  Message 1: { when=-5s0ms what=3 target=com.foo.H }",
            "  State: android.os.MessageQueue$StateNode@1f",
            "  PriorityQueue Messages: ",
            "  Message 2: { when=-5s0ms barrier=1 }",
            "  Message 3: { when=-5s0ms what=2 target=com.foo.H }",
            "  AsyncPriorityQueue Messages: ",
            "  (Total messages: 5, polling=true, quitting=false)",
        ],
    );
    assert_eq!(names(&read), ["barrier 1", "com.foo.H/2", "com.foo.H/3", "com.foo.H/4"]);
}

#[test]
fn a_deli_queue_is_put_into_order_and_cleared_of_the_removed() {
    let read = queue(
        9_000_000,
        &[
            "Looper (main, tid 2) {c0ffee}",
            "  (MessageQueue is using DeliQueue implementation)",
            "  Message 0: { when=-1ms what=4 target=com.foo.H async=false heapIndex=-1 }",
            "  Message 1: { when=+20ms what=5 target=com.foo.H async=true heapIndex=2 }",
            "  Message 2: { when=-9ms callback=android.os.Message$$ExternalSyntheticLambda0 obj=java.lang.Object@1f \
             target=com.foo.H async=false heapIndex=1 }",
            "  Message 3: { when=-1ms what=3 target=com.foo.H async=false heapIndex=-1 }",
            "  Message 4: { when=-7s2ms barrier=1 async=false heapIndex=0 }",
            "  (Total messages: 5, polling=false, quitting=false)",
        ],
    );
    assert_eq!(names(&read), ["barrier 1", "com.foo.H/3", "com.foo.H/4", "com.foo.H/5"]);
    assert_eq!((read.tombstones, read.total), (1, Some(5)));
    assert_eq!(read.messages.iter().map(|pending| pending.position).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((read.messages[3].asynchronous, read.messages[1].heap_index), (Some(true), Some(-1)));
}

#[test]
fn the_front_of_the_queue_is_not_overdue() {
    // 1h2m3s4ms after boot.
    let lines =
        ["Message 0: { when=-1h2m3s4ms what=1 target=H }", "Message 1: { when=-1h0m0s0ms what=2 target=H }"];
    let read = queue(3_723_010, &lines);
    assert_eq!((read.messages[0].front, read.messages[0].overdue_ns()), (true, 0));
    assert_eq!((read.messages[1].front, read.messages[1].overdue_ns()), (false, 3_600_000_000_000));
    assert!(!queue(0, &["Message 0: { when=0 what=1 target=H }"]).messages[0].front);
}

/// The app's fast parser gives the same numbers as the full parser of the host tools.
#[test]
fn the_summary_of_any_queue() {
    let cases: [(&[&str], Option<u64>); 6] = [
        (&["Looper (main, tid 1) {3b1c2d}", "(Total messages: 0, polling=true)"], None),
        (&["  Message 0: { when=+5ms what=3 target=com.foo.H }"], None),
        (
            &[
                "  Message 0: { when=-16m40s3ms what=1 target=com.foo.H }",
                "  Message 1: { when=-2s0ms callback=a.B target=com.foo.H }",
                "  Message 2: { when=-5s21ms barrier=7 }",
                "  (Total messages: 3, polling=false, quitting=false)",
            ],
            Some(2_000),
        ),
        (&["Message 0: { when=-", "Message x: { when=-1ms }", "Message 1: { when=-7ms"], Some(7)),
        // Android 17: the newest comes first, and one was removed.
        (
            &[
                "  (MessageQueue is using DeliQueue implementation)",
                "  Message 0: { when=-1ms what=4 target=com.foo.H async=false heapIndex=-1 }",
                "  Message 1: { when=-9s0ms callback=android.os.Message$$ExternalSyntheticLambda0 target=com.foo.H \
                 async=false heapIndex=1 }",
                "  Message 2: { when=-3s0ms what=3 target=com.foo.H async=false heapIndex=0 }",
                "  (Total messages: 3, polling=false, quitting=false)",
            ],
            Some(3_000),
        ),
        // API 36, concurrent: one was removed.
        (
            &[
                "  (MessageQueue is using Concurrent implementation)",
                "  PriorityQueue Messages: ",
                "  Message 0: { when=-16m40s0ms barrier=0 }",
                "  (Total messages: 1, polling=true, quitting=false)",
            ],
            None,
        ),
    ];
    for (lines, expected_ms) in cases {
        let summary = summarize_queue(&pending(1_000_000, lines, 0));
        assert_eq!(summary.most_overdue_ns, expected_ms.map(|ms| ms * 1_000_000), "{lines:?}");
        let read = queue(1_000_000, lines);
        let messages = read.messages.iter().filter(|m| matches!(m.body, PendingBody::Message { .. }));
        let most = messages.map(Pending::overdue_ns).max().filter(|&ns| ns > 0);
        assert_eq!(most, summary.most_overdue_ns, "{lines:?}");
        assert_eq!((read.total, read.polling), (summary.total, summary.polling), "{lines:?}");
        assert_eq!(
            (read.messages.len(), read.tombstones),
            (summary.read as usize, summary.removed),
            "{lines:?}"
        );
    }
}

#[test]
fn without_its_last_line_a_queue_is_not_known_to_be_whole() {
    const LAST: &str = "(Total messages: 2, polling=false, quitting=true)";
    let two = ["Message 0: { when=-3ms what=1 target=H }", "Message 1: { when=-2ms what=2 target=H }"];
    let whole = |lines: &[&str], dropped| {
        let read = parse_queue(&pending(9_000, lines, dropped));
        let known = [read.total.is_some(), read.polling.is_some(), read.quitting.is_some()];
        assert!(
            known == [lines.contains(&LAST) || lines.len() == 1 && lines[0].starts_with("(Total"); 3],
            "{lines:?}"
        );
        read.whole
    };
    assert!(whole(&[two[0], two[1], LAST], 0));
    assert!(!whole(&two, 0), "the last line is missing");
    assert!(!whole(&[two[0], LAST], 0), "a message is missing");
    assert!(!whole(&[two[0], two[1], LAST], 1), "a line was dropped");
    assert!(!whole(&[two[0], two[1], LAST, "Loopbox: it changed while it was read"], 0), "it changed");
    assert!(!whole(&[two[0], two[1], "Message 2: { when=soon }", LAST], 0), "a message cannot be read");
    assert!(!whole(&[], 0), "nothing was read");
    assert!(whole(&["(Total messages: 0, polling=true, quitting=false)"], 0));
}

/// A queue that was read by its linked list does not show whether the thread waits.
#[test]
fn a_walked_queue_has_a_total_and_no_word_of_polling() {
    let lines = ["Message 0: { when=-3ms what=1 target=H }", "(Total messages: 900)"];
    let read = parse_queue(&pending(9_000, &lines, 899));
    assert_eq!((read.total, read.polling, read.quitting, read.whole), (Some(900), None, None, false));
    let read =
        parse_queue(&pending(9_000, &["Message 0: { when=-3ms what=1 target=H }", "(Total messages: 1)"], 0));
    assert!(read.whole && !read.disturbed);
}

#[test]
fn the_head_is_found_in_any_order() {
    let lines = [
        "Message 2: { when=+2ms what=3 target=H }",
        "Message 1: { when=-2s0ms what=2 target=H }",
        "Message 0: { when=-4s0ms barrier=7 }",
    ];
    for last in ["Legacy", "Concurrent", "DeliQueue", "Quantum"] {
        let named = format!("(MessageQueue is using {last} implementation)");
        let read = queue(9_000_000, &[&named, lines[0], lines[1], lines[2]]);
        assert_eq!(names(&read), ["barrier 7", "H/2", "H/3"], "{last}");
        assert_eq!((read.total, read.polling), (None, None), "{last}");
    }
}

#[test]
fn a_removed_message_is_no_barrier() {
    // 2h after boot: the removed one has a `when` of 0.
    let lines = [
        "(MessageQueue is using Concurrent implementation)",
        "PriorityQueue Messages: ",
        "Message 0: { when=-2h0m0s0ms barrier=0 }",
        "Message 1: { when=-5s0ms barrier=0 }",
        "Message 2: { when=-4ms what=2 target=H }",
        "Message 3: { when=-4ms what=1 target=H }",
        "(Total messages: 4, polling=true, quitting=false)",
    ];
    let read = queue(7_200_000, &lines);
    assert_eq!(
        (names(&read), read.tombstones, read.whole),
        (vec!["barrier 0".into(), "H/2".into(), "H/1".into()], 1, true)
    );
}

#[test]
fn what_is_not_understood_is_kept_within_bounds() {
    let mut lines =
        vec!["words of a ROM", "  Message x: { when=0 }", "Message 1: { when=soon }", "", "Looper (odd"];
    let read = queue(1, &lines);
    assert_eq!(
        read.unread,
        ["words of a ROM", "  Message x: { when=0 }", "Message 1: { when=soon }", "Looper (odd"]
    );
    lines.extend(["more words"; 100]);
    let read = queue(1, &lines);
    assert_eq!((read.unread.len(), read.more_unread), (50, 54));
}

#[test]
fn any_prefix_and_a_thread_of_any_name() {
    let read = queue(9_000, &["ANR> Looper (a, tid 7, tid 12) {1f}", ">   Looper (x, tid 3) {2}"]);
    assert_eq!(read.thread, None, "a prefix of words is not one that Looper.dump was given");
    let read = queue(9_000, &["\tLooper (a, tid 7, tid 12) {1f}"]);
    assert_eq!(read.thread.as_deref(), Some("a, tid 7"));
}

proptest! {
    #[test]
    fn any_lines_are_read(
        lines in prop::collection::vec("(  Message [0-9]{1,2}: )?(\\{ when=-[0-9]{1,12}(d|ms) )?\\PC{0,40}", 0..20),
        captured_ns in any::<u64>(),
    ) {
        let read = parse_queue(&model::Pending {
            source: PendingSource::LooperDump,
            captured_ns: Uptime(captured_ns),
            lines: lines.clone(),
            dropped_lines: 0,
        });
        prop_assert!(read.messages.len() + read.unread.len() <= lines.len());
    }

    #[test]
    fn each_message_written_is_read(
        messages in prop::collection::vec((-9_999_i64..9_999, any::<i32>(), any::<bool>(), "[a-z .=}]{0,12}"), 0..20),
    ) {
        let lines = messages.iter().enumerate().map(|(number, (due, what, newer, object))| {
            let due = match due {
                0 => "0".into(),
                1..=999 => format!("+{due}ms"),
                -999..=-1 => format!("{due}ms"),
                _ => format!("{}{}s{}ms", if *due > 0 { '+' } else { '-' }, due.abs() / 1_000, due.abs() % 1_000),
            };
            let object = if object.is_empty() { String::new() } else { format!(" obj={object}") };
            let newer = if *newer { " async=true heapIndex=-1" } else { "" };
            format!("  Message {number}: {{ when={due} what={what}{object} target=a.B{newer} }}")
        });
        let read = parse_queue(&model::Pending {
            source: PendingSource::LooperDump,
            captured_ns: Uptime::ZERO,
            lines: lines.collect(),
            dropped_lines: 0,
        });
        let back: Vec<_> = read.messages.iter().map(|pending| match &pending.body {
            PendingBody::Message { what, target, object, .. } => {
                assert_eq!(target, "a.B");
                (pending.due_in_ns / MS, *what, pending.asynchronous.is_some(), object.clone().unwrap_or_default())
            }
            PendingBody::Barrier { .. } => panic!("no barrier was written"),
        }).collect();
        let mut in_order = messages;
        in_order.sort_by_key(|(due, ..)| *due);
        prop_assert_eq!(back, in_order);
    }
}
