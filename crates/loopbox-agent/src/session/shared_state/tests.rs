//! Threads that publish, sleep and wake each other.

use super::*;
use loopbox_format::model::{Token, Uptime};
use std::sync::Arc;

#[test]
fn a_reader_never_sees_halves_of_two_messages() {
    let shared = Arc::new(SharedState::default());
    let reader = std::thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let mut seen = Token::NONE;
            // A thread that comes late finds the last message.
            while seen == Token::NONE || !shared.stopped() {
                if let Activity::Running { token, start_ns } = shared.main.activity() {
                    assert_eq!(start_ns, Uptime(token.0 * 10));
                    seen = token;
                }
            }
            seen
        }
    });
    let mut token = 0;
    while token < 200_000 {
        token += 1;
        shared.running(Token(token), Uptime(token * 10));
        if token % 3 == 0 {
            shared.main.idle(Token(token + 1), Uptime(7));
        }
    }
    shared.running(Token(200_001), Uptime(2_000_010));
    while !matches!(shared.main.activity(), Activity::Running { token: Token(200_001), .. }) {}
    shared.stop();
    assert!(reader.join().unwrap() > Token::NONE);
}

#[test]
fn a_parked_sampler_is_woken_by_the_next_message() {
    let shared = Arc::new(SharedState::default());
    let sampler = std::thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let mut rounds = 0;
            while !shared.stopped() {
                while shared.main.runs_no_message() && !shared.stopped() {
                    shared.park();
                }
                rounds += 1;
                shared.main.idle(Token(1), Uptime::ZERO);
            }
            rounds
        }
    });
    for token in 1..2_000 {
        shared.running(Token(token), Uptime::ZERO);
        while !shared.main.runs_no_message() {
            std::hint::spin_loop();
        }
    }
    shared.stop();
    assert!(sampler.join().unwrap() >= 1_999);
}

#[test]
fn what_was_found_outside_of_messages_holds_until_the_next_one() {
    let shared = SharedState::default();
    assert_eq!(shared.main.activity(), Activity::Idle { since_ns: Uptime::ZERO });
    let token = Token::outside_before(Token(1));
    assert_eq!(shared.main.token(), token);
    shared.set_outside(token, Uptime(30));
    assert_eq!(shared.main.activity(), Activity::Outside { token, since_ns: Uptime(30) });
    shared.park();
    shared.running(Token(1), Uptime(40));
    assert_eq!(shared.main.activity(), Activity::Running { token: Token(1), start_ns: Uptime(40) });
    shared.main.idle(Token(2), Uptime(50));
    assert_eq!(shared.main.activity(), Activity::Idle { since_ns: Uptime(50) });
    shared.set_outside(Token::outside_before(Token(2)), Uptime(60));
    shared.set_outside(Token::NONE, Uptime::ZERO);
    assert_eq!(shared.main.activity(), Activity::Idle { since_ns: Uptime(50) });
}

#[test]
fn a_stack_is_ordered_of_who_takes_orders_and_waited_for_until_it_is_done() {
    let shared = SharedState::default();
    assert_eq!(shared.order_stack(), None);
    shared.sampler.set_takes_orders(true);
    let first = shared.order_stack().unwrap();
    assert_eq!(shared.sampler.open_order(), Some(first));
    assert!(!shared.sampler.is_done(first));
    shared.park();
    shared.sampler.finish_order(first);
    assert!(shared.sampler.is_done(first) && shared.sampler.open_order().is_none());
    let second = shared.order_stack().unwrap();
    shared.end_sampling();
    assert!(shared.sampler.is_done(second) && shared.order_stack().is_none());
}

#[test]
fn a_signal_is_forwarded_by_one_thread_and_keeps_the_stall_monitor_awake() {
    let shared = SharedState::default();
    assert!(!shared.take_signal());
    shared.signal_arrived(Uptime(7));
    shared.signal_arrived(Uptime(8));
    assert_eq!(shared.signal_since_ns(), Some(Uptime(7)), "the oldest is the one that is late");
    shared.park_stall_monitor(shared.main.token());
    assert_eq!((shared.take_signal(), shared.take_signal()), (true, false));
}

#[test]
fn the_worst_lateness_is_taken_once() {
    let shared = SharedState::default();
    assert_eq!(shared.pace.take_late_ns(), None);
    shared.pace.record_late(0);
    assert_eq!(shared.pace.take_late_ns(), Some(0));
    shared.pace.record_late(5);
    shared.pace.record_late(3);
    assert_eq!((shared.pace.take_late_ns(), shared.pace.take_late_ns()), (Some(5), None));
}

#[test]
fn the_stall_monitor_does_not_park_after_a_message_that_it_has_not_checked() {
    let shared = SharedState::default();
    let checked = shared.main.token();
    // Between its check and its sleep; nothing else would ever wake it.
    shared.running(Token(1), Uptime(10));
    shared.main.idle(Token(2), Uptime(20));
    shared.park_stall_monitor(checked);
}

