//! `loopbox open`.

use crate::attachment;
use crate::batch::BatchReading;
use crate::config::app_packages;
use crate::input;
use crate::mapping::Mapper;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use loopbox_format::report::Decoded;
use loopbox_report::cluster::{self, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::json::ReportView;
use loopbox_report::{Analysis, AppPackages, html};
use std::io::Read;
use std::path::{Path, PathBuf};
use tiny_http::{Header, Method, Request, Response, Server};

/// How many reports the list has: more make a page that no browser likes. `loopbox cluster` is for more.
const MAX_LISTED: usize = 5_000;
/// How many dropped reports are kept.
const MAX_DROPPED: usize = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox open reports/
  loopbox open hang.lbx --mapping mapping.txt
  loopbox open")]
pub(crate) struct Args {
    /// Reports, and folders that are searched for files that end in .lbx; without any, only files that are dropped on the page
    /// are shown.
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
enum Source {
    File(PathBuf),
    Dropped(Vec<u8>),
}

struct Viewer {
    reports: Vec<Source>,
    listed: Vec<(usize, Sighting)>,
    dropped: usize,
    mapper: Mapper,
    packages: AppPackages,
    /// `127.0.0.1:PORT`, the only name that it answers to: a page of another site could have a name of its own lead here.
    host: String,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let server = Server::http(("127.0.0.1", args.port))
        .map_err(|error| anyhow!("127.0.0.1:{}: {error}", args.port))?;
    let address = server.server_addr().to_ip().context("not an address of this machine")?;
    let mut viewer = Viewer {
        reports: Vec::new(),
        listed: Vec::new(),
        dropped: 0,
        mapper: Mapper::load(&args.reading.reading.mappings)?,
        packages: app_packages(&args.reading.reading.packages)?,
        host: address.to_string(),
    };
    let outcome = viewer.find(args)?;
    // One report is what there is to see.
    let start = if let [_] = viewer.listed.as_slice() { "report/0" } else { "" };
    let url = format!("http://{address}/{start}");
    output::write_plain(format!("{url}\n"))?;
    if !args.no_browser
        && let Err(error) = open::that_detached(&url)
    {
        output::print_error(format_args!("no browser can be started: {error}; open {url}"));
    }
    for request in server.incoming_requests() {
        viewer.answer(request);
    }
    Ok(outcome)
}

impl Viewer {
    /// Reads the reports for the list.
    fn find(&mut self, args: &Args) -> Result<Outcome> {
        if args.paths.is_empty() {
            return Ok(Outcome::Complete);
        }
        let visit = |found: &mut Vec<(PathBuf, Sighting)>, analysis: &Analysis, path: &str| {
            found.push((PathBuf::from(path), Sighting::new(analysis, &diagnose(analysis), path)));
            Ok(())
        };
        let batch = args.reading.read(&args.paths, Vec::new, visit)?;
        let mut found: Vec<(PathBuf, Sighting)> = batch.states.into_iter().flatten().collect();
        found.sort_by(|x, y| x.0.cmp(&y.0));
        for (path, sighting) in found {
            self.listed.push((self.reports.len(), sighting));
            self.reports.push(Source::File(path));
        }
        Ok(batch.outcome)
    }

    fn answer(&mut self, mut request: Request) {
        let response = match self.response(&mut request) {
            Ok(response) => response,
            Err((code, why)) => Response::from_string(why).with_status_code(code),
        };
        // The browser may have gone.
        let _ = request.respond(response);
    }

    /// What is asked for, or a status with the reason.
    fn response(
        &mut self,
        request: &mut Request,
    ) -> std::result::Result<Response<std::io::Cursor<Vec<u8>>>, (u16, String)> {
        let of = |name: &'static str| {
            let header = request.headers().iter().find(|header| header.field.equiv(name));
            header.map(|header| header.value.as_str().to_owned())
        };
        let from_elsewhere = of("Origin").is_some_and(|origin| origin != format!("http://{}", self.host));
        if of("Host").as_deref() != Some(&self.host) || from_elsewhere {
            return Err((403, "this is for the page of loopbox on this machine".into()));
        }
        let path = request.url().to_owned();
        match (request.method(), path.as_str()) {
            (Method::Get, "/") => Ok(page(cluster::list(&self.listed, MAX_LISTED))),
            (Method::Get, path) => {
                let number = path.strip_prefix("/report/").and_then(|number| number.parse::<usize>().ok());
                let source = number
                    .and_then(|number| self.reports.get(number))
                    .ok_or((404, "no such report".into()))?;
                self.report(source).map(page).map_err(|error| (500, format!("{error:#}")))
            }
            (Method::Post, "/report") => {
                let mut bytes = Vec::new();
                let read = request.as_reader().take(input::MAX_LEN + 1).read_to_end(&mut bytes);
                read.map_err(|error| (400, error.to_string()))?;
                let number = self.take(bytes).map_err(|error| (400, format!("{error:#}")))?;
                Ok(Response::from_string(format!("report/{number}")))
            }
            _ => Err((405, "not that way".into())),
        }
    }

    /// Keeps a dropped file, if it is a report; the number that it has.
    fn take(&mut self, bytes: Vec<u8>) -> Result<usize> {
        let bytes = attachment::unpack(bytes, input::MAX_LEN)?;
        if bytes.len() as u64 > input::MAX_LEN {
            bail!("larger than a report can be ({} MiB)", input::MAX_LEN >> 20);
        }
        if self.dropped == MAX_DROPPED {
            bail!("{MAX_DROPPED} reports are open: start loopbox open again");
        }
        let decoded = input::decode_bytes(&bytes, Path::new("the file"))?;
        let (analysis, number) = (self.load(decoded), self.reports.len());
        self.listed.push((number, Sighting::new(&analysis, &diagnose(&analysis), "dropped on this page")));
        self.reports.push(Source::Dropped(bytes));
        self.dropped += 1;
        Ok(number)
    }

    fn load(&self, mut decoded: Decoded) -> Analysis {
        // Names of a build without a mapping stay as they are.
        let _ = self.mapper.apply(&mut decoded.report);
        Analysis::with_packages(&decoded, &self.packages)
    }

    fn report(&self, source: &Source) -> Result<String> {
        let decoded = match source {
            Source::File(path) => input::decode(path)?,
            Source::Dropped(bytes) => input::decode_bytes(bytes, Path::new("the file"))?,
        };
        let analysis = self.load(decoded);
        Ok(html::page(&analysis, &ReportView::new(&analysis, &diagnose(&analysis)))?)
    }
}

fn page(html: String) -> Response<std::io::Cursor<Vec<u8>>> {
    let response = Response::from_string(html);
    match Header::from_bytes(*b"Content-Type", *b"text/html; charset=utf-8") {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}
