//! HTTP for the single page of `loopbox open`, on this machine only.
//!
//! Any program of any user of the machine can connect, and any page in any browser can make that browser
//! connect. So a request is served only if it contains the secret from the page's address, and only if its
//! host is the IP address of this machine. The number of clients, and how much a client may send in what
//! time, are limited even before that is checked. Each connection has one request and a separate thread.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most bytes of the head of a request: many times what a browser sends.
const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// The most connections at once. A browser opens six; further connections wait until an open one has ended.
const MAX_CONNECTIONS: usize = 32;
/// How long a client may take for the head of its request.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// How long a client with the secret may take for the rest: to send a file, and to receive a page.
const BODY_TIME: Duration = Duration::from_mins(1);
/// How much of a refused request is still read, so that its client sees the answer and not a broken
/// connection.
const MAX_DRAINED: usize = 1 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// A request, without its body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path after the secret. It begins with `/`.
    pub(crate) path: String,
    length: u64,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn page(html: String) -> Self {
        Self { status: 200, kind: "text/html; charset=utf-8", body: html.into_bytes() }
    }

    pub(crate) fn text(status: u16, text: impl Into<String>) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }
}

/// Answers the requests that have the secret.
pub(crate) trait Answers: Send + Sync + 'static {
    /// How many bytes a request may have after its head.
    fn max_body(&self, request: &Request) -> u64;
    /// The answer to a request with these bytes.
    fn answer(&self, request: &Request, body: Vec<u8>) -> Response;
}

/// A server that listens but does not answer yet.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    secret: String,
}

impl Server {
    /// Listens at a port of this machine; 0 means any free port.
    ///
    /// # Errors
    /// When the port is taken, or the system has no random numbers.
    pub(crate) fn listen(port: u16) -> Result<Self> {
        let name = || format!("127.0.0.1:{port}");
        let listener = TcpListener::bind(("127.0.0.1", port)).with_context(name)?;
        let address = listener.local_addr().with_context(name)?;
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).context("no random number for the address of the page")?;
        Ok(Self { listener, address, secret: format!("{:032x}", u128::from_ne_bytes(secret)) })
    }

    /// The address of the page for a user with access: it ends in `/`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.secret)
    }

    /// Answers until the process ends.
    pub(crate) fn serve(self, answers: impl Answers) {
        let shared = Arc::new((self.door(), answers));
        let places = Places::default();
        loop {
            let place = places.take();
            // A client that has gone already, or no descriptor that is free: the next one may have better
            // luck.
            let Ok((stream, _)) = self.listener.accept() else {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            let shared = Arc::clone(&shared);
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new().spawn(move || {
                let _place = place;
                let (door, answers) = &*shared;
                // The client may have gone.
                let _ = connection(stream, door, answers);
            });
        }
    }

    fn door(&self) -> Door {
        let mut hosts = vec![self.address.to_string()];
        if self.address.port() == 80 {
            hosts.push(self.address.ip().to_string());
        }
        Door { hosts, secret: self.secret.clone() }
    }
}

/// Decides which requests are accepted: those with the secret and one of the hosts.
#[derive(Debug)]
struct Door {
    /// The values of the `Host` header that name this server. No other is accepted, because another site
    /// could make its name resolve to this machine.
    hosts: Vec<String>,
    secret: String,
}

impl Door {
    /// The request that this head begins, if it has the secret and one of the hosts; otherwise the answer
    /// that refuses it.
    fn open(&self, head: &httparse::Request<'_, '_>) -> Result<Request, Response> {
        let all = |name: &str| {
            let headers = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            headers.map(|header| header.value).collect::<Vec<_>>()
        };
        let is_ours = |host: &[u8]| self.hosts.iter().any(|ours| ours.as_bytes() == host);
        let [host] = all("Host")[..] else { return Err(Response::text(400, "one host is asked for")) };
        let from_elsewhere =
            all("Origin").iter().any(|origin| !origin.strip_prefix(b"http://").is_some_and(is_ours));
        let path = head.path.unwrap_or_default();
        let (secret, path) = path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or_default();
        // Each is checked, whatever the others say.
        if !is_same(secret.as_bytes(), self.secret.as_bytes()) | !is_ours(host) | from_elsewhere {
            return Err(Response::text(403, "this is for the page whose address loopbox has printed"));
        }
        if !all("Transfer-Encoding").is_empty() {
            return Err(Response::text(411, "the length of the request is missing"));
        }
        let length = match all("Content-Length")[..] {
            [] => Some(0),
            [length] => std::str::from_utf8(length).ok().and_then(|length| length.parse().ok()),
            _ => None,
        };
        let length = length.ok_or_else(|| Response::text(400, "a length that is none"))?;
        Ok(Request { method: head.method.unwrap_or_default().to_owned(), path: format!("/{path}"), length })
    }
}

