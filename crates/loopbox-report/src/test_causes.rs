//! Reports of known causes in generated variants, and how often verdicts on them are right.
//!
//! A confidence is a promise: 98 of 100 verdicts with high confidence are right, and 85 of 100 verdicts with
//! medium confidence. The rules' scores are chosen so that this promise holds on these reports. Public with
//! the feature `test-support`.

use crate::Analysis;
use crate::diagnose::{Confidence, Diagnosis, diagnose};
use crate::test_support::{NOW_NS, OUTSIDE, ReportBuilder};
use loopbox_format::model::{LockHolder, MainState};
use std::fmt;

const MS: u64 = 1_000_000;
const APP: &str = "com.example.shop.";
const PARK: &str = "java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";

/// How many verdicts of each confidence were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reliability {
    /// For each confidence, from high to low: the number of right verdicts, and of all verdicts. The last row
    /// is for verdicts that call the cause unclear.
    rows: [(u32, u32); 4],
}

/// The percentage that each confidence promises.
const PROMISED: [Option<u32>; 4] = [Some(98), Some(85), None, None];

impl Reliability {
    /// Counts a verdict.
    pub fn add(&mut self, confidence: Option<Confidence>, right: bool) {
        let row = match confidence {
            Some(Confidence::High) => 0,
            Some(Confidence::Medium) => 1,
            Some(Confidence::Low) => 2,
            None => 3,
        };
        self.rows[row].0 += u32::from(right);
        self.rows[row].1 += 1;
    }

    /// Whether, for each confidence in `PROMISED` with a percentage, at least this percentage of the verdicts
    /// was right.
    pub fn holds(&self) -> bool {
        let kept = |(row, promised): (&(u32, u32), &Option<u32>)| {
            promised.is_none_or(|promised| row.0 * 100 >= promised * row.1)
        };
        self.rows.iter().zip(&PROMISED).all(kept)
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| confidence | verdicts | right | of 100 | promised |\n|---|---|---|---|---|")?;
        let names = ["high", "medium", "low", "unclear"];
        for ((name, (right, all)), promised) in names.iter().zip(self.rows).zip(PROMISED) {
            let rate = if all == 0 {
                "-".to_owned()
            } else {
                format!("{:.1}", f64::from(right * 100) / f64::from(all))
            };
            let promised = promised.map_or_else(|| "-".to_owned(), |promised| promised.to_string());
            writeln!(f, "| {name} | {all} | {right} | {rate} | {promised} |")?;
        }
        Ok(())
    }
}

/// How a variant of a cause differs from others.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// How long the message runs.
    age_ms: u64,
    /// The cause's share of the message's time, in percent. In the rest of the time, main computes.
    part: u64,
    /// Whether it was measured how long main waited for a CPU.
    watched: bool,
    /// Whether main's CPU time was read.
    cpu_read: bool,
    /// The share of the message's time for which there are stacks, in percent.
    covered: u64,
    /// Whether the machine has other things to do: main waits for a CPU in a sixth of the time.
    busy: bool,
    /// Whether there are frames of the device's maker between the platform's.
    oem: bool,
}

/// A report with its known cause.
#[derive(Debug)]
pub struct Generated {
    /// The cause and its variant.
    pub name: String,
    /// The verdict of the report.
    pub verdict: Diagnosis,
    /// Whether the verdict's first cause is the known one.
    pub right: bool,
}

/// A known cause of a long message: what main does while the cause lasts, and what a right verdict names.
struct Known {
    name: &'static str,
    /// The rules that may find the cause.
    rules: &'static [&'static str],
    /// A part of the culprit's name.
    culprit: &'static str,
    /// Main's frames while the cause lasts, the outermost first. The Looper's frames, which call the first of
    /// them, are left out. Classes of the app are written without the package.
    stack: &'static str,
    /// The share of the cause's time in which main is on a CPU, in percent.
    cpu: u64,
}

const fn waits(
    name: &'static str,
    rules: &'static [&'static str],
    culprit: &'static str,
    stack: &'static str,
) -> Known {
    Known { name, rules, culprit, stack, cpu: 1 }
}

