//! A stand-in for an adb server with one device: it speaks adb's protocol, and runs the commands of the device's shell in a
//! shell of this machine, where the device's programs are scripts and the data of apps are folders.
//!
//! Paths are this machine's: what is pushed is written where the path says.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The serial number of the device.
pub const SERIAL: &str = "emulator-5554";

/// The file of its shell's profile, in its folder.
const PROFILE: &str = "profile";
/// Lists the apps, as Android's package manager does.
const PM: &str = "for app in \"$DEVICE\"/data/*; do echo \"package:$(basename \"$app\")\"; done";
/// Runs a command as an app, when that is debuggable: when it has no file `.release`.
const RUN_AS: &str = "app=\"$1\"; shift; [ -d \"$DEVICE/data/$app\" ] || { echo \"run-as: unknown package: $app\" >&2; exit 1; }\n\
    [ ! -e \"$DEVICE/data/$app/.release\" ] || { echo \"run-as: package not debuggable: $app\" >&2; exit 1; }\n\
    cd \"$DEVICE/data/$app\" && exec \"$@\"";

/// The server. It goes with the process.
#[derive(Debug)]
pub struct AdbStandIn {
    port: u16,
    device: Arc<TempDir>,
}

impl AdbStandIn {
    /// Starts a server that answers with this list of devices.
    ///
    /// # Errors
    /// When there is no folder or no port for it.
    pub fn start(devices: &'static str) -> Result<Self> {
        let device = Arc::new(TempDir::new()?);
        fs::create_dir_all(device.path().join("data"))?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let stand_in = Self { port, device };
        stand_in.program("pm", PM)?;
        stand_in.program("run-as", RUN_AS)?;
        let root = Arc::clone(&stand_in.device);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let root = Arc::clone(&root);
                std::thread::spawn(move || serve(client, root.path(), devices));
            }
        });
        Ok(stand_in)
    }

    /// A device that is ready.
    ///
    /// # Errors
    /// When there is no folder or no port for it.
    pub fn ready() -> Result<Self> {
        Self::start("emulator-5554          device product:sdk model:Pixel_8 transport_id:1\n")
    }

    /// Where the server listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder that is the device: `bin` has its programs, `data` a folder for each app.
    pub fn folder(&self) -> &Path {
        self.device.path()
    }

    /// Puts a program on the device, a script for `sh`. The variable `DEVICE` names the folder of the device.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn program(&self, name: &str, script: &str) -> Result<()> {
        write(&self.folder().join("bin").join(name), format!("#!/bin/sh\n{script}\n").as_bytes(), 0o755)
    }

    /// What its shell reads before each command, as Android's reads `mkshrc`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn profile(&self, script: &str) -> Result<()> {
        write(&self.folder().join(PROFILE), script.as_bytes(), 0o644)
    }

    /// Puts a file into the data of an app.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, app: &str, file: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.folder().join("data").join(app).join(file);
        write(&path, bytes, 0o644)?;
        Ok(path)
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let folder = path.parent().with_context(|| format!("{} has no folder", path.display()))?;
    fs::create_dir_all(folder)?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
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
            return shell(client, device, command);
        } else if request == "sync:" {
            client.write_all(b"OKAY").ok()?;
            return receive(&mut client);
        } else {
            return fail(&mut client, "unknown host service");
        }
    }
}

fn request(client: &mut TcpStream) -> Option<String> {
    let mut digits = [0; 4];
    client.read_exact(&mut digits).ok()?;
    let length = usize::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
    String::from_utf8(bytes(client, length)?).ok()
}

