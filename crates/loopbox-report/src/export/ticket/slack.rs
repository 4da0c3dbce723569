//! The verdict as the JSON of a Slack webhook: <https://docs.slack.dev/reference/block-kit/blocks>.

use super::about::about;
use super::stacks;
use crate::diagnose::Diagnosis;
use crate::model::Analysis;
use crate::model::anr_words::verdict_summary;
use crate::render::slack_text::{MAX_SECTION, code, context, cut, escape, header, in_code, section};
use serde_json::{Value, json};

pub(super) fn message(a: &Analysis, verdict: &Diagnosis) -> Value {
    let headline = escape(&verdict.headline);
    let mut blocks = vec![header(&verdict.headline), context(&escape(&about(a).join(" · ")))];
    let mut lines: Vec<String> =
        verdict.confidence.map(|level| format!("*{} confidence*", level.as_str())).into_iter().collect();
    let anr = verdict_summary(&a.anr);
    if !anr.is_empty() {
        lines.push(format!("ANR: {}", escape(anr)));
    }
    if let Some(cause) = verdict.primary_cause() {
        lines.extend(cause.evidence.iter().map(|line| format!("• {}", escape(line))));
        lines.extend(cause.culprit.iter().map(|culprit| format!("Look at {}", code(culprit))));
        if !cause.advice.is_empty() {
            lines.push(format!("_{}_", escape(cause.advice)));
        }
    }
    if !lines.is_empty() {
        blocks.push(section(&lines.join("\n")));
    }
    let in_block = |lines: &[String]| {
        let lines: Vec<String> = lines.iter().map(|line| in_code(line)).collect();
        format!("```\n{}\n```", cut(&lines.join("\n"), MAX_SECTION - 8))
    };
    let stack = stacks::of_main(a);
    if !stack.is_empty() {
        blocks.push(section(&in_block(&stack)));
    }
    if let Some((holder, stack)) = stacks::of_holder(a) {
        blocks.push(context(&format!("Thread {}, which main waits for:", escape(&holder.name))));
        blocks.push(section(&in_block(&stack)));
    }
    blocks.extend(verdict.caveats.iter().map(|caveat| context(&format!("⚠ {}", escape(caveat)))));
    // What notifications show; it is mrkdwn, too.
    json!({"text": headline, "blocks": blocks})
}