const fn works(
    name: &'static str,
    rules: &'static [&'static str],
    culprit: &'static str,
    stack: &'static str,
    cpu: u64,
) -> Known {
    Known { name, rules, culprit, stack, cpu }
}

const STACKS: &[Known] = &[
    waits("sleep", &["sleep"], "Retry.wait", "Retry.run:3 Retry.wait:9 java.lang.Thread.sleep!"),
    waits(
        "latch",
        &["lock"],
        "Feed.await",
        "Feed.show:3 Feed.await:9 java.util.concurrent.CountDownLatch.await PARK",
    ),
    waits(
        "future",
        &["lock"],
        "Quote.fetch",
        "Quote.run:3 Quote.fetch:9 java.util.concurrent.FutureTask.get PARK",
    ),
    waits("semaphore", &["lock"], "Slots.take", "Slots.take:9 java.util.concurrent.Semaphore.acquire PARK"),
    waits(
        "read lock",
        &["lock"],
        "Cache.get",
        "Cache.get:9 java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock PARK",
    ),
    waits("join", &["lock"], "Crew.finish", "Crew.finish:9 java.lang.Thread.join:1 java.lang.Object.wait!"),
    waits("notify", &["lock"], "Mailbox.take", "Mailbox.take:9 java.lang.Object.wait!"),
    waits(
        "coroutine",
        &["lock"],
        "Loader.block",
        "Loader.block:9 kotlinx.coroutines.BuildersKt.runBlocking:1 PARK",
    ),
    waits(
        "binder",
        &["binder"],
        "Apps.list",
        "Apps.list:9 android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo:5 android.os.BinderProxy.transactNative!",
    ),
    waits("network", &["io"], "Api.call", "Api.call:9 java.net.Socket.connect:4 libcore.io.Linux.connect!"),
    waits("load code", &["io"], "Startup.warm", "Startup.warm:9 java.lang.Runtime.nativeLoad!"),
    waits(
        "pipe",
        &["io"],
        "Shell.run",
        "Shell.run:9 java.lang.UNIXProcess$ProcessPipeInputStream.read:3 java.io.FileInputStream.read!",
    ),
    waits(
        "preferences",
        &["io"],
        "Settings.theme",
        "Settings.theme:9 android.app.SharedPreferencesImpl.awaitLoadedLocked:2 java.lang.Object.wait!",
    ),
    waits(
        "render thread",
        &["native"],
        "Chart.draw",
        "Chart.draw:9 android.graphics.HardwareRenderer.nSyncAndDrawFrame!",
    ),
    waits("codec", &["native"], "Player.stop", "Player.stop:9 android.media.MediaCodec.native_stop!"),
    works(
        "files",
        &["io"],
        "Disk.load",
        "Disk.load:9 java.io.FileOutputStream.write:3 libcore.io.Linux.writeBytes!",
        30,
    ),
    works(
        "database",
        &["io"],
        "Orders.all",
        "Orders.all:9 android.database.sqlite.SQLiteConnection.nativeExecute!",
        60,
    ),
    works(
        "collector",
        &["gc"],
        "Images.trim",
        "Images.trim:9 java.lang.Runtime.gc:6 java.lang.Runtime.nativeGc!",
        90,
    ),
    works("computes", &["current-slow"], "Tax.sum", "Tax.run:3 Tax.sum:9", 97),
    works(
        "parses",
        &["current-slow"],
        "Json.value",
        "Tax.run:3 Json.value:3 Json.array:5 Json.value:4 Json.array:5 Json.value:4 java.util.HashMap.put:9",
        97,
    ),
];

const AGES: [u64; 3] = [1_500, 4_000, 9_000];

fn shapes() -> impl Iterator<Item = Shape> {
    let flags = (0..16_u32).flat_map(|bits| [(bits, 100), (bits, 70)]);
    AGES.into_iter().flat_map(move |age_ms| {
        flags.clone().map(move |(bits, part)| Shape {
            age_ms,
            part,
            watched: bits & 1 == 0,
            cpu_read: bits & 2 == 0,
            covered: if bits & 4 == 0 { 98 } else { 35 },
            busy: bits & 8 == 0,
            oem: bits & 1 == 0,
        })
    })
}

