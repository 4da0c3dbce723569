//! Checks that Java and Rust agree on what both declare: the native methods, the classes of component
//! messages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

fn root() -> PathBuf {
    std::env::current_dir().unwrap().join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn java(class: &str) -> String {
    read(&format!("jni-glue/java/io/loopbox/{class}.java"))
}

/// The part of `text` between `start` and `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end:?} after {start:?}")).0
}

/// A native method: its descriptor, and whether it is called without an environment.
type Native = (String, bool);

/// The descriptor of a Java type.
fn descriptor(java_type: &str) -> String {
    if let Some(element) = java_type.strip_suffix("[]") {
        return format!("[{}", descriptor(element));
    }
    match java_type {
        "void" => "V",
        "boolean" => "Z",
        "int" => "I",
        "long" => "J",
        "float" => "F",
        "String" => "Ljava/lang/String;",
        "Thread" => "Ljava/lang/Thread;",
        "MessageQueue" => "Landroid/os/MessageQueue;",
        "Member" => "Ljava/lang/reflect/Member;",
        other => panic!("a native method with {other}"),
    }
    .to_owned()
}

/// The descriptor of a type that a native function has in Rust.
fn rust_descriptor(rust_type: &str) -> &str {
    let plain = rust_type.trim().trim_start_matches("sys::").replace("<'local>", "").replace("'local, ", "");
    match plain.as_str() {
        "" => "V",
        "jboolean" => "Z",
        "jint" => "I",
        "jlong" => "J",
        "jfloat" => "F",
        "JString" | "jstring" => "Ljava/lang/String;",
        "JLongArray" => "[J",
        // The one object that is passed as it is.
        "JObject" => "Landroid/os/MessageQueue;",
        "JObjectArray" => "[Ljava/lang/reflect/Member;",
        "JObjectArray<JString>" => "[Ljava/lang/String;",
        // Not wrapped where the call takes no transition.
        "jobjectArray" => "[Ljava/lang/Thread;",
        other => panic!("a native function with {other}"),
    }
}

/// What `Native.java` declares.
fn declared() -> BTreeMap<String, Native> {
    let text = java("internal/recording/Native");
    let mut natives = BTreeMap::new();
    let mut critical = false;
    for line in text.lines().map(str::trim) {
        critical |= line == "@CriticalNative";
        let Some((_, method)) = line.split_once("static native ") else { continue };
        let (result, rest) = method.split_once(' ').unwrap();
        let (name, arguments) = rest.trim_end_matches(");").split_once('(').unwrap();
        let arguments: String = arguments
            .split(", ")
            .filter(|argument| !argument.is_empty())
            .map(|argument| descriptor(argument.split(' ').next().unwrap()))
            .collect();
        let native = (format!("({arguments}){}", descriptor(result)), std::mem::take(&mut critical));
        assert_eq!(natives.insert(name.to_owned(), native), None, "{name} twice");
    }
    natives
}

/// What `natives.rs` registers: name, descriptor, function.
fn registered() -> Vec<(String, String, String)> {
    let text = read("jni-glue/src/natives.rs");
    let table = between(&text, "natives![\n", "\n    ];");
    let rows = table.lines().map(|row| {
        let (name, rest) = row.trim().strip_prefix('"').unwrap().split_once("\" \"").unwrap();
        let (descriptor, function) = rest.split_once("\" ").unwrap();
        let function = function.trim_end_matches(',').rsplit(':').next().unwrap();
        (name.to_owned(), descriptor.to_owned(), function.to_owned())
    });
    rows.collect()
}

/// The native functions by name: descriptor, and whether they take no environment.
fn functions() -> BTreeMap<String, Native> {
    let sources = [
        "jni-glue/src/natives.rs",
        "crates/loopbox-agent/src/hook/callbacks.rs",
        "crates/loopbox-agent/src/hook/display_frames.rs",
        "crates/loopbox-agent/src/hook/poll.rs",
        "crates/loopbox-agent/src/breadcrumb.rs",
        "crates/loopbox-agent/src/joined.rs",
        "crates/loopbox-agent/src/sampler/suspended_call.rs",
    ];
    let mut functions = BTreeMap::new();
    for source in sources {
        let text = read(source);
        for function in text.split("extern \"system\" fn ").skip(1) {
            let (name, rest) = function.split_once('(').unwrap();
            let (arguments, rest) = rest.split_once(')').unwrap();
            let result = rest.split_once('{').unwrap().0.trim().trim_start_matches("->");
            let name = name.split('<').next().unwrap();
            // Commas stand in the generics of one type, too.
            let arguments = arguments.replace("'local, ", "");
            let types: Vec<&str> = arguments
                .split(',')
                .filter_map(|argument| Some(argument.split_once(':')?.1.trim()))
                .collect();
            let has_environment =
                types.first().is_some_and(|first| first.contains("JNIEnv") || first.contains("EnvUnowned"));
            // The class comes after the environment.
            let own: String =
                types.iter().skip(if has_environment { 2 } else { 0 }).map(|t| rust_descriptor(t)).collect();
            let native = (format!("({own}){}", rust_descriptor(result)), !has_environment);
            assert_eq!(functions.insert(name.to_owned(), native), None, "{name} twice");
        }
    }
    functions
}

