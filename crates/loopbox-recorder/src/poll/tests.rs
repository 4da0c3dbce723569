//! Polls of a queue, and the messages that the rules find between them.

use super::*;

/// A simulated main thread, and the messages that the rules derive from its polls.
struct Main {
    rules: PollRules,
    stack: Option<PollStack>,
    asked: u32,
    said: Vec<&'static str>,
}

impl Dispatches for Vec<&'static str> {
    fn begin(&mut self, _: StackPointer, worked: bool) {
        self.push(if worked { "begin at once" } else { "begin" });
    }

    fn rest(&mut self) {
        self.push("rest");
    }

    fn end(&mut self) {
        self.push("end");
    }

    fn retract(&mut self) {
        self.push("retract");
    }

    fn lose(&mut self) {
        self.push("lose");
    }

    fn end_adopted(&mut self) {
        self.push("end adopted");
    }
}

/// The poll of the outermost loop. Its frames are nativePollOnce, next, loop, main.
const OUTER: PollStack = PollStack { frames: 4, idle_of: 0, loops: 1 };
const INNER: PollStack = PollStack { frames: 9, idle_of: 0, loops: 2 };
const TOP: u64 = 9_000;
const DEEP: u64 = 5_000;
const FOREVER_MS: i32 = -1;
/// The time-out of an empty queue on Android 17, which has no -1.
const LONG_MS: i32 = 600_000_000;

impl Main {
    fn new() -> Self {
        Self { rules: PollRules::new(1), stack: Some(OUTER), asked: 0, said: Vec::new() }
    }

    fn enters(&mut self, at: u64, timeout_ms: i32) -> PollLoop {
        let at = StackPointer::at(at);
        self.asked += u32::from(!self.rules.knows(at));
        self.rules.entered(at, timeout_ms, self.stack, &mut self.said)
    }

    fn returns(&mut self, of: PollLoop, threw: bool) {
        self.rules.returned(of, threw, &mut self.said);
    }

    fn polls(&mut self, at: u64, timeout_ms: i32) {
        let of = self.enters(at, timeout_ms);
        self.returns(of, false);
    }

    fn idles(&mut self, at: u64) {
        self.rules.idle(StackPointer::at(at), false, &mut self.said);
    }

    /// The events since the previous call.
    fn said(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.said)
    }
}

#[test]
fn a_poll_without_waiting_ends_a_message() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin"]);
    main.polls(TOP, 0);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["end", "begin at once", "end", "begin at once"]);
    assert_eq!(main.asked, 1, "the stack is read where the address is new");
}

#[test]
fn a_poll_that_waits_follows_nothing() {
    for timeout_ms in [FOREVER_MS, 7, LONG_MS] {
        let mut main = Main::new();
        main.polls(TOP, 0);
        main.polls(TOP, timeout_ms);
        // Woken, and there is nothing.
        main.polls(TOP, timeout_ms);
        assert_eq!(main.said(), ["begin", "retract", "begin", "retract", "begin"]);
    }
}

/// A poll that does not wait also calls callbacks of descriptors, and between two such polls idle handlers
/// may run. Both are work.
#[test]
fn a_thread_works_until_a_poll_waits() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin", "end", "begin at once"]);
    main.idles(TOP - 100);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["retract", "begin at once"]);
    main.polls(TOP, 7);
    assert_eq!(main.said(), ["retract", "rest", "begin"], "a message may have come while it waited");
    main.polls(TOP, FOREVER_MS);
    assert_eq!(main.said(), ["retract", "begin"], "it rests already");
}

#[test]
fn idle_handlers_run_in_no_message() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    main.idles(TOP - 100);
    assert_eq!(main.said(), ["begin", "retract"]);
    main.idles(TOP - 100);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin"], "what follows is a poll without waiting, too");
}

/// The hook was removed while the work that began last was running. This may have been a message, whose end
/// nobody saw.
#[test]
fn what_began_before_polls_were_missed_is_lost_and_not_taken_back() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    main.rules.idle(StackPointer::at(TOP - 100), true, &mut main.said);
    assert_eq!(main.said(), ["begin", "lose"]);
}