/// A stack with the names of the app's classes in full.
fn in_full(stack: &str, oem: bool) -> String {
    let frame =
        |frame: &str| if frame.split('.').count() > 2 { frame.to_owned() } else { format!("{APP}{frame}") };
    let stack = stack.replace("PARK", PARK);
    let frames: Vec<String> = stack.split(' ').map(frame).collect();
    let maker = if oem { "com.oplus.view.ViewRootManager.dispatch:12 " } else { "" };
    format!("{maker}{}", frames.join(" "))
}

fn calm() -> ReportBuilder {
    ReportBuilder::new().idle(20_000).group(60, 300, 4_000).idle(4_000).group(38, 110, 900).idle_cpu_read()
}

/// A message with this length and these stacks. Each stack has two numbers: its share of the time, and the
/// share of this time in which main is on a CPU, both in percent.
fn message(shape: Shape, stacks: &[(&str, u64, u64)]) -> ReportBuilder {
    let starved_ms = if shape.busy { shape.age_ms / 6 } else { 0 };
    let cpu_ms: u64 =
        stacks.iter().map(|(_, part, cpu)| (shape.age_ms - starved_ms) * part * cpu / 10_000).sum();
    let report =
        calm().running(99, shape.age_ms).doing("android.os.Handler", &format!("{APP}Main$1"), cpu_ms);
    let samples = shape.age_ms * shape.covered / 1_000;
    let stacks: Vec<(String, u32)> = stacks
        .iter()
        .filter(|(_, part, _)| *part > 0)
        .map(|(stack, part, _)| (in_full(stack, shape.oem), (samples * part / 100).max(1) as u32))
        .collect();
    let stacks: Vec<(&str, u32)> = stacks.iter().map(|(stack, count)| (stack.as_str(), *count)).collect();
    let late_ms = shape.age_ms - samples * 10;
    let report = report.looper_tree(99, &stacks).with(|report| {
        // The sampler came late.
        report.trees[0].sample_deltas_ns[0] = late_ms * MS;
    });
    environment(report, shape)
}

fn environment(mut report: ReportBuilder, shape: Shape) -> ReportBuilder {
    let starved_ms = if shape.busy { shape.age_ms / 6 } else { 0 };
    if shape.watched {
        report = report.watched(shape.age_ms, starved_ms);
    }
    if shape.busy {
        report = report.statistic("psi.cpu.some_avg10_percent", "60.0");
        report = report.with(|r| r.history.iter_mut().for_each(|r| r.checktime_late_ns = Some(350 * MS)));
    }
    if !shape.cpu_read {
        report = report.with(|report| {
            if let MainState::Running(running) = &mut report.main {
                running.cpu_ns = None;
            }
        });
    }
    report
}

/// The rest of the message, in which main computes: its stack, and how much of it is CPU time, in percent.
const REST: (&str, u64) = ("Main.run:3 Misc.work:40", 97);

fn with_rest(shape: Shape, stack: &str, cpu: u64) -> ReportBuilder {
    message(shape, &[(REST.0, 100 - shape.part, REST.1), (stack, shape.part, cpu)])
}

