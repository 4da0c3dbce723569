//! A headless Chromium, driven through its DevTools protocol over two named pipes.
#![allow(dead_code, reason = "each test binary uses its part")]

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// One page in a separate browser process.
pub(crate) struct Browser {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    last_id: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Opens a file in a window of this size.
    pub(crate) fn open(page: &Path, width: u32, height: u32, dark: bool) -> Self {
        Self::open_url(&format!("file://{}", page.display()), width, height, dark)
    }

    /// Opens a page in a window of this size.
    pub(crate) fn open_url(url: &str, width: u32, height: u32, dark: bool) -> Self {
        let program = std::env::var("LOOPBOX_CHROMIUM").unwrap_or_else(|_| "chromium".into());
        let profile = TempDir::new().expect("a folder");
        let [to, from] = ["to", "from"].map(|name| {
            let path = profile.path().join(name);
            assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
            path
        });
        // The browser reads commands from descriptor 3 and writes answers to 4; the shell puts the pipes
        // there.
        let script = r#"exec "$0" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
                        --user-data-dir="$1" --remote-debugging-pipe about:blank 3<"$2" 4>"$3""#;
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", &program]).output().expect("sh runs");
        assert!(
            found.status.success(),
            "{program} is missing: apt-get install chromium, or set LOOPBOX_CHROMIUM"
        );
        let process = Command::new("sh")
            .args(["-c", script, &program])
            .args([profile.path(), &to, &from])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let to = OpenOptions::new().write(true).open(to).expect("the pipe opens");
        let from = BufReader::new(File::open(from).expect("the pipe opens"));
        let mut browser =
            Self { process, to, from, session: None, last_id: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", &attach)["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        browser.call("Emulation.setDeviceMetricsOverride", &screen);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", &media);
        browser.go("Page.navigate", &json!({"url": url}));
        browser
    }

    /// Calls a method that loads a page, and waits until the page is loaded.
    fn go(&mut self, method: &str, params: &Value) {
        self.events.clear();
        self.call(method, params);
        self.wait_for_page();
    }

    /// Waits for a page to be loaded.
    pub(crate) fn wait_for_page(&mut self) {
        while !self.events.iter().any(|e| e["method"] == "Page.loadEventFired") {
            self.read();
        }
        self.events.retain(|e| e["method"] != "Page.loadEventFired");
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser has gone");
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.read();
            if answer["id"] == self.last_id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression in the page; for a promise, its result.
    pub(crate) fn js(&mut self, expression: &str) -> Value {
        let evaluate = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", &evaluate);
        let start: String = expression.chars().take(200).collect();
        assert!(result.get("exceptionDetails").is_none(), "{start}: {result}");
        result["result"]["value"].clone()
    }

    /// Clicks on an element: at the fraction `part` of its width, and `down` pixels below its top.
    pub(crate) fn click(&mut self, element: &str, part: f64, down: f64) {
        let box_of = format!(
            "(() => {{ const e = document.querySelector('{element}'); e.scrollIntoView({{block: 'center'}}); \
             const b = e.getBoundingClientRect(); return [b.left, b.top, b.width]; }})()"
        );
        let rect = self.js(&box_of);
        let at = |i: usize| rect[i].as_f64().expect("a number");
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": at(0) + at(2) * part, "y": at(1) + down, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Moves the pointer over an element: to the fraction `part` of its width, and `down` pixels below its
    /// top.
    pub(crate) fn hover(&mut self, element: &str, part: f64, down: f64) {
        let rect = self.js(&format!(
            "(() => {{ const b = document.querySelector('{element}').getBoundingClientRect(); return [b.left, b.top, b.width]; }})()"
        ));
        let at = |i: usize| rect[i].as_f64().expect("a number");
        let event = json!({"type": "mouseMoved", "x": at(0) + at(2) * part, "y": at(1) + down});
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Shows the page as it would be printed; when `on` is false, as on a screen.
    pub(crate) fn print_media(&mut self, on: bool) {
        self.call("Emulation.setEmulatedMedia", &json!({"media": if on { "print" } else { "" }}));
    }

    /// Turns scripts off, and loads the page again.
    pub(crate) fn without_script(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
        self.go("Page.reload", &json!({}));
    }

    /// What axe-core finds against WCAG and its own best practices.
    pub(crate) fn axe(&mut self, axe: &Path) -> Vec<String> {
        let source = std::fs::read_to_string(axe).expect("axe-core");
        self.js(&format!("{source}; 0"));
        let found = self
            .js("axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.help + ' — ' + \
             v.nodes.slice(0, 4).map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')))");
        let found = found.as_array().expect("a list").iter();
        found.map(|violation| violation.as_str().expect("a text").to_owned()).collect()
    }

    /// Presses a key.
    pub(crate) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({"type": kind, "key": key}));
        }
    }

    /// Writes a picture of what is in the window.
    pub(crate) fn view(&mut self, file: &Path) {
        let shot = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        std::fs::write(file, base64(shot["data"].as_str().expect("a picture"))).expect("a file");
    }

    /// Writes a picture of the whole page, down to 3000 pixels.
    pub(crate) fn picture(&mut self, file: &Path) {
        let size = self.js("[innerWidth, Math.min(document.documentElement.scrollHeight, 3000)]");
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let shot = self.call(
            "Page.captureScreenshot",
            &json!({"format": "png", "captureBeyondViewport": true, "clip": clip}),
        );
        std::fs::write(file, base64(shot["data"].as_str().expect("a picture"))).expect("a file");
    }

    /// What the page logged to its console, the exceptions it threw, and its requests to the network.
    pub(crate) fn problems(&self) -> Vec<String> {
        let noteworthy = |e: &&Value| match e["method"].as_str() {
            Some(
                "Runtime.exceptionThrown"
                | "Runtime.consoleAPICalled"
                | "Log.entryAdded"
                | "Page.javascriptDialogOpening",
            ) => true,
            Some("Network.requestWillBeSent") => e["params"]["type"] != "Document",
            _ => false,
        };
        self.events.iter().filter(noteworthy).map(ToString::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0_u32;
    let mut have = 0;
    let mut bytes = Vec::new();
    for letter in text.bytes().filter_map(|b| LETTERS.iter().position(|l| *l == b)) {
        bits = bits << 6 | letter as u32;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
        }
    }
    bytes
}
