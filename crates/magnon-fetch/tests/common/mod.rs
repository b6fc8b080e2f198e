//! A small server on loopback that answers as a test says, and what the tests share.
#![allow(dead_code, reason = "every test uses some of it")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use magnon_fetch::{Entry, FetchError, File, Options, Progress, Rewrite, fetch_entry};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// What a client asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The address in the first line.
    pub target: String,
    /// The first byte of `Range`.
    pub from: Option<usize>,
    /// `If-Range`, as it came.
    pub version: Option<String>,
}

/// What the server answers.
#[derive(Clone, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    /// Bytes of the body after which the connection is closed.
    pub cut: Option<usize>,
    /// Whether no body comes, until the client gives up.
    pub silent: bool,
    /// A pause before each hundred bytes of the body.
    pub trickle: Duration,
    /// Whether the length of the body is left out.
    pub endless: bool,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub fn whole(body: &[u8]) -> Self {
        Self { status: 200, body: body.to_vec(), ..Self::default() }
    }

    /// The part that was asked for, or all of it.
    pub fn part(body: &[u8], request: &Request) -> Self {
        let Some(from) = request.from else { return Self::whole(body) };
        if from >= body.len() {
            return Self::status(416).with(&format!("Content-Range: bytes */{}", body.len()));
        }
        let range = format!("Content-Range: bytes {from}-{}/{}", body.len() - 1, body.len());
        Self { status: 206, body: body[from..].to_vec(), ..Self::default() }.with(&range)
    }

    pub fn with(mut self, header: &str) -> Self {
        self.headers.push(header.into());
        self
    }

    pub fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        write!(stream, "HTTP/1.1 {} Said\r\nConnection: close\r\n", self.status)?;
        for header in &self.headers {
            write!(stream, "{header}\r\n")?;
        }
        if !self.endless {
            write!(stream, "Content-Length: {}\r\n", self.body.len())?;
        }
        stream.write_all(b"\r\n")?;
        if self.silent {
            return stream.read(&mut [0]).map(|_| ());
        }
        let body = &self.body[..self.cut.unwrap_or(usize::MAX).min(self.body.len())];
        if self.trickle.is_zero() {
            return stream.write_all(body);
        }
        body.chunks(100).try_for_each(|piece| {
            thread::sleep(self.trickle);
            stream.write_all(piece)
        })
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    host: String,
    requests: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server. The answer may depend on the number of requests before.
    pub fn start(answer: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let (log, stop) = (requests.clone(), stopped.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(mut stream) = stream else { continue };
                let Some(request) = read(&stream) else { continue };
                let number = {
                    let mut log = log.lock().unwrap();
                    log.push(request.clone());
                    log.len() - 1
                };
                let _ = answer(number, &request).send(&mut stream);
            }
        });
        Self { host, requests, stopped }
    }

    /// The address of the server.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What was asked up to now.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Options that ask this server, with a cache of their own and no patience.
    pub fn options(&self, cache: &Path) -> Options {
        let host = self.host.clone();
        options(cache, move |address| address.replace("https://example.org", &host))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.host.trim_start_matches("http://"));
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let target = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut request = Request { target, ..Request::default() };
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "range" => request.from = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok(),
            "if-range" => request.version = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(request)
}

pub fn options(cache: &Path, map: impl Fn(&str) -> String + Send + Sync + 'static) -> Options {
    Options {
        cache: Some(cache.to_owned()),
        // Longer than a busy machine may stand still.
        connect_timeout: Duration::from_secs(60),
        read_timeout: Duration::from_secs(60),
        retries: 2,
        first_wait: Duration::from_millis(10),
        address: Rewrite::new(map),
        ..Options::default()
    }
}

/// A cache that is removed in the end.
pub fn cache() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Bytes that are not all alike, and their sha256 as sha256sum has it.
pub fn bytes() -> (Vec<u8>, &'static str) {
    let bytes = (0..40_000_u32).map(|i| (i * i / 7) as u8).collect();
    (bytes, SUM)
}

const SUM: &str = "cfaba5932105510aa8ab0e9dc853bab109d308efc9003adc6450615df964f82c";

/// A data set of one file.
pub fn entry(file: File) -> Entry {
    Entry {
        name: "sample",
        aliases: &[],
        description: "A sample.",
        nodes: None,
        edges: None,
        note: None,
        files: Box::leak(Box::new([file])),
    }
}

/// The sample with the checksum and size of [`bytes`].
pub fn known() -> Entry {
    entry(File::known("graph.txt", "https://example.org/graph.txt", 40_000, SUM))
}

/// The sample of which nothing is known.
pub fn unknown() -> Entry {
    entry(File::unknown("graph.txt", "https://example.org/graph.txt"))
}

/// Fetches without looking at the progress.
pub fn get(entry: &Entry, options: &Options) -> Result<PathBuf, FetchError> {
    fetch_entry(entry, options, &mut |_: Progress<'_>| true)
}

/// The names of the files in the folder of the sample.
pub fn files(cache: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(cache.join("sample")) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