#[test]
fn native_methods_are_declared_as_they_are_registered_and_written() {
    let (declared, functions) = (declared(), functions());
    let registered = registered();
    assert!(registered.len() > 30, "{registered:?}");
    let names: BTreeSet<&String> = registered.iter().map(|(name, ..)| name).collect();
    assert_eq!(names, declared.keys().collect(), "registered, declared in Native.java");
    for (name, signature, function) in &registered {
        let (java, critical) = &declared[name];
        assert_eq!(signature, java, "{name}: registered, declared in Native.java");
        let (rust, no_environment) = &functions[function];
        assert_eq!((signature, critical), (rust, no_environment), "{name}: registered, written in Rust");
    }
}

/// What native code calls: classes, each with the name of a method or field.
fn resolved_members() -> BTreeSet<(String, String)> {
    let text = read("crates/loopbox-agent/src/jni/class_cache.rs");
    let (_, body) = text.split_once("pub fn look_up").expect("no look-up");
    let classes: BTreeMap<&str, &str> = body
        .lines()
        .filter_map(|line| {
            let (variable, class) =
                line.trim().strip_prefix("let ")?.split_once(" = raw::class(env, jni_str!(\"")?;
            Some((variable, class.split('"').next()?))
        })
        .collect();
    let members = body.split("raw::static_method(env, (&").chain(body.split("raw::field(env, (&"));
    members
        .filter_map(|rest| {
            let (variable, rest) = rest.split_once(", jni_str!(\"")?;
            Some(((*classes.get(variable)?).replace('/', "."), rest.split('"').next()?.to_owned()))
        })
        .collect()
}

/// Checks the rules for an app's shrinker. `Native` has one rule for all of its natives.
#[test]
fn what_native_code_calls_has_a_rule() {
    let rules = read("jni-glue/android/proguard.txt");
    let members = resolved_members();
    assert!(members.len() > 15, "{members:?}");
    for (class, member) in members {
        if class == "io.loopbox.internal.recording.Native" {
            continue;
        }
        let rule = between(&rules, &format!("-keep class {class} {{"), "}");
        let is_kept = rule.contains(&format!(" {member}(")) || rule.contains(&format!(" {member};"));
        assert!(is_kept, "no rule keeps {class}.{member}");
    }
}

#[test]
fn java_knows_the_classes_of_component_messages() {
    let text = java("internal/hook/MainThread");
    let rust = read("crates/loopbox-format/src/looper/component.rs");
    let rust = rust.split_once("#[cfg(test)]").unwrap().0;
    let quoted = |text: &str| -> BTreeSet<String> {
        let texts = text.split('"').skip(1).step_by(2).map(|text| text.trim_end_matches(") "));
        texts.filter(|text| text.starts_with("android.") && text.contains('$')).map(str::to_owned).collect()
    };
    // Runnables of handlers that are in the list themselves.
    let by_target = [
        "android.app.LoadedApk$ServiceDispatcher$RunConnection",
        "android.view.Choreographer$FrameDisplayEventReceiver",
    ];
    let mut expected = quoted(rust);
    by_target.iter().for_each(|class| assert!(expected.remove(*class), "{class}"));
    let own = quoted(&text);
    assert_eq!(own, expected, "MainThread.java, component.rs");
    // By class and by the text that Looper prints: each handler twice.
    for handler in expected.iter().filter(|class| !class.contains("ReceiverDispatcher")) {
        assert_eq!(text.matches(&format!("{handler}\"")).count(), 1, "{handler} as a class");
        assert_eq!(text.matches(&format!("{handler}) \"")).count(), 1, "{handler} as a text");
    }
}
