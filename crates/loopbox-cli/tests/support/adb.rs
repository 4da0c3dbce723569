//! A stand-in for an adb server with one device: it speaks adb's protocol, and runs the commands of the device's shell in a shell of
//! this machine, where `pm` and `run-as` are scripts and the data of apps are folders.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// The serial number of the device.
pub(crate) const SERIAL: &str = "emulator-5554";

/// The server. It goes with the process.
pub(crate) struct AdbStandIn {
    pub(crate) port: u16,
    device: Arc<TempDir>,
}

impl AdbStandIn {
    /// Starts a server whose device has these apps. Without `debuggable` in its name, an app is not.
    pub(crate) fn start(devices: &'static str) -> Self {
        let device = Arc::new(TempDir::new().expect("a folder"));
        let bin = device.path().join("bin");
        fs::create_dir_all(&bin).expect("a folder");
        fs::create_dir_all(device.path().join("data")).expect("a folder");
        script(
            &bin.join("pm"),
            "for app in \"$DEVICE\"/data/*; do echo \"package:$(basename \"$app\")\"; done",
        );
        script(
            &bin.join("run-as"),
            "app=\"$1\"; shift; [ -d \"$DEVICE/data/$app\" ] || { echo \"run-as: unknown package: $app\" >&2; exit 1; }\n\
             [ ! -e \"$DEVICE/data/$app/.release\" ] || { echo \"run-as: package not debuggable: $app\" >&2; exit 1; }\n\
             cd \"$DEVICE/data/$app\" && exec \"$@\"",
        );
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let root = Arc::clone(&device);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let root = Arc::clone(&root);
                std::thread::spawn(move || serve(client, root.path(), devices));
            }
        });
        Self { port, device }
    }

    /// A device that is ready.
    pub(crate) fn ready() -> Self {
        Self::start("emulator-5554          device product:sdk model:Pixel_8 transport_id:1\n")
    }

    /// Puts a file into the data of an app.
    pub(crate) fn put(&self, app: &str, file: &str, bytes: &[u8]) -> PathBuf {
        let path = self.device.path().join("data").join(app).join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, bytes).expect("a file");
        path
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).expect("a script");
}

/// Answers one connection, until the client goes.
fn serve(mut client: TcpStream, device: &Path, devices: &str) -> Option<()> {
    loop {
        let request = request(&mut client)?;
        let fail = |client: &mut TcpStream, why: &str| {
            client.write_all(format!("FAIL{:04x}{why}", why.len()).as_bytes()).ok()
        };
        if request == "host:devices-l" {
            client.write_all(format!("OKAY{:04x}{devices}", devices.len()).as_bytes()).ok()?;
            return None;
        } else if let Some(serial) = request.strip_prefix("host:transport:") {
            if serial != SERIAL {
                return fail(&mut client, &format!("device '{serial}' not found"));
            }
            client.write_all(b"OKAY").ok()?;
        } else if let Some(command) = request.strip_prefix("shell,v2,raw:") {
            client.write_all(b"OKAY").ok()?;
            return shell(&mut client, device, command);
        } else {
            return fail(&mut client, "unknown host service");
        }
    }
}

fn request(client: &mut TcpStream) -> Option<String> {
    let mut digits = [0; 4];
    client.read_exact(&mut digits).ok()?;
    let mut text = vec![0; usize::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?];
    client.read_exact(&mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Runs a command, and sends its output in packets as adbd does.
fn shell(client: &mut TcpStream, device: &Path, command: &str) -> Option<()> {
    let path = format!("{}:{}", device.join("bin").display(), std::env::var("PATH").ok()?);
    let out =
        Command::new("sh").args(["-c", command]).env("PATH", path).env("DEVICE", device).output().ok()?;
    let mut packet = |kind: u8, bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).expect("small").to_le_bytes();
        client.write_all(&[&[kind], &length[..], bytes].concat()).ok()
    };
    for piece in out.stdout.chunks(1_000) {
        packet(1, piece)?;
    }
    packet(2, &out.stderr)?;
    packet(3, &[out.status.code().unwrap_or(255) as u8])
}