#[test]
fn a_loop_inside_of_a_message_is_found_by_the_java_stack() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    main.stack = Some(INNER);
    main.polls(DEEP, 0);
    main.polls(DEEP, 0);
    assert_eq!(main.said(), ["begin", "begin", "end", "begin at once"]);
    // The inner loop's method is compiled now: another address, the same loop.
    main.polls(DEEP + 300, 0);
    assert_eq!(main.said(), ["end", "begin at once"]);
    // An exception has left it. The next poll of the loop around ends both.
    main.stack = Some(OUTER);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["lose", "end", "begin at once"]);
    assert_eq!(main.asked, 4);
}

#[test]
fn a_loop_inside_of_an_idle_handler_is_in_no_message() {
    let mut main = Main::new();
    main.polls(TOP, 0);
    // Before the recorder's own handler was called.
    main.stack = Some(PollStack { idle_of: OUTER.frames, ..INNER });
    main.polls(DEEP, 0);
    main.polls(DEEP, 0);
    assert_eq!(main.said(), ["begin", "retract", "begin", "end", "begin at once"]);
    // It was left, and the recorder's handler is called in the loop around.
    main.idles(TOP - 100);
    assert_eq!(main.said(), ["lose"]);
    main.stack = Some(OUTER);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin"]);
}

#[test]
fn a_loop_inside_of_a_descriptors_callback_is_left_when_the_poll_returns() {
    let mut main = Main::new();
    let outer = main.enters(TOP, FOREVER_MS);
    main.stack = Some(INNER);
    main.polls(DEEP, 0);
    main.returns(outer, false);
    assert_eq!(main.said(), ["begin", "lose", "begin"]);
}

#[test]
fn a_poll_that_throws_runs_nothing() {
    let mut main = Main::new();
    let of = main.enters(TOP, FOREVER_MS);
    main.returns(of, true);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin"]);
}

#[test]
fn the_message_that_recording_began_in_ends_at_the_next_poll_of_its_loop() {
    let mut main = Main::new();
    main.rules.adopt(1);
    main.stack = Some(INNER);
    main.polls(DEEP, 0);
    main.polls(DEEP, 0);
    assert_eq!(main.said(), ["begin", "end", "begin at once"], "a loop inside of it");
    main.stack = Some(OUTER);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["lose", "end adopted", "begin"]);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["end", "begin at once"]);
}

#[test]
fn a_poll_of_an_earlier_recording_says_nothing() {
    let mut main = Main::new();
    let of = main.enters(TOP, FOREVER_MS);
    main.rules = PollRules::new(2);
    main.returns(of, false);
    main.returns(PollLoop::NONE, false);
    assert_eq!(main.said(), [""; 0]);
    main.polls(TOP, 0);
    assert_eq!(main.said(), ["begin"]);
}

#[test]
fn more_loops_than_there_is_room_for_are_not_recorded() {
    let mut main = Main::new();
    for depth in 0..MAX_LOOPS as u32 + 3 {
        main.stack = Some(PollStack { frames: 4 + 5 * depth, idle_of: 0, loops: depth + 1 });
        main.polls(TOP - 500 * u64::from(depth), 0);
    }
    assert_eq!(main.said(), ["begin"; MAX_LOOPS]);
    main.stack = Some(OUTER);
    main.polls(TOP, 0);
    let said = main.said();
    assert_eq!(said.iter().filter(|said| **said == "lose").count(), MAX_LOOPS - 1);
    assert_eq!(said[MAX_LOOPS - 1..], ["end", "begin at once"]);
}

#[test]
fn a_stack_that_cannot_be_had_is_taken_for_the_innermost_loop() {
    let mut main = Main::new();
    main.stack = None;
    main.polls(TOP, 0);
    main.polls(DEEP, 0);
    assert_eq!(main.said(), ["begin", "end", "begin at once"]);
}
