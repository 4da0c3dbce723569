//! `loopbox open` in a real browser, and asked by others than its page.

#[path = "support/browser.rs"]
mod browser;
mod support;

use browser::Browser;
use loopbox_format::report::encode;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use support::tools::npm_file;
use support::{Files, OpenPage, shop, shop_bytes};

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
        fs::write(format!("{folder}/{name}.lbx"), encode(&report).unwrap()).unwrap();
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
    let said = "new Promise((done) => { const look = () => { const text = document.getElementById('status').textContent; \
                if (text.startsWith('x.lbx: ')) done(text); else setTimeout(look, 20); }; look(); })";
    assert!(b.js(said).as_str().unwrap().contains("not a Loopbox report"));
    drop(&mut b, &shop_bytes());
    b.wait_for_page();
    assert!(b.js("document.getElementById('verdict').textContent").as_str().unwrap().contains("Cart.total"));
    assert_eq!(b.js("location.pathname"), "/report/0");
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

/// The status of the answer to a request.
fn status(page: &OpenPage, method: &str, path: &str, headers: &str) -> String {
    let address = page.url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let headers = headers.replace("{host}", &address);
    write!(stream, "{method} {path} HTTP/1.1\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn one_report_is_opened_itself_and_no_other_client_is_answered() {
    let files = Files::new();
    let page = OpenPage::of(&[files.report("hang.lbx")], files.dir());
    assert!(page.url.ends_with("/report/0"), "{}", page.url);
    let own = "Host: {host}\r\n";
    assert_eq!(status(&page, "GET", "/report/0", own), "200");
    assert_eq!(status(&page, "GET", "/", own), "200");
    assert_eq!(status(&page, "GET", "/report/1", own), "404");
    assert_eq!(status(&page, "GET", "/etc/passwd", own), "404");
    assert_eq!(status(&page, "PUT", "/", own), "405");
    assert_eq!(status(&page, "POST", "/report", own), "400");
    // A name of another site that leads to this machine, and a page of another site.
    assert_eq!(status(&page, "GET", "/", "Host: evil.example\r\n"), "403");
    assert_eq!(status(&page, "POST", "/report", "Host: {host}\r\nOrigin: http://evil.example\r\n"), "403");
}
