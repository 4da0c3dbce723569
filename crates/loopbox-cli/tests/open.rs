//! `loopbox open` in a real browser, and with requests from clients other than its page.

#[path = "support/browser.rs"]
mod browser;
mod support;

use browser::Browser;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::tools::npm_file;
use support::{Files, OpenPage, recorded, shop, shop_bytes};

/// A folder with three reports of two versions.
fn reports(files: &Files) -> &'static str {
    let folder = files.path("reports");
    fs::create_dir(folder).unwrap();
    for (name, version, stack) in [
        ("a", "5.2 (502)", "com.example.shop.Cart.total:88"),
        ("b", "5.3 (503)", "com.example.shop.Cart.total:88"),
        ("c", "5.3 (503)", "com.example.shop.Sync.run:3 java.lang.Thread.sleep!"),
    ] {
        let report = shop().with(|report| {
            report.trees.clear();
            report.meta.process.app_version = version.into();
        });
        let report = report.looper_tree(46, &[(stack, 500)]).build().report;
        fs::write(format!("{folder}/{name}.lbx"), recorded(&report)).unwrap();
    }
    folder
}

#[test]
fn a_list_is_filtered_and_leads_to_each_report() {
    let files = Files::new();
    let page = OpenPage::of(&[reports(&files)], files.dir());
    let mut b = Browser::open_url(&page.url, 1280, 900, false);
    assert_eq!(b.js("document.querySelector('h1').textContent"), "3 reports");
    let shown = "[...document.querySelectorAll('tbody tr:not([hidden]) small')].map((e) => e.textContent.slice(-5)).sort().join()";
    assert_eq!(b.js(shown), "a.lbx,b.lbx,c.lbx");
    let choose = |b: &mut Browser, by: &str, value: &str| {
        b.js(&format!(
            "(() => {{ const s = document.querySelector('[data-by={by}]'); \
             s.selectedIndex = [...s.options].findIndex((o) => o.textContent.startsWith('{value}')); \
             s.dispatchEvent(new Event('change')); }})()"
        ));
    };
    choose(&mut b, "version", "5.3 (503) (2)");
    assert_eq!(
        (b.js(shown), b.js("document.getElementById('status').textContent")),
        ("b.lbx,c.lbx".into(), "2 of 3 reports".into())
    );
    choose(&mut b, "group", "com.example.shop.Sync.run");
    assert_eq!(b.js(shown), "c.lbx");
    choose(&mut b, "version", "5.2 (502) (1)");
    assert_eq!(b.js(shown), "", "filters go together");
    for by in ["version", "group"] {
        choose(&mut b, by, "all");
    }
    b.js("(() => { const s = document.getElementById('search'); s.value = 'A.LBX'; s.dispatchEvent(new Event('input')); })()");
    assert_eq!(b.js(shown), "a.lbx");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).unwrap();
    b.picture(&folder.join("list-1280-light.png"));
    b.js("document.querySelector('tbody tr:not([hidden]) a').click()");
    b.wait_for_page();
    assert_eq!(b.js("document.querySelector('h1').textContent"), "com.example.shop");
    assert_eq!(b.js("loopbox.stacks().token"), 46);
}

#[test]
fn a_dropped_file_is_shown_and_stays_in_the_list() {
    let files = Files::new();
    let page = OpenPage::of(&[], files.dir());
    let mut b = Browser::open_url(&page.url, 400, 800, true);
    let drop = |b: &mut Browser, bytes: &[u8]| {
        b.js(&format!(
            "(() => {{ const data = new DataTransfer(); data.items.add(new File([new Uint8Array({bytes:?})], 'x.lbx')); \
             document.body.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()"
        ));
    };
    drop(&mut b, b"no report");
    let said = "new Promise((done) => { const poll = () => { const text = document.getElementById('status').textContent; \
                if (text.startsWith('x.lbx: ')) done(text); else setTimeout(poll, 20); }; poll(); })";
    assert!(b.js(said).as_str().unwrap().contains("not a Loopbox report"));
    drop(&mut b, &shop_bytes());
    b.wait_for_page();
    assert!(b.js("document.getElementById('verdict').textContent").as_str().unwrap().contains("Cart.total"));
    assert!(b.js("location.href").as_str().unwrap() == format!("{}report/0", page.url));
    b.call("Page.navigate", &serde_json::json!({"url": page.url}));
    b.wait_for_page();
    assert_eq!(b.js("document.querySelectorAll('tbody tr').length"), 1);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    b.picture(&folder.join("list-400-dark.png"));
    assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true);
    let whole = "(() => { const list = document.querySelector('.scroll'); return list.scrollWidth <= list.clientWidth; })()";
    assert_eq!(b.js(whole), true, "no column of the list is beyond the edge of a phone");
    let axe = npm_file("axe-core", "4.14.1", "axe.min.js");
    assert_eq!(b.axe(&axe), Vec::<String>::new());
}

