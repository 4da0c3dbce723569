//! Runs on a testbed everything that `cargo xtask phone` runs on a phone. A fake adb simulates the device,
//! and its `app_process` runs a real ART. `tests/e2e/tests/shipped.rs` runs the library that ships on the
//! same testbed.

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;
use lab_launch::{Build, Launcher, reports};
use lab_phone::{Options, run};
use loopbox_adb::fake::FakeAdb;
use tempfile::tempdir;

const GETPROP: &str = "case $1 in
    ro.product.manufacturer) echo Loopbox;; ro.product.model) echo testbed;;
    ro.build.fingerprint) echo loopbox/testbed/art10:10/1;; ro.build.version.release) echo 10;;
    ro.build.version.sdk) echo 29;; ro.product.cpu.abi) echo x86_64;; esac";
const PM: &str = "[ \"$*\" = 'list packages --apex-only --show-versioncode' ] && echo package:com.android.runtime versionCode:290000000";

/// A script that takes the arguments of the system's `app_process` (options of the VM, a folder, a class, and
/// arguments of its `main`) and runs the class on the testbed.
fn app_process(launcher: &Launcher) -> String {
    let host = launcher.host();
    let word = |word: &std::ffi::OsStr| loopbox_adb::quoted(&word.to_string_lossy());
    let mut command = String::from("exec env");
    for (name, value) in host.get_envs() {
        if let Some(value) = value {
            let _ = write!(command, " {}={}", name.display(), word(value));
        }
    }
    for part in [host.get_program()].into_iter().chain(host.get_args()) {
        let _ = write!(command, " {}", word(part));
    }
    format!(
        "while :; do case \"$1\" in -D*) vm=\"$vm -D ${{1#-D}}\"; shift;; *) break;; esac; done\n\
         [ -d \"$1\" ] || exit 64; main=\"$2\"; shift 2\n\
         {command} --app \"$CLASSPATH\" $vm --main \"$main\" -- \"$@\""
    )
}

#[test]
fn a_phone_is_asked_everything_and_left_as_it_was() -> Result<()> {
    let launcher = Launcher::new("art10", Build::Dev)?;
    let phone = FakeAdb::ready()?;
    phone.device_program("getprop", GETPROP)?;
    phone.device_program("pm", PM)?;
    phone.device_program("app_process", &app_process(&launcher))?;
    let boot: Vec<String> = launcher
        .testbed
        .manifest
        .boot_class_path
        .iter()
        .map(|jar| launcher.testbed.dir.join(jar).display().to_string())
        .collect();
    phone.profile(&format!("export BOOTCLASSPATH={}", boot.join(":")))?;
    let folder = phone.folder().join("tmp/loopbox");
    let options = Options {
        folder: folder.display().to_string(),
        library: Some(launcher.library()),
        phase_ms: 400,
        messages: 400,
        rounds: 3,
        ..Options::default()
    };

    let out = tempdir()?;
    let summary = run(&phone.adb(), &options, out.path())?;
    let text = fs::read_to_string(out.path().join("summary.md"))?;
    println!("{text}");
    assert_eq!(summary.faults(), [""; 0], "{text}");
    assert!(text.contains(&summary.line()) && text.contains("\nNone.\n"), "{text}");
    let line = summary.line();
    let fields: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
    let [name, build, level, abi, module, hook, sampler, stacks, times, sigquit, killed, costs] = fields[..]
    else {
        panic!("{line}");
    };
    assert_eq!([name, build], ["Loopbox testbed", "`loopbox/testbed/art10:10/1`"]);
    assert_eq!([level, abi, module], ["29", "x86_64", "com.android.runtime 290000000"]);
    assert!(hook.starts_with("Observer"), "{hook}");
    assert!(sampler.contains("table of ART 10"), "{sampler}");
    let (samples, wrong) = stacks.split_once(", ").unwrap_or_default();
    assert!(samples.parse::<usize>()? > 0 && wrong.starts_with("0 wrong"), "{stacks}");
    let ms: Vec<f64> = times.split(", ").map(str::parse).collect::<Result<_, _>>()?;
    assert!(ms.len() == 2 && ms.iter().all(|ms| *ms > 0.0), "{times}");
    assert_eq!(sigquit, "reported, handed on");
    assert!(killed.starts_with("recovered, "), "{killed}");
    assert!(costs.starts_with("printer ") && costs.contains(", observer "), "{costs}");
    assert!(text.contains("* sampler.findings: ") && text.contains(" thread_list="), "{text}");

    // What a row of the tables is made of.
    let art = text.split("\n## ART\n").nth(1).unwrap_or_default();
    assert!(
        art.contains("architecture x86_64, build id ") && art.contains("StackVisitor8GetDexPcEb"),
        "{text}"
    );
    let row = art.lines().find(|line| line.starts_with("row 29-x86_64-debian "));
    assert!(row.is_some_and(|row| row.contains(" fits ")), "{text}");
    assert!(out.path().join("libart.so").is_file());

    // The reports are here, and the phone has nothing any more.
    for scenario in ["frames-1", "frames-2", "frames-3", "sigquit", "killed"] {
        assert!(!reports(&out.path().join(scenario))?.is_empty(), "no report of {scenario}");
    }
    assert!(!folder.exists());
    Ok(())
}
