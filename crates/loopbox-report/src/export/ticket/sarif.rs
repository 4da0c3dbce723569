//! The verdict as SARIF 2.1.0 (OASIS standard,
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>): one run with one result, or none when
//! the cause is unclear.

use super::about::about;
use crate::derive::last_stack;
use crate::diagnose::{Cause, Confidence, Diagnosis};
use crate::model::Analysis;
use crate::model::several::class_and_method;
use loopbox_format::model::Named;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The URI of the JSON schema of SARIF.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The SARIF log of a verdict. `path` is the report's file; `signature` is equal in two reports of one
/// problem.
pub(super) fn log(a: &Analysis, verdict: &Diagnosis, path: &str, signature: &str) -> Value {
    let cause = verdict.primary_cause();
    let rules: Vec<Value> =
        cause.iter().map(|cause| json!({"id": cause.rule, "help": {"text": advice(cause)}})).collect();
    let results: Vec<Value> = cause.iter().map(|cause| result(a, cause, signature)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "loopbox", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "artifacts": [{"location": {"uri": uri(path)}, "roles": ["analysisTarget"]}],
            "results": results,
            "properties": {"headline": verdict.headline, "about": about(a), "anr": a.anr.verdict.name(), "caveats": verdict.caveats},
        }],
    })
}

fn advice(cause: &Cause) -> &str {
    if cause.advice.is_empty() { cause.rule } else { cause.advice }
}

fn result(a: &Analysis, cause: &Cause, signature: &str) -> Value {
    let level = match cause.confidence {
        Confidence::High => "error",
        Confidence::Medium => "warning",
        Confidence::Low => "note",
    };
    let evidence: Vec<String> = cause.evidence.iter().map(|line| format!("\n- {line}")).collect();
    let stacks: Vec<Value> = last_stack(a)
        .iter()
        .map(|stack| {
            let frames: Vec<Value> =
                stack.frames.iter().map(|frame| json!({"location": location(frame)})).collect();
            json!({"message": {"text": "the main thread at the dump"}, "frames": frames})
        })
        .collect();
    json!({
        "ruleId": cause.rule,
        "ruleIndex": 0,
        "level": level,
        "message": {"text": format!("{}{}", cause.title, evidence.concat())},
        "locations": cause.culprit.iter().map(|culprit| location(culprit)).collect::<Vec<_>>(),
        "stacks": stacks,
        "partialFingerprints": {"loopboxSignature/v1": signature},
        "rank": cause.score * 100.0,
    })
}

/// The SARIF location of a line of a Java stack trace, `com.example.Cart.total(Cart.java:88)`: the method,
/// and the file in the folder of its package. The file is left out in two cases. A file name with a folder in
/// it is not a compiler's, and could lead out of the sources. A file name without an extension (`SourceFile`,
/// `r8-map-id-…`) is R8's placeholder for a file that only the mapping knows.
fn location(frame: &str) -> Value {
    let (method, place) =
        frame.strip_suffix(')').and_then(|frame| frame.split_once('(')).unwrap_or((frame, ""));
    let logical = json!([{"fullyQualifiedName": method, "kind": "function"}]);
    let file = place.split_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let Some((file, line)) =
        file.filter(|(file, line)| *line > 0 && !file.contains(['/', '\\']) && file.contains('.'))
    else {
        return json!({"logicalLocations": logical});
    };
    let class = class_and_method(method).map_or("", |(class, _)| class);
    let package =
        class.rsplit_once('.').map_or(String::new(), |(package, _)| package.replace('.', "/") + "/");
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&format!("{package}{file}")), "uriBaseId": "SRCROOT"},
            "region": {"startLine": line},
        },
        "logicalLocations": logical,
    })
}

/// A path as a relative reference of RFC 3986: every character except letters, digits and `-._~/` is escaped.
/// Two slashes at the start would turn the rest into a host.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'/' if out == "/" => out.push_str("%2F"),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_path_and_a_file_lies_below_the_sources() {
        assert_eq!(uri("//evil.com/a b:c?d#e"), "/%2Fevil.com/a%20b%3Ac%3Fd%23e");
        assert_eq!(uri("reports/é.lbx"), "reports/%C3%A9.lbx");
        let places = |frame: &str| location(frame)["physicalLocation"]["artifactLocation"]["uri"].clone();
        assert_eq!(places("com.example.Cart.total(Cart.java:88)"), "com/example/Cart.java");
        assert_eq!(places("com.example.Cart.load or com.Other.save(Cart.java:88)"), "com/example/Cart.java");
        assert_eq!(places("com.example.Cart.total(../../../etc/passwd:88)"), Value::Null);
    }
}
