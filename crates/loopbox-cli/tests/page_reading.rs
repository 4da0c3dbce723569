//! Whether everybody can read the pages: on each screen, in both colour schemes, on paper, with help for the
//! eyes.

#[path = "support/browser.rs"]
mod browser;
mod support;

use browser::Browser;
use loopbox_report::test_support::full;
use std::path::{Path, PathBuf};
use support::pages::{everything, groups_of, page_of, pictures};
use support::tools::npm_file;
use support::{Files, loopbox};

#[test]
fn print_is_light_and_unfolded() {
    let files = Files::new();
    let page = page_of(&files, everything());
    let mut b = Browser::open(&page, 900, 1200, true);
    let back = "getComputedStyle(document.documentElement).getPropertyValue('--back')";
    assert_eq!(b.js(back), "#12161d");
    assert_eq!(b.js("document.querySelectorAll('details:not([open])').length > 0"), true);
    let drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
    b.print_media(true);
    b.js(drawn);
    assert_eq!(b.js(back), "#f6f7f9");
    assert_eq!(b.js("document.querySelectorAll('details:not([open])').length"), 0);
    assert_eq!(b.js("getComputedStyle(document.querySelector('.tools')).display"), "none");
    b.picture(&pictures().join("900-print.png"));
    b.print_media(false);
    b.js(drawn);
    assert_eq!(b.js("document.querySelectorAll('details:not([open])').length > 0"), true);
    assert_eq!(b.problems(), Vec::<String>::new());
}

/// The page that a command writes.
fn page_by(files: &Files, command: &str, from: &str) -> PathBuf {
    let html = files.path("by-command.html");
    let run = loopbox(&[command, from, "--html", "-o", html]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    PathBuf::from(html)
}

/// What is cut off or overflows: elements wider than the page, and texts wider than their elements.
const TOO_WIDE: &str = "[...document.querySelectorAll('body, .card, dd, summary, p, td')]\
    .filter((e) => getComputedStyle(e).overflowX === 'visible' && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)\
    .map((e) => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 60))";

/// Rows of tables in which cells overlap.
const OVERLAPPING: &str = "[...document.querySelectorAll('tr')].filter((row) => {
    const boxes = [...row.cells].map((cell) => cell.getBoundingClientRect()).filter((box) => box.width > 0);
    return boxes.some((a, i) => boxes.slice(i + 1).some((b) =>
        a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1));
}).map((row) => row.textContent)";

#[test]
fn pages_pass_the_accessibility_checks_of_axe_and_fit_every_screen() {
    let axe = npm_file("axe-core", "4.14.1", "axe.min.js");
    let files = Files::new();
    let daemon = "dalvik.system.VMRuntime.runHeapTasksOfTheCollectorUntilNoneIsLeft!";
    let frame = "com.example.shop.feature.catalogue.data.local.ProductDatabaseRepositoryImplementation.loadAllProducts";
    let stall = format!(
        r#"{{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"level":2,"wall_ms":731.2,"message":"android.os.Handler a.Job: 0","scene":"Feed","stack_samples":6,"stacks":[{{"n":6,"frames":["{frame}(ProductDatabaseRepositoryImplementation.kt:1204)"]}}],"samples":[{{"at":200,"proc_cpu":98.0}}]}}"#
    );
    let stalls = files.bytes("uiperf-2026-11-21.jsonl", format!("{stall}\n").as_bytes());
    let pages = [
        ("report", page_of(&files, everything().thread("HeapTaskDaemon", Some(daemon)))),
        ("groups", groups_of(&files)),
        ("stalls", page_by(&files, "monitor", stalls)),
    ];
    let smoothness = Files::new();
    let smoothness = ("smoothness", page_by(&smoothness, "frames", &golden("report-1.0-frames.lbx")));
    for (name, page) in pages.iter().chain([&smoothness]) {
        for (width, dark) in [(1280, false), (1280, true), (400, true), (400, false)] {
            let mut b = Browser::open(page, width, 900, dark);
            b.js("document.querySelectorAll('details').forEach((folded) => folded.open = true)");
            let scheme = if dark { "dark" } else { "light" };
            b.picture(&pictures().join(format!("{name}-{width}-{scheme}.png")));
            assert_eq!(b.axe(&axe), Vec::<String>::new(), "{name}, {width} pixels, {scheme}");
            assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true, "{name}, {width}");
            assert_eq!(b.js(TOO_WIDE), serde_json::json!([]), "{name}, {width} pixels");
            assert_eq!(b.js(OVERLAPPING), serde_json::json!([]), "{name}, {width} pixels");
        }
    }
}

fn golden(name: &str) -> String {
    format!("{}/../../tests/golden/{name}", std::env::current_dir().unwrap().display())
}

#[test]
fn counts_names_and_units_read_well() {
    let files = Files::new();
    let texts = ["report-1.0-frames.lbx", "report-1.0.lbx", "report-1.0-anr.lbx"].map(|name| {
        let page = files.path("golden.html");
        assert_eq!(loopbox(&["report", &golden(name), "-o", page]).code, 0);
        let mut b = Browser::open(Path::new(page), 1280, 900, false);
        b.js("document.body.innerText").as_str().unwrap().to_owned()
    });
    for (text, wanted) in texts.iter().zip([
        &["1 message, 1 overdue by up to 5.02 s"][..],
        &["1 message, slowest 1.7 ms, still open"],
        &[
            "no message, main was not waiting",
            "Runtime worker (2 times), loopbox-guard",
            "sampler.longest_stop\n40.2 µs",
            "process.rss\n29.5 MiB",
        ],
    ]) {
        for part in wanted {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        let one = text
            .match_indices("1 messages")
            .find(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_digit()));
        assert!(one.is_none() && !text.contains("−0.000 s"), "{text}");
    }
}

#[test]
fn texts_on_the_timeline_and_the_stacks_have_contrast() {
    let files = Files::new();
    let page = page_of(&files, full());
    // Relative luminance and contrast as WCAG 2 defines them; axe sees no canvas.
    let least = "(() => {
        const style = getComputedStyle(document.documentElement);
        const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
            .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const colour = (name) => name[0] === '#' ? name : style.getPropertyValue('--' + name).trim();
        const contrast = (a, b) => { const [x, y] = [light(colour(a)), light(colour(b))].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
        const pairs = { 'block-ink': ['group', 'single', 'long', 'frozen', 'unseen'], 'now-ink': ['now'], 'detail-ink': ['detail'],
            'flame-ink': ['app', 'platform', 'native', 'other'], '#ffffff': ['found'] };
        return Object.entries(pairs).flatMap(([ink, backs]) => backs.map((back) => [ink, back, contrast(ink, back)]))
            .filter(([, , much]) => !(much >= 4.5)).map(String);
    })()";
    for dark in [false, true] {
        let mut b = Browser::open(&page, 1280, 900, dark);
        assert_eq!(b.js(least), serde_json::json!([]), "dark: {dark}");
    }
}