fn bytes(client: &mut TcpStream, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Runs a command, and sends its output in packets as adbd does: while it comes.
fn shell(client: TcpStream, device: &Path, command: &str) -> Option<()> {
    let path = format!("{}:{}", device.join("bin").display(), std::env::var("PATH").ok()?);
    let profile = fs::read_to_string(device.join(PROFILE)).unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{profile}\n{command}")])
        .env("PATH", path)
        .env("DEVICE", device)
        .stdin(Stdio::null());
    let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let client = Mutex::new(client);
    let packet = |kind: u8, bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).ok()?.to_le_bytes();
        let packet = [&[kind], &length[..], bytes].concat();
        client.lock().unwrap_or_else(PoisonError::into_inner).write_all(&packet).ok()
    };
    let (stdout, stderr) = (child.stdout.take()?, child.stderr.take()?);
    std::thread::scope(|scope| {
        scope.spawn(|| copy(stdout, |bytes| packet(1, bytes)));
        scope.spawn(|| copy(stderr, |bytes| packet(2, bytes)));
    });
    let status = child.wait().ok()?;
    packet(3, &[status.code().unwrap_or(255) as u8])
}

/// Small pieces, so that lines and characters are cut.
fn copy(mut from: impl Read, to: impl Fn(&[u8]) -> Option<()>) -> Option<()> {
    let mut buffer = [0; 1_000];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Some(()),
            Ok(length) => to(buffer.get(..length)?)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Takes files, as adbd does, until the client goes.
fn receive(client: &mut TcpStream) -> Option<()> {
    let (mut target, mut content) = (String::new(), Vec::new());
    loop {
        let kind = bytes(client, 4)?;
        let number = u32::from_le_bytes(bytes(client, 4)?.try_into().ok()?);
        match kind.as_slice() {
            b"SEND" => target = String::from_utf8(bytes(client, number as usize)?).ok()?,
            b"DATA" => content.extend(bytes(client, number as usize)?),
            b"DONE" => {
                let (path, mode) = target.rsplit_once(',')?;
                let written = write(Path::new(path), &content, mode.parse::<u32>().ok()? & 0o7777);
                let (word, why) = match written {
                    Ok(()) => ("OKAY", String::new()),
                    Err(error) => ("FAIL", format!("{error:#}")),
                };
                let length = (why.len() as u32).to_le_bytes();
                client.write_all(&[word.as_bytes(), &length, why.as_bytes()].concat()).ok()?;
                content.clear();
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_mins(2);

    #[test]
    fn a_file_is_pushed_whole_and_read_back() {
        let stand_in = AdbStandIn::ready().unwrap();
        let server = Server::at(stand_in.port());
        let file = stand_in.folder().join("tmp/it's.bin");
        let path = file.display().to_string();
        let content: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        server.push(SERIAL, &content, &path, 0o750).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
        let read = format!("cat {}", crate::quoted(&path));
        assert_eq!(server.shell(SERIAL, &read, 1 << 20).unwrap().stdout, content);
        let error = format!("{:#}", server.shell(SERIAL, &read, 100_000).unwrap_err());
        assert!(error.contains("more than is taken"), "{error}");
        let error = format!("{:#}", server.push(SERIAL, &[], "/proc/none/x", 0o644).unwrap_err());
        assert!(error.starts_with("emulator-5554: /proc/none/x: "), "{error}");
        assert!(server.push("other", &[], &path, 0o644).is_err());
    }

    #[test]
    fn the_lines_of_a_command_come_while_it_runs() {
        let stand_in = AdbStandIn::ready().unwrap();
        let server = Server::at(stand_in.port());
        let gate = stand_in.folder().join("gate");
        stand_in
            .program("waits", "echo begun; while [ ! -e \"$DEVICE/gate\" ]; do sleep 0.01; done; echo over; echo why >&2; exit 7")
            .unwrap();
        let mut program = server.start(SERIAL, "waits").unwrap();
        assert_eq!(program.wait_for("beg", LIMIT).unwrap(), "begun");
        fs::write(gate, "").unwrap();
        assert_eq!(program.finish(LIMIT).unwrap(), (7, "why\n".to_owned()));
        assert_eq!(program.seen(), ["begun", "over"]);
        let mut program = server.start(SERIAL, "waits").unwrap();
        let error = program.wait_for("never", LIMIT).unwrap_err().to_string();
        assert!(error.contains("before the end (7)") && error.ends_with("over\nwhy\n"), "{error}");
    }
}