/// Causes that need more evidence than a stack.
fn special(shape: Shape) -> Vec<(&'static str, &'static [&'static str], &'static str, ReportBuilder)> {
    let monitor = "Basket.run:3 Basket.add:9";
    let holder = "java.lang.Thread.run:919 com.example.shop.Sync.run:9 java.io.FileDescriptor.sync!";
    let held = |report: ReportBuilder| report.waits_for("com.example.shop.Basket", "sync", holder);
    let deadlock = |report: ReportBuilder| {
        held(report).with(|report| {
            let mut back = report.locks.waits[0].clone();
            let tid = report.meta.process.pid;
            back.holder = Some(LockHolder { name: "main".into(), tid, stack: Vec::new() });
            report.locks.waits.push(back);
            report.locks.deadlock = true;
        })
    };
    let call = "Apps.list:9 android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo:5 \
                android.os.BinderProxy.transactNative!";
    let call_then_monitor = [(REST.0, 100 - shape.part, REST.1), (call, shape.part - 2, 1), (monitor, 2, 1)];
    let parked = |report: ReportBuilder| {
        let lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        let report = report.statistic("parked.1.for", lock).statistic("parked.1.owner", "writer");
        let at_ns = NOW_NS.to_string();
        let report = report.statistic("parked.deadlock", "false").statistic("parked.at_ns", &at_ns);
        report.thread("writer", Some("com.example.shop.Store$1.run:40 java.io.FileDescriptor.sync!"))
    };
    let lock = "Ledger.book:9 java.util.concurrent.locks.ReentrantLock.lock PARK";
    let native = "Codec.decode:9 Codec.nativeDecode!";
    let libraries: [(&str, &[u8], u64); 1] = [("/data/app/lib/libshop.so", &[2; 20], 7)];
    let starved = |process_ms: u64| {
        let cpu_ms = shape.age_ms / 12;
        let report =
            calm().running(99, shape.age_ms).doing("android.os.Handler", &format!("{APP}Main$1"), cpu_ms);
        let stacks = [
            (in_full("Tax.run:3 Tax.sum:9", shape.oem), 40),
            (in_full("Tax.run:3 Tax.add:4", shape.oem), 40),
        ];
        let stacks: Vec<(&str, u32)> = stacks.iter().map(|(stack, count)| (stack.as_str(), *count)).collect();
        let report = environment(report.looper_tree(99, &stacks), Shape { busy: true, ..shape });
        let report = if shape.watched { report.watched(shape.age_ms, shape.age_ms * 4 / 5) } else { report };
        report.cpu_used(shape.age_ms, cpu_ms, process_ms, 4)
    };
    // A gap in the middle, of which three quarters of the time are.
    let gap_ms = shape.age_ms * 3 / 4;
    let gapped = |own_ms: u64| {
        let samples = ((shape.age_ms - gap_ms) / 10).max(12) as u32 - 6;
        let report =
            calm().running(99, shape.age_ms).doing("android.os.Handler", &format!("{APP}Main$1"), own_ms);
        let stack = in_full("Tax.run:3 Tax.sum:9", shape.oem);
        let report = report.looper_tree(99, &[(&stack, samples)]).with(|report| {
            report.trees[0].sample_deltas_ns[samples as usize / 2] += gap_ms * MS;
        });
        environment(report, Shape { busy: false, ..shape })
    };
    let own_ms = shape.age_ms - gap_ms;
    let stopped = gapped(own_ms).with(|report| {
        (report.anr.frozen_ns, report.anr.ran_ns) = (gap_ms * MS, own_ms * MS);
    });
    let dump = gapped(own_ms).thread(
        "leaks",
        Some("com.example.shop.Leaks.run:8 android.os.Debug.dumpHprofData:9 dalvik.system.VMDebug.dumpHprofData!"),
    );
    let earlier = |stack: &str, cpu: u64| {
        let (age_ms, samples) = (shape.age_ms, shape.age_ms * shape.covered / 1_000);
        let report = calm()
            .single("com.example.shop.Sync", age_ms, age_ms * cpu / 100)
            .group(3, 60, 0)
            .idle_cpu_read();
        let token = 99;
        let stack = in_full(stack, shape.oem);
        let report = report.running(200, 60).looper_tree(token, &[(&stack, samples as u32)]);
        environment(report, Shape { busy: false, ..shape })
    };
    vec![
        ("held monitor", &["lock"], "Basket.add", held(with_rest(shape, monitor, 1))),
        ("monitor", &["lock"], "Basket.add", with_rest(Shape { part: 100, ..shape }, monitor, 1)),
        ("deadlock", &["lock"], "", deadlock(with_rest(shape, monitor, 1))),
        ("held lock", &["lock"], "Ledger.book", parked(with_rest(shape, lock, 1))),
        ("lock met at the end", &["current-slow"], "Tax.sum", held(with_rest(shape, "Tax.run:3 Tax.sum:9", 97))),
        ("lock met after a call", &["binder"], "Apps.list", held(message(shape, &call_then_monitor))),
        ("native", &["native"], "Codec", with_rest(shape, native, 1).interrupted(98, &libraries)),
        ("native computes", &["current-slow"], "Codec", with_rest(shape, native, 97).interrupted(98, &libraries)),
        ("own threads", &["starved"], "", starved(shape.age_ms * 38 / 10)),
        ("other processes", &["starved"], "", starved(shape.age_ms / 4)),
        ("stopped", &["frozen"], "", stopped),
        ("heap dump", &["suspended"], "Leaks.run", dump),
        ("earlier sleep", &["sleep"], "Retry.wait", earlier("Retry.wait:9 java.lang.Thread.sleep!", 1)),
        ("earlier work", &["history"], "Tax.sum", earlier("Tax.run:3 Tax.sum:9", 97)),
        (
            "input",
            &["outside"],
            "Cart.total",
            calm().outside(shape.age_ms, true).tree(
                OUTSIDE,
                &[(
                    "android.os.Looper.loop:160 android.os.MessageQueue.next:323 android.os.MessageQueue.nativePollOnce! \
                     android.view.InputEventReceiver.dispatchInputEvent:185 com.example.shop.Main.dispatchTouchEvent:44 \
                     com.example.shop.Cart.total:88",
                    (shape.age_ms / 10) as u32 - 6,
                )],
            ),
        ),
    ]
}

/// Verdicts on all variants of all causes.
pub fn generated() -> Vec<Generated> {
    let mut all = Vec::new();
    let mut add = |name: &str, shape: Shape, rules: &[&str], culprit: &str, report: ReportBuilder| {
        let verdict = diagnose(&Analysis::new(&report.build()));
        let right = verdict.primary_cause().is_some_and(|cause| {
            let named = cause.culprit.as_ref().is_some_and(|found| found.contains(culprit));
            rules.contains(&cause.rule) && (culprit.is_empty() || named)
        });
        all.push(Generated { name: format!("{name}, {shape:?}"), verdict, right });
    };
    for shape in shapes() {
        for known in STACKS {
            let report = with_rest(shape, known.stack, known.cpu);
            add(known.name, shape, known.rules, known.culprit, report);
        }
        for (name, rules, culprit, report) in special(shape) {
            add(name, shape, rules, culprit, report);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_keeps_its_promise() {
        let mut reliability = Reliability::default();
        let all = generated();
        for one in &all {
            reliability.add(one.verdict.confidence, one.right);
        }
        let wrong = all.iter().filter(|one| !one.right && one.verdict.confidence >= Some(Confidence::Medium));
        let wrong = wrong.map(|one| {
            let cause = one.verdict.primary_cause();
            let confidence = one.verdict.confidence.map_or("none", Confidence::as_str);
            let culprit = cause.and_then(|cause| cause.culprit.clone()).unwrap_or_default();
            format!("{confidence} {}: {} [{culprit}]", one.name, one.verdict.headline)
        });
        let wrong: Vec<String> = wrong.collect();
        println!("{reliability}\n{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(all.len() > 3_000, "{}", all.len());
        assert!(reliability.holds(), "{reliability}\n{}", wrong.join("\n"));
    }

    #[test]
    fn a_table_of_reliability_holds_promises_or_not() {
        let mut reliability = Reliability::default();
        assert!(reliability.holds(), "nothing was promised yet");
        for nth in 0..100 {
            reliability.add(Some(Confidence::High), nth >= 2);
            reliability.add(Some(Confidence::Medium), nth >= 15);
            reliability.add(Some(Confidence::Low), false);
        }
        assert!(reliability.holds(), "{reliability}");
        assert!(reliability.to_string().contains("| medium | 100 | 85 | 85.0 | 85 |"), "{reliability}");
        reliability.add(Some(Confidence::High), false);
        assert!(!reliability.holds(), "{reliability}");
    }
}