/// `127.0.0.1:PORT` of a page, and the path in its address, without a slash at the end.
fn parts(page: &OpenPage) -> (&str, String) {
    let (address, path) = page.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    (address, format!("/{}", path.split('/').next().unwrap()))
}

/// Sends a request unchanged; returns the connection, from which the answer has not been read.
fn sent(page: &OpenPage, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(parts(page).0).unwrap();
    stream.write_all(request.replace("{host}", parts(page).0).as_bytes()).unwrap();
    stream
}

/// The status of the answer.
fn answered(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {answer:?}")).to_owned()
}

/// The status of the answer to a request.
fn status(page: &OpenPage, method: &str, path: &str, headers: &str) -> String {
    answered(sent(page, &format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")))
}

#[test]
fn only_who_has_the_address_is_answered() {
    let files = Files::new();
    let page = OpenPage::of(&[files.report("hang.lbx")], files.dir());
    assert!(page.url.ends_with("/report/0"), "{}", page.url);
    let (_, own) = parts(&page);
    assert_eq!(own.len(), 1 + 32, "{own}");
    let host = "Host: {host}\r\n";
    let of = |path: &str| format!("{own}{path}");
    assert_eq!(status(&page, "GET", &of("/report/0"), host), "200");
    assert_eq!(status(&page, "GET", &of("/"), host), "200");
    assert_eq!(status(&page, "GET", &of("/report/1"), host), "404");
    assert_eq!(status(&page, "GET", &of("/etc/passwd"), host), "404");
    assert_eq!(status(&page, "PUT", &of("/"), host), "405");
    assert_eq!(status(&page, "POST", &of("/report"), host), "400");
    // Another user of this machine, or another program, knows the port and no more.
    let mut nearly = own.clone();
    let last = nearly.pop().unwrap();
    nearly.push(if last == '0' { '1' } else { '0' });
    for path in
        ["/", "/report/0", "//report/0", "/x/report/0", &format!("{nearly}/report/0"), &own, &of("x/")]
    {
        assert_eq!(status(&page, "GET", path, host), "403", "{path}");
    }
    assert_eq!(status(&page, "POST", "/report", host), "403");
    // A name of another site that leads to this machine, and a page of another site.
    assert_eq!(status(&page, "GET", &of("/"), "Host: evil.example\r\n"), "403");
    assert_eq!(status(&page, "GET", &of("/"), "Host: {host}.evil.example\r\n"), "403");
    assert_eq!(status(&page, "GET", &of("/"), "Host: {host}\r\nHost: evil.example\r\n"), "400");
    assert_eq!(status(&page, "GET", &of("/"), ""), "400");
    let from_elsewhere = "Host: {host}\r\nOrigin: http://evil.example\r\n";
    assert_eq!(status(&page, "POST", &of("/report"), from_elsewhere), "403");
    assert_eq!(status(&page, "GET", &of("/"), "Host: {host}\r\nOrigin: null\r\n"), "403");
}

#[test]
fn who_does_not_finish_keeps_nobody_waiting() {
    let files = Files::new();
    let page = OpenPage::of(&[files.report("hang.lbx")], files.dir());
    let (_, own) = parts(&page);
    let post = format!("POST {own}/report HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: ");
    let unfinished: Vec<TcpStream> =
        (0..4).map(|_| sent(&page, &format!("{post}1000000\r\n\r\n12345"))).collect();
    assert_eq!(status(&page, "GET", &format!("{own}/"), "Host: {host}\r\n"), "200");
    // More than are answered at once, which say nothing: they are hung up on.
    let silent: Vec<TcpStream> = (0..60).map(|_| sent(&page, "GET ")).collect();
    assert_eq!(status(&page, "GET", &format!("{own}/"), "Host: {host}\r\n"), "200");
    for mut stream in silent {
        let mut rest = Vec::new();
        // The end, or a reset: nothing in any case.
        let _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
    drop(unfinished);
}

#[test]
fn what_is_sent_is_bounded() {
    let files = Files::new();
    let page = OpenPage::of(&[files.report("hang.lbx")], files.dir());
    let (_, own) = parts(&page);
    let report = format!("{own}/report");
    let with = |more: &str| format!("Host: {{host}}\r\n{more}\r\n");
    for (length, code) in
        [("99999999999", "413"), ("18446744073709551616", "400"), ("-1", "400"), ("x", "400")]
    {
        assert_eq!(status(&page, "POST", &report, &with(&format!("Content-Length: {length}"))), code);
    }
    assert_eq!(status(&page, "POST", &report, &with("Content-Length: 1\r\nContent-Length: 2")), "400");
    assert_eq!(status(&page, "GET", &format!("{own}/"), &with("Content-Length: 5")), "413");
    assert_eq!(status(&page, "POST", &report, &with("Transfer-Encoding: chunked")), "411");
    assert_eq!(status(&page, "GET", &format!("{own}/{}", "x".repeat(20_000)), &with("X: y")), "431");
    assert_eq!(status(&page, "GET", &format!("{own}/"), &"X: y\r\n".repeat(100)), "431");
    assert_eq!(answered(sent(&page, "\u{1}\r\n\r\n")), "400");
    // A report that is sent as a browser does it.
    let bytes = shop_bytes();
    let head = format!("POST {report} HTTP/1.1\r\n{}", with(&format!("Content-Length: {}\r\n", bytes.len())));
    let mut stream = sent(&page, &head);
    stream.write_all(&bytes).unwrap();
    assert_eq!(answered(stream), "200");
    assert_eq!(status(&page, "GET", &format!("{own}/report/1"), "Host: {host}\r\n"), "200");
}

#[test]
fn the_address_is_no_word_of_a_command_line() {
    let files = Files::new();
    let bin = files.path("bin");
    fs::create_dir(bin).unwrap();
    // A program whose name the opener searches for. It prints what it was started with, and what is in that
    // file.
    let said = files.path("said");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {said}.new\nstat -c %a \"$1\" >> {said}.new\ncat \"$1\" >> {said}.new\nmv {said}.new {said}\n"
    );
    fs::write(format!("{bin}/xdg-open"), script).unwrap();
    fs::set_permissions(format!("{bin}/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
    command
        .args(["open", files.report("hang.lbx")])
        .env("PATH", format!("{bin}:/usr/bin:/bin"))
        .env("TMPDIR", files.dir());
    let page = OpenPage::start(command);
    let begun = Instant::now();
    while !Path::new(said).exists() {
        assert!(begun.elapsed() < Duration::from_mins(2), "no browser was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let said = fs::read_to_string(said).unwrap();
    let mut lines = said.lines();
    let file = lines.next().unwrap().to_owned();
    assert!(!file.contains(&parts(&page).1[1..]) && Path::new(&file).is_file(), "{file}");
    assert_eq!(lines.next(), Some("600"));
    assert!(said.contains(&format!("url={}\"", page.url)), "{said}");
    let mut b = Browser::open_url(&format!("file://{file}"), 400, 800, false);
    b.wait_for_page();
    let verdict = "document.getElementById('verdict') !== null";
    while b.js(verdict) != true {
        assert!(begun.elapsed() < Duration::from_mins(2), "it does not lead to the page");
        std::thread::sleep(Duration::from_millis(10));
    }
    // It has done what it is for.
    assert!(!Path::new(&file).exists(), "{file}");
}
