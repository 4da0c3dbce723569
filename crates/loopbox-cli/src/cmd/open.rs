//! `loopbox open`.

use crate::attachment::{self, Unpacked};
use crate::batch::BatchReading;
use crate::config::app_packages;
use crate::input;
use crate::mapping::Mapper;
use crate::outcome::Outcome;
use crate::output;
use crate::server::{Answers, Request, Response, Server};
use anyhow::{Result, bail};
use loopbox_format::report::Decoded;
use loopbox_report::cluster::{self, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, AppPackages, escape, html};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// The list has at most this many reports: no browser copes with a longer page. `loopbox cluster` is for
/// more.
const MAX_LISTED: usize = 5_000;
/// At most this number of the reports that are dropped on the page is kept. Together they have at most
/// [`MAX_DROPPED_BYTES`].
const MAX_DROPPED: usize = 200;
const MAX_DROPPED_BYTES: usize = 512 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox open reports/
  loopbox open hang.lbx --mapping mapping.txt
  loopbox open")]
pub(crate) struct Args {
    /// Reports, and folders that are searched for files that end in .lbx; without any, only files that are
    /// dropped on the page are shown.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Listens at this port of 127.0.0.1; without it, at one that is free.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Starts no browser: the address is printed.
    #[arg(long)]
    no_browser: bool,
    #[command(flatten)]
    reading: BatchReading,
}

/// Where the bytes of a report are.
#[derive(Debug, Clone)]
enum Source {
    File(PathBuf),
    Dropped(Arc<Vec<u8>>),
}

struct Viewer {
    shown: Mutex<Shown>,
    mapper: Mapper,
    packages: AppPackages,
    process: Option<String>,
    /// Held while a dropped file is unpacked and read, so that this happens to one file at a time.
    taking: Mutex<()>,
    /// The file that redirects the browser to this page; it is removed once it has done so.
    way: Mutex<Option<TempPath>>,
}

/// The available reports by their numbers.
#[derive(Default)]
struct Shown {
    reports: Vec<Source>,
    listed: Vec<(usize, Sighting)>,
    dropped: usize,
    dropped_bytes: usize,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let server = Server::listen(args.port)?;
    let (shown, outcome) = find(args)?;
    // One report is what there is to see.
    let start = if let [_] = shown.listed.as_slice() { "report/0" } else { "" };
    let url = server.url() + start;
    output::write_plain(format!("{url}\n"))?;
    let viewer = Viewer {
        shown: Mutex::new(shown),
        mapper: Mapper::load(&args.reading.reading.mappings)?,
        packages: app_packages(&args.reading.reading.packages)?,
        process: args.reading.reading.process.clone(),
        taking: Mutex::new(()),
        way: Mutex::new(None),
    };
    if !args.no_browser {
        match show(&url) {
            Ok(way) => *lock(&viewer.way) = Some(way),
            Err(error) => {
                output::print_error(format_args!("no browser can be started: {error:#}; open {url}"));
            }
        }
    }
    server.serve(viewer);
    Ok(outcome)
}

/// Starts a browser with a file that only this user can read and that leads to the page. The address itself
/// does not go on the browser's command line, which every user can see.
fn show(url: &str) -> Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("loopbox-").suffix(".html").tempfile()?;
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={0}\"><title>Loopbox</title><a href=\"{0}\">the reports</a>",
        escape(url)
    )?;
    let way = file.into_temp_path();
    open::that_detached(&way)?;
    Ok(way)
}

/// Reads the reports for the list.
fn find(args: &Args) -> Result<(Shown, Outcome)> {
    let mut shown = Shown::default();
    if args.paths.is_empty() {
        return Ok((shown, Outcome::Complete));
    }
    let visit = |found: &mut Vec<(PathBuf, Sighting)>, analysis: &Analysis, path: &str| {
        found.push((PathBuf::from(path), Sighting::new(analysis, &diagnose(analysis), path)));
        Ok(())
    };
    let batch = args.reading.read(&args.paths, Vec::new, visit)?;
    let mut found: Vec<(PathBuf, Sighting)> = batch.states.into_iter().flatten().collect();
    found.sort_by(|x, y| x.0.cmp(&y.0));
    for (path, sighting) in found {
        shown.listed.push((shown.reports.len(), sighting));
        shown.reports.push(Source::File(path));
    }
    Ok((shown, batch.outcome))
}

impl Answers for Viewer {
    fn max_body(&self, request: &Request) -> u64 {
        if request.method == "POST" { input::MAX_LEN } else { 0 }
    }

    fn answer(&self, request: &Request, body: Vec<u8>) -> Response {
        // The browser is here.
        lock(&self.way).take();
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => Response::page(cluster::list(&lock(&self.shown).listed, MAX_LISTED)),
            ("GET", path) => {
                let number = path.strip_prefix("/report/").and_then(|number| number.parse::<usize>().ok());
                let source = number.and_then(|number| lock(&self.shown).reports.get(number).cloned());
                match source.map(|source| self.report(&source)) {
                    Some(Ok(html)) => Response::page(html),
                    Some(Err(error)) => Response::text(500, format!("{error:#}")),
                    None => Response::text(404, "no such report"),
                }
            }
            ("POST", "/report") => match self.take(body) {
                Ok(number) => Response::text(200, format!("report/{number}")),
                Err(error) => Response::text(400, format!("{error:#}")),
            },
            _ => Response::text(405, "not that way"),
        }
    }
}

impl Viewer {
    /// Keeps a dropped file if it is a report, and returns its number.
    fn take(&self, bytes: Vec<u8>) -> Result<usize> {
        let _one = lock(&self.taking);
        let unpacked = attachment::unpack(bytes, input::MAX_LEN)?;
        if unpacked.bytes.len() as u64 > input::MAX_LEN {
            bail!("larger than a report can be ({} MiB)", input::MAX_LEN >> 20);
        }
        let bytes = unpacked.bytes.clone();
        let decoded = input::decode_unpacked(unpacked, Path::new("the file"), self.process())?.decoded;
        let analysis = self.load(decoded);
        let sighting = Sighting::new(&analysis, &diagnose(&analysis), "dropped on this page");
        let mut shown = lock(&self.shown);
        if shown.dropped == MAX_DROPPED || shown.dropped_bytes + bytes.len() > MAX_DROPPED_BYTES {
            bail!(
                "{} reports were dropped, and no more can be kept: start loopbox open again",
                shown.dropped
            );
        }
        let number = shown.reports.len();
        shown.dropped += 1;
        shown.dropped_bytes += bytes.len();
        shown.listed.push((number, sighting));
        shown.reports.push(Source::Dropped(Arc::new(bytes)));
        Ok(number)
    }

    fn process(&self) -> Option<&str> {
        self.process.as_deref()
    }

    fn load(&self, mut decoded: Decoded) -> Analysis {
        // Names of a build without a mapping stay as they are.
        let _ = self.mapper.apply(&mut decoded.report);
        Analysis::with_packages(&decoded, &self.packages)
    }

    fn report(&self, source: &Source) -> Result<String> {
        let input = match source {
            Source::File(path) => input::decode(path, self.process())?,
            Source::Dropped(bytes) => {
                let unpacked = Unpacked { bytes: bytes.to_vec(), ..Unpacked::default() };
                input::decode_unpacked(unpacked, Path::new("the file"), self.process())?
            }
        };
        let analysis = self.load(input.decoded);
        Ok(html::page(&analysis, &diagnose(&analysis))?)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