#[test]
fn messages_around_a_loop_are_known_until_the_next_one_begins() {
    let shared = SharedState::default();
    let between = |next| Token::outside_before(Token(next));
    shared.main.set_around(Token(3), 1);
    shared.main.idle(Token(3), Uptime(10));
    assert_eq!((shared.main.around(between(3)), shared.main.around(between(4))), (1, 0));
    assert_eq!(
        shared.main.activity(),
        Activity::Idle { since_ns: Uptime(10) },
        "none of them counts as running"
    );
    // The loop was left.
    shared.set_outside(between(3), Uptime(20));
    assert_eq!(shared.main.activity(), Activity::Outside { token: between(3), since_ns: Uptime(20) });
    let _ = shared.running(Token(3), Uptime(30));
    shared.main.idle(Token(4), Uptime(40));
    assert_eq!(shared.main.around(shared.main.token()), 0, "of another message nothing is known");
}

/// Parks the sampler on another thread, and returns when `event` has woken it.
fn park_until(shared: &Arc<SharedState>, event: impl FnOnce(&SharedState)) {
    let monitor = std::thread::spawn({
        let shared = Arc::clone(shared);
        move || {
            // The kernel may end a sleep early, which says nothing.
            while !shared.hook.may_miss_messages() {
                shared.park_stall_monitor(shared.main.token());
            }
        }
    });
    while shared.parked.load(Ordering::SeqCst) & STALL_MONITOR == 0 {
        std::thread::yield_now();
    }
    event(shared);
    monitor.join().unwrap();
}

#[test]
fn the_stall_monitor_does_not_sleep_while_no_hook_is_relied_on() {
    let shared = Arc::new(SharedState::default());
    assert!(!shared.hook.may_miss_messages());
    park_until(&shared, |shared| shared.set_hooked(false));
    // Between its check and its sleep, too.
    shared.park_stall_monitor(shared.main.token());
    shared.set_hooked(true);
    assert!(!shared.hook.may_miss_messages(), "the hook is back");
    park_until(&shared, |shared| shared.rely_on_hook_from(Uptime::MAX));
    shared.park_stall_monitor(shared.main.token());
    shared.set_hooked(true);
    assert!(shared.hook.may_miss_messages(), "it may be taken again");
    shared.rely_on_hook_from(Uptime(1));
    assert!(!shared.hook.may_miss_messages());
}

#[test]
fn the_stall_monitor_sleeps_while_the_app_has_paused_the_recorder() {
    let shared = Arc::new(SharedState::default());
    shared.set_paused(true, Uptime(1));
    shared.set_hooked(false);
    let awake = Arc::new(AtomicBool::default());
    let monitor = std::thread::spawn({
        let (shared, awake) = (Arc::clone(&shared), Arc::clone(&awake));
        move || {
            while shared.is_paused() {
                shared.park_stall_monitor(shared.main.token());
            }
            awake.store(true, Ordering::SeqCst);
        }
    });
    while shared.parked.load(Ordering::SeqCst) & STALL_MONITOR == 0 {
        std::thread::yield_now();
    }
    assert!(!awake.load(Ordering::SeqCst));
    shared.set_paused(false, Uptime(2));
    monitor.join().unwrap();
}

#[test]
fn a_paused_sampler_sleeps_in_the_middle_of_a_message_and_is_woken_for_what_is_wanted() {
    let shared = Arc::new(SharedState::default());
    shared.sampler.set_takes_orders(true);
    let _ = shared.running(Token(1), Uptime(10));
    assert_eq!(shared.activity(), Activity::Running { token: Token(1), start_ns: Uptime(10) });
    shared.set_paused(true, Uptime(20));
    assert_eq!(shared.activity(), Activity::Paused);
    // Each of these ends its sleep.
    let events: [fn(&SharedState); 4] = [
        |shared| assert!(shared.order_stack().is_some()),
        |shared| shared.notify_query(),
        |shared| shared.switch(false),
        |shared| shared.set_paused(false, Uptime(30)),
    ];
    for event in events {
        let sampler = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let wanted = |shared: &SharedState| {
                    shared.sampler.open_order().is_some()
                        || shared.sampler.take_query()
                        || shared.sampler.is_off()
                        || !shared.is_paused()
                };
                while !wanted(&shared) {
                    shared.sleep_while_paused();
                }
            }
        });
        event(&shared);
        sampler.join().unwrap();
        if let Some(order) = shared.sampler.open_order() {
            shared.sampler.finish_order(order);
        }
        shared.switch(true);
    }
    assert!(!shared.is_paused());
    shared.sleep_while_paused();
}

#[test]
fn what_was_found_without_a_hook_stays_so_while_it_lasts() {
    let shared = SharedState::default();
    shared.set_hooked(false);
    shared.set_outside(shared.main.token(), Uptime(5));
    shared.set_hooked(true);
    assert!(shared.hook.was_found_unhooked());
    shared.set_outside(shared.main.token(), Uptime(9));
    assert!(!shared.hook.was_found_unhooked());
}
