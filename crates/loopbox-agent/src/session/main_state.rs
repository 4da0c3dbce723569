//! What the main thread does, as far as it or the stall monitor has published that.

use super::hint::Hint;
use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::Activity;
use loopbox_store::Pair;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(crate) struct MainState {
    /// While a message runs: its token, and its start. While none runs: the token for what may run outside of
    /// messages ([`Token::outside_before`] the next message), and the end of the last message. Times are
    /// uptime.
    pub(super) now: Pair,
    /// The token of what the stall monitor has found to run outside of messages, and when it was first seen
    /// (uptime). Both are 0 while nothing is found. Valid only while `now` has the same token.
    pub(super) outside: Pair,
    /// Two numbers. The first is the token of a pause between two messages ([`Token::outside_before`] the
    /// next message). The second is how many messages had begun and not ended when this pause began, because
    /// main waited in a Looper loop inside of them. Main may have left that loop unseen since, and run one of
    /// these messages again.
    around: Pair,
    /// A message, and what is known about it without its object.
    hint: Pair,
    /// When the hook was last found removed, or a pause by the app last ended, uptime; 0 for never.
    unseen_ns: AtomicU64,
}

impl Default for MainState {
    /// The state before the first message.
    fn default() -> Self {
        let now = Pair::default();
        now.set(Token::outside_before(Token::FIRST).0, 0);
        Self {
            now,
            outside: Pair::default(),
            around: Pair::default(),
            hint: Pair::default(),
            unseen_ns: AtomicU64::default(),
        }
    }
}

impl MainState {
    /// Publishes that no message has run since `since_ns`, and that the next message will have the token
    /// `next`. Main thread only, or, without a hook, stall monitor only.
    pub(crate) fn idle(&self, next: Token, since_ns: Uptime) {
        self.now.set(Token::outside_before(next).0, since_ns.0);
    }

    /// Sets how many messages have begun and not ended when the pause before the message `next` begins.
    /// During the pause main waits in a Looper loop that one of these messages runs. When the loop returns,
    /// main goes on with that message, and no hook sees it. The number is valid until `next` begins. Main
    /// thread only, before [`idle`](Self::idle).
    pub(crate) fn set_around(&self, next: Token, messages: u32) {
        self.around.set(Token::outside_before(next).0, messages.into());
    }

    /// How many messages had begun and not ended at the start of the pause with the token `between`, in which
    /// main waited in a Looper loop that one of these messages runs. The loop may have returned since, which
    /// no hook sees. Then main goes on with that message. 0 when there are no such messages, or when their
    /// number is not known.
    pub(crate) fn around(&self, between: Token) -> u64 {
        let (of, messages) = self.around.get();
        if of == between.0 { messages } else { 0 }
    }

    /// Sets what is known about the running message. Main thread only.
    #[inline]
    pub(crate) fn set_hint(&self, token: Token, hint: Hint) {
        self.hint.set(token.0, hint.to_bits());
    }

    /// What is known of this message. Not to be called while the main thread is stopped.
    pub(crate) fn hint(&self, token: Token) -> Hint {
        let (of, hint) = self.hint.get();
        if of == token.0 { Hint::from_bits(hint) } else { Hint::default() }
    }

    /// What the main thread does. Not to be called while it is stopped.
    pub(crate) fn activity(&self) -> Activity {
        let (now, start_ns) = self.now.get();
        let token = Token(now);
        if !token.is_outside() {
            return Activity::Running { token, start_ns: Uptime(start_ns) };
        }
        match self.outside.get() {
            (found, since_ns) if found == now => Activity::Outside { token, since_ns: Uptime(since_ns) },
            _ => Activity::Idle { since_ns: Uptime(start_ns) },
        }
    }

    /// The token of the running message. While none runs, the token for what may run outside of messages
    /// ([`Token::outside_before`] the next message). May be called while the main thread is stopped.
    pub(crate) fn token(&self) -> Token {
        Token(self.now.first())
    }

    /// The token for what may run outside of messages now, and when the last message ended (0 before the
    /// first message). `None` while a message runs.
    pub(crate) fn between_messages(&self) -> Option<(Token, Uptime)> {
        let (token, since_ns) = self.now.get();
        Some((Token(token), Uptime(since_ns))).filter(|(token, _)| token.is_outside())
    }

    pub(super) fn runs_no_message(&self) -> bool {
        self.token().is_outside()
    }

    /// Notes that messages may have run unseen, from the last one that was seen until now.
    pub(crate) fn set_unseen(&self, now_ns: Uptime) {
        self.unseen_ns.store(now_ns.0, Ordering::Relaxed);
    }

    /// Whether messages may have run unseen after this uptime.
    pub(crate) fn unseen_since(&self, since_ns: Uptime) -> bool {
        let unseen_ns = self.unseen_ns.load(Ordering::Relaxed);
        unseen_ns != 0 && unseen_ns >= since_ns.0
    }

    /// The end of the time after `since_ns` in which messages may have run unseen; `None` when there is no
    /// sign of any.
    pub(crate) fn unseen_until(&self, since_ns: Uptime) -> Option<Uptime> {
        let unseen_ns = Uptime(self.unseen_ns.load(Ordering::Relaxed));
        (unseen_ns > since_ns).then_some(unseen_ns)
    }
}
