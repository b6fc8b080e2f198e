//! One request over https, and what may go wrong with it.

use crate::roots::roots;
use crate::{FetchError, Options};
use std::io::{self, Read};
use ureq::http::HeaderMap;
use ureq::tls::TlsConfig;
use ureq::{Agent, BodyReader, Error, Timeout};

/// Asks servers for files. Redirects are followed, and the variables for proxies honoured.
pub(crate) struct Client {
    agent: Agent,
}

/// The answer of a server, its body not yet read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The bytes of the body, where the server says so.
    pub(crate) length: Option<u64>,
    /// The place in the file where the body starts, where it is a part.
    pub(crate) start: Option<u64>,
    /// What the server calls this version of the file.
    pub(crate) tag: Option<String>,
    body: BodyReader<'static>,
}

/// Why there is no answer, or no more of it.
pub(crate) enum Trouble {
    /// The server is out of reach.
    NoNetwork(String),
    /// No connection came about in time.
    NoConnection,
    /// The server sent nothing for too long.
    TimedOut,
    /// The connection broke.
    BrokenOff(String),
    /// What came makes no sense, or is not safe. It will not pass.
    Answer(String),
}

impl Client {
    pub(crate) fn new(options: &Options) -> Result<Self, FetchError> {
        let tls = TlsConfig::builder().root_certs(roots()?).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_resolve(Some(options.connect_timeout))
            .timeout_connect(Some(options.connect_timeout))
            .timeout_recv_response(Some(options.read_timeout))
            .timeout_per_read(Some(options.read_timeout))
            .timeout_per_write(Some(options.read_timeout))
            .user_agent(concat!("magnon/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.new_agent() })
    }

    /// Asks for a file from byte `from` on; for a later part only of the version that is called
    /// `tag`, where there is one. What starts with https stays with it, redirected or not.
    pub(crate) fn ask(
        &self,
        address: &str,
        from: u64,
        tag: Option<&str>,
    ) -> Result<Answer, Trouble> {
        let secure = address.starts_with("https:");
        let mut request = self.agent.get(address).config().https_only(secure).build();
        if from > 0 {
            request = request.header("Range", format!("bytes={from}-"));
            if let Some(tag) = tag {
                request = request.header("If-Range", tag);
            }
        }
        let response = request.call().map_err(Trouble::from)?;
        let headers = response.headers();
        let (start, tag) = (range_start(headers), version(headers));
        let status = response.status().as_u16();
        let body = response.into_body();
        Ok(Answer { status, length: body.content_length(), start, tag, body: body.into_reader() })
    }
}

impl Answer {
    /// Reads on; 0 at the end of the body.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        loop {
            match self.body.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|error| Trouble::from(Error::from(error))),
            }
        }
    }
}

/// The first byte of `Content-Range: bytes first-last/all`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get("content-range")?.to_str().ok()?.trim();
    range.strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

/// A name for this version of the file that `If-Range` takes: not a weak one.
fn version(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let strong = text("etag").filter(|tag| tag.starts_with('"'));
    strong.or_else(|| text("last-modified")).map(str::to_owned)
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        use io::ErrorKind::*;
        match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => Self::NoConnection,
            Error::Timeout(_) => Self::TimedOut,
            Error::HostNotFound | Error::ConnectionFailed => Self::NoNetwork(error.to_string()),
            Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => {
                Self::NoNetwork(error.to_string())
            }
            Error::Io(io) => match io.kind() {
                TimedOut | WouldBlock => Self::TimedOut,
                UnexpectedEof => Self::BrokenOff("the connection was closed".into()),
                ConnectionReset | ConnectionAborted | BrokenPipe => Self::BrokenOff(io.to_string()),
                // What is wrong with encryption comes as this.
                InvalidData => Self::Answer(format!(
                    "{io} (where the network opens encrypted connections, SSL_CERT_FILE must name \
                     a file with its certificates)"
                )),
                _ => Self::NoNetwork(io.to_string()),
            },
            other => Self::Answer(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn parts_and_versions_are_told() {
        assert_eq!(range_start(&headers(&[("content-range", "bytes 5-9/10")])), Some(5));
        assert_eq!(range_start(&headers(&[("content-range", "bytes */10")])), None);
        assert_eq!(range_start(&headers(&[])), None);
        let date = ("last-modified", "Sat, 01 Jan 2000 00:00:00 GMT");
        assert_eq!(version(&headers(&[("etag", "\"a\""), date])).unwrap(), "\"a\"");
        assert_eq!(version(&headers(&[("etag", "W/\"a\""), date])).unwrap(), date.1);
        assert_eq!(version(&headers(&[("etag", "W/\"a\"")])), None);
    }
}