/// Whether two texts are equal, in a time that does not show where they differ.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differs = given.iter().zip(wanted).fold(0, |differs, (a, b)| std::hint::black_box(differs | (a ^ b)));
    given.len() == wanted.len() && differs == 0
}

/// Counts the connections, so that there are never more than [`MAX_CONNECTIONS`].
#[derive(Debug, Clone, Default)]
struct Places(Arc<(Mutex<usize>, Condvar)>);

/// One of the connections that are counted. Dropping this value makes room for another connection.
#[derive(Debug)]
struct Place(Places);

impl Places {
    fn taken(&self) -> MutexGuard<'_, usize> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are fewer than [`MAX_CONNECTIONS`] connections, and counts a new one.
    fn take(&self) -> Place {
        let is_full = |taken: &mut usize| *taken >= MAX_CONNECTIONS;
        let taken = self.0.1.wait_while(self.taken(), is_full);
        *taken.unwrap_or_else(PoisonError::into_inner) += 1;
        Place(self.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken() -= 1;
        self.0.0.1.notify_one();
    }
}

/// Reads a request and answers it.
fn connection(mut stream: TcpStream, door: &Door, answers: &impl Answers) -> std::io::Result<()> {
    let mut received = Vec::new();
    let response = match head(&mut stream, door, &mut received)? {
        Err(refused) => refused,
        Ok(request) => match body(&mut stream, &request, received, answers.max_body(&request))? {
            Err(refused) => refused,
            Ok(body) => answers.answer(&request, body),
        },
    };
    send(&mut stream, &response)?;
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + DRAIN_TIME;
    let mut drained = 0;
    while drained < MAX_DRAINED {
        match read_some(&mut stream, &mut [0; 16 << 10], deadline)? {
            0 => break,
            len => drained += len,
        }
    }
    Ok(())
}

/// Reads the head of a request. Returns the request if it may continue, or the answer that refuses it. Bytes
/// after the head stay in `received`.
fn head(
    stream: &mut TcpStream,
    door: &Door,
    received: &mut Vec<u8>,
) -> std::io::Result<Result<Request, Response>> {
    let deadline = Instant::now() + HEAD_TIME;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        match head.parse(received) {
            Ok(httparse::Status::Complete(len)) => {
                let request = door.open(&head);
                received.drain(..len);
                return Ok(request);
            }
            Ok(httparse::Status::Partial) if received.len() < MAX_HEAD => {}
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Ok(Err(Response::text(431, "a request with too much in its head")));
            }
            Err(error) => return Ok(Err(Response::text(400, error.to_string()))),
        }
        let mut some = [0; 4 << 10];
        match read_some(stream, &mut some, deadline)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            len => received.extend_from_slice(&some[..len]),
        }
    }
}

/// Reads the rest of a request, of which `body` has already been read. Returns the whole body, or the answer
/// that refuses the request.
fn body(
    stream: &mut TcpStream,
    request: &Request,
    mut body: Vec<u8>,
    max: u64,
) -> std::io::Result<Result<Vec<u8>, Response>> {
    if request.length > max {
        return Ok(Err(Response::text(413, format!("more than there can be ({} MiB)", max >> 20))));
    }
    let deadline = Instant::now() + BODY_TIME;
    let mut some = vec![0; 64 << 10];
    // It grows with what has come, not with what was promised.
    while (body.len() as u64) < request.length {
        match read_some(stream, &mut some, deadline)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            len => body.extend_from_slice(&some[..len]),
        }
    }
    body.truncate(request.length as usize);
    Ok(Ok(body))
}

fn read_some(stream: &mut TcpStream, into: &mut [u8], deadline: Instant) -> std::io::Result<usize> {
    stream.set_read_timeout(Some(left(deadline)?))?;
    stream.read(into)
}

fn send(stream: &mut TcpStream, response: &Response) -> std::io::Result<()> {
    let deadline = Instant::now() + BODY_TIME;
    // The reason is for people, who see the text below it.
    let head = format!(
        "HTTP/1.1 {} -\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\r\n",
        response.status,
        response.kind,
        response.body.len()
    );
    for mut rest in [head.as_bytes(), &response.body] {
        while !rest.is_empty() {
            stream.set_write_timeout(Some(left(deadline)?))?;
            match stream.write(rest)? {
                0 => return Err(ErrorKind::WriteZero.into()),
                len => rest = &rest[len..],
            }
        }
    }
    Ok(())
}

/// The remaining time; an error when there is none.
fn left(deadline: Instant) -> std::io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_the_same_or_not() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abcd", b"abd", b"bbc"] {
            assert!(!is_same(other, b"abc"));
        }
    }

    #[test]
    fn each_start_has_a_different_address() {
        let urls = [Server::listen(0).unwrap().url(), Server::listen(0).unwrap().url()];
        let secrets = urls.each_ref().map(|url| url.split('/').nth(3).unwrap());
        assert_ne!(secrets[0], secrets[1]);
        assert!(secrets.iter().all(|secret| secret.len() == 32), "{urls:?}");
    }
}
