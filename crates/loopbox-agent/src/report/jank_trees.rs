//! Finds the stacks that show what delayed a display frame.

use loopbox_format::model::{JankFrame, JankPlace, StackTree, Token};

/// The token of the tree in `kept` that shows why the frame was on the display for too long. `None` if no
/// tree shows that.
pub(super) fn tree_of(jank: &JankFrame, kept: &[StackTree]) -> Option<Token> {
    if jank.place == Some(JankPlace::OutsideOfMessages) {
        // Its message explains nothing, though it may have stacks: it has just taken long enough for one.
        let stood = jank.frame_time_ns..jank.frame_time_ns.plus(jank.duration_ns);
        let meanwhile = |tree: &&StackTree| tree.token.is_outside() && stood.contains(&tree.start_ns);
        return kept.iter().find(meanwhile).map(|tree| tree.token);
    }
    // The longer of the two messages first: it is the one that may have explained it.
    let (own, other) = ((jank.own_ns, jank.own_token), (jank.other_ns, jank.other_token));
    let messages = if own < other { [other, own] } else { [own, other] };
    let mut tokens = messages.into_iter().filter_map(|(_, token)| token);
    tokens.find(|token| kept.iter().any(|tree| tree.token == *token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{StackSource, Uptime};

    fn tree(token: Token, start_ns: u64) -> StackTree {
        StackTree {
            token,
            start_ns: Uptime(start_ns),
            source: StackSource::Art,
            phases: Vec::new(),
            sample_deltas_ns: vec![1],
            nodes: Vec::new(),
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        }
    }

    fn jank(place: JankPlace) -> JankFrame {
        JankFrame {
            frame_time_ns: Uptime(1000),
            duration_ns: 500,
            own_token: Some(Token(42)),
            own_ns: Some(40),
            other_token: Some(Token(43)),
            other_ns: Some(60),
            place: Some(place),
            ..JankFrame::default()
        }
    }

    #[test]
    fn the_longer_message_that_has_stacks_is_shown() {
        let both = [tree(Token(42), 1400), tree(Token(43), 1450)];
        let jank = jank(JankPlace::OtherMessage);
        assert_eq!(tree_of(&jank, &both), Some(Token(43)));
        assert_eq!(tree_of(&jank, &both[..1]), Some(Token(42)));
        assert_eq!(tree_of(&jank, &[]), None);
    }

    #[test]
    fn a_frame_that_no_message_held_up_is_not_shown_by_its_messages() {
        let token = Token::outside_before(Token(42));
        let outside = |start_ns| tree(token, start_ns);
        let jank = jank(JankPlace::OutsideOfMessages);
        let own = tree(Token(42), 1400);
        assert_eq!(tree_of(&jank, &[own.clone(), outside(1000)]), Some(token));
        assert_eq!(tree_of(&jank, &[own.clone(), outside(1500)]), None, "of another frame");
        assert_eq!(tree_of(&jank, &[own]), None);
    }
}
