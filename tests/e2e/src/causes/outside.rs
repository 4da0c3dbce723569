//! What is done to a process from outside while its main thread is in a message.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Running};
use lab_reports::LIMIT;

use crate::machine::{Cgroup, Hogs};

/// What happens to the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    Nothing,
    /// The process is stopped by a signal for most of the message.
    Stop,
    /// The process's control group is frozen for most of the message. The system does the same to apps that
    /// are not visible.
    Freeze,
    /// The process's control group gets a tenth of a processor.
    Quota,
    /// Other processes take the processors.
    Neighbours,
    /// A Java debugger stops all threads of the process for most of the message.
    Debugger,
}

/// What keeps the effect of an [`Outside`] going. The caller must keep this value until the process has
/// ended. `Nothing`: there is nothing to keep.
pub(super) enum Around {
    Nothing,
    Group { _group: Cgroup },
    Neighbours { _hogs: Hogs },
    Debugger { _connection: TcpStream },
}

/// Main runs for `RUNS` before it is stopped, and is stopped for `STOPPED`.
const RUNS: Duration = Duration::from_millis(500);
const STOPPED: Duration = Duration::from_millis(4_400);

impl Outside {
    /// Starts the app, and acts when the app is in its message.
    pub(super) fn start(self, app: App) -> Result<(Running, Around)> {
        let port = if self == Self::Debugger { Some(free_port()?) } else { None };
        let app = match port {
            Some(port) => {
                let socket = format!("-XjdwpOptions:transport=dt_socket,address={port},server=y,suspend=n");
                app.option("-X").option("-XjdwpProvider:internal").option("-X").option(&socket)
            }
            None => app,
        };
        let mut app = app.start()?;
        if self == Self::Nothing {
            return Ok((app, Around::Nothing));
        }
        app.wait_for("SCRIPT hangs", LIMIT)?;
        sleep(RUNS);
        let around = match self {
            Self::Nothing => Around::Nothing,
            Self::Stop => {
                app.signal("STOP")?;
                sleep(STOPPED);
                app.signal("CONT")?;
                Around::Nothing
            }
            Self::Freeze => {
                let group = group(&["cgroup.freeze", "freezer.state"])?;
                let (on, off) = if group.file == "cgroup.freeze" { ("1", "0") } else { ("FROZEN", "THAWED") };
                group.add(app.pid())?;
                group.set(on)?;
                sleep(STOPPED);
                group.set(off)?;
                Around::Group { _group: group }
            }
            Self::Quota => {
                let group = group(&["cpu.max", "cpu.cfs_quota_us"])?;
                group.set(if group.file == "cpu.max" { "10000 100000" } else { "10000" })?;
                group.add(app.pid())?;
                Around::Group { _group: group }
            }
            Self::Neighbours => Around::Neighbours { _hogs: Hogs::start(4)? },
            Self::Debugger => Around::Debugger { _connection: debug(port.context("no port")?)? },
        };
        Ok((app, around))
    }
}

fn group(files: &[&'static str]) -> Result<Cgroup> {
    files
        .iter()
        .copied()
        .find_map(Cgroup::with)
        .with_context(|| format!("no control group has {files:?} here"))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The debugger's command `Suspend`, as its set and its number in JDWP. `RESUME` is the command `Resume`.
/// Both are in the set `VirtualMachine`.
const SUSPEND: (u8, u8) = (1, 8);
const RESUME: (u8, u8) = (1, 9);

/// Connects as a debugger does, stops all threads for a while and resumes them.
fn debug(port: u16) -> Result<TcpStream> {
    const HANDSHAKE: &[u8; 14] = b"JDWP-Handshake";
    let began = Instant::now();
    let mut vm = loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(vm) => break vm,
            Err(failed) if began.elapsed() > LIMIT => return Err(failed).context("no debugger is let in"),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    };
    vm.set_read_timeout(Some(LIMIT))?;
    vm.write_all(HANDSHAKE)?;
    let mut answer = [0; HANDSHAKE.len()];
    vm.read_exact(&mut answer).context("no answer to the handshake")?;
    ensure!(&answer == HANDSHAKE, "{answer:?}");
    command(&mut vm, 1, SUSPEND)?;
    sleep(STOPPED);
    command(&mut vm, 2, RESUME)?;
    Ok(vm)
}

/// Sends a command without data, and waits for its reply; events before the reply are skipped.
fn command(vm: &mut TcpStream, id: u32, (set, number): (u8, u8)) -> Result<()> {
    const HEAD: usize = 11;
    const REPLY: u8 = 0x80;
    let mut packet = (HEAD as u32).to_be_bytes().to_vec();
    packet.extend(id.to_be_bytes());
    packet.extend([0, set, number]);
    vm.write_all(&packet)?;
    loop {
        let mut head = [0; HEAD];
        vm.read_exact(&mut head).context("no reply to a debugger's command")?;
        let [l0, l1, l2, l3, i0, i1, i2, i3, flags, error @ ..] = head;
        let rest = (u32::from_be_bytes([l0, l1, l2, l3]) as usize).saturating_sub(HEAD);
        vm.read_exact(&mut vec![0; rest])?;
        if flags & REPLY != 0 && u32::from_be_bytes([i0, i1, i2, i3]) == id {
            ensure!(error == [0, 0], "the command {set}.{number} failed: {error:?}");
            return Ok(());
        }
    }
}
