//! The trampolines of this machine, called as ART calls a native method.

use std::ffi::c_void;
use std::sync::Mutex;

use loopbox_poll::{Recorder, Trampoline};

type Poll = extern "C" fn(*mut c_void, *mut c_void, i64, i32);

/// What was called, in order.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Held by each test, because the tests share the trampolines.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn say(what: String) {
    SAID.lock().unwrap().push(what);
}

fn said() -> Vec<String> {
    std::mem::take(&mut SAID.lock().unwrap())
}

extern "C" fn entered(env: *mut c_void, timeout_ms: i32, _: usize) -> u32 {
    say(format!("entered {} {timeout_ms}", env as usize));
    41
}

extern "C" fn returned(env: *mut c_void, of: u32) {
    say(format!("returned {} {of}", env as usize));
}

static RECORDER: Recorder = Recorder { entered, returned };

extern "C" fn polls(env: *mut c_void, object: *mut c_void, queue: i64, timeout_ms: i32) {
    say(format!("polls {} {} {queue} {timeout_ms}", env as usize, object as usize));
}

extern "C" fn polls_too(_: *mut c_void, _: *mut c_void, _: i64, _: i32) {
    say("polls, too".to_owned());
}

fn address(poll: Poll) -> usize {
    poll as *const c_void as usize
}

fn call(trampoline: Trampoline, queue: i64, timeout_ms: i32) {
    // SAFETY: a trampoline has the signature of what it calls.
    let poll: Poll = unsafe { std::mem::transmute(trampoline.address()) };
    poll(3 as *mut c_void, 5 as *mut c_void, queue, timeout_ms);
}

#[test]
fn a_watched_queue_is_recorded_and_another_one_is_passed_on() {
    let _one = ONE_AT_A_TIME.lock();
    let trampoline = Trampoline::claim(address(polls), &RECORDER).unwrap();
    call(trampoline, 7, -1);
    assert_eq!(said(), ["polls 3 5 7 -1"], "nothing is watched");
    let large = i64::MIN + 7;
    trampoline.watch(large);
    call(trampoline, large, -1);
    assert_eq!(
        said(),
        ["entered 3 -1".to_owned(), format!("polls 3 5 {large} -1"), "returned 3 41".to_owned()]
    );
    call(trampoline, 8, i32::MAX);
    assert_eq!(said(), ["polls 3 5 8 2147483647"]);
    trampoline.rest();
    call(trampoline, large, 0);
    assert_eq!(said(), [format!("polls 3 5 {large} 0")]);
}

#[test]
fn one_that_was_claimed_goes_on_to_call_the_same_function() {
    let _one = ONE_AT_A_TIME.lock();
    let first = Trampoline::claim(address(polls), &RECORDER).unwrap();
    let second = Trampoline::claim(address(polls_too), &RECORDER).unwrap();
    assert_ne!(first, second);
    assert_eq!(Trampoline::claim(address(polls), &RECORDER), Some(first));
    assert_eq!(Trampoline::at(second.address()), Some(second));
    assert_eq!(Trampoline::at(address(polls)), None);
    // On top of one of ours it would call itself.
    assert_eq!(Trampoline::claim(first.address(), &RECORDER), None);
    call(second, 7, 0);
    call(first, 7, 0);
    assert_eq!(said(), ["polls, too", "polls 3 5 7 0"]);
    // Two are left. These are never called.
    let others: Vec<_> = (1..=3).map(|address| Trampoline::claim(address, &RECORDER)).collect();
    assert!(others[0].is_some() && others[1].is_some() && others[2].is_none(), "{others:?}");
}
