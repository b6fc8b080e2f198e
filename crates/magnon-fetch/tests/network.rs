//! What servers and networks do wrong.

mod common;

use common::{Reply, Server, bytes, cache, files, get, known, options, unknown};
use magnon_fetch::{FetchError, Progress, fetch_entry};
use std::net::TcpListener;
use std::time::Duration;

#[test]
fn redirects_are_followed() {
    let server = Server::start(|_, request| match request.target.as_str() {
        "/graph.txt" => Reply::status(302).with("Location: /elsewhere"),
        _ => Reply::whole(&bytes().0),
    });
    let cache = cache();
    get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(server.requests()[1].target, "/elsewhere");
}

#[test]
fn redirects_in_a_circle_end() {
    let server = Server::start(|_, _| Reply::status(302).with("Location: /graph.txt"));
    let cache = cache();
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    assert!(matches!(error, FetchError::Answer { .. }), "{error}");
}

#[test]
fn a_missing_file_is_asked_for_once() {
    let server = Server::start(|_, _| Reply::status(404));
    let cache = cache();
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    assert!(matches!(error, FetchError::Status { status: 404, .. }), "{error}");
    let place = cache.path().join("sample/graph.txt");
    assert!(error.to_string().contains(place.to_str().unwrap()), "{error}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(files(cache.path()), [""; 0]);
}

#[test]
fn a_fault_that_passes_is_waited_for() {
    let server = Server::start(|number, _| match number {
        0 => Reply::status(500),
        1 => Reply::status(503),
        _ => Reply::whole(&bytes().0),
    });
    let cache = cache();
    let mut waits = Vec::new();
    let result = fetch_entry(&known(), &server.options(cache.path()), &mut |step| {
        if let Progress::Waiting { wait, problem, .. } = step {
            assert!(problem.contains("status 50"), "{problem}");
            waits.push(wait);
        }
        true
    });
    result.unwrap();
    assert_eq!(waits, [Duration::from_millis(10), Duration::from_millis(20)]);
}

#[test]
fn a_fault_that_stays_is_told() {
    let server = Server::start(|_, _| Reply::status(500));
    let cache = cache();
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    assert!(matches!(error, FetchError::Status { status: 500, .. }), "{error}");
    assert_eq!(server.requests().len(), 3, "once, and two retries");
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Server::start(|_, _| Reply { silent: true, ..Reply::whole(&bytes().0) });
    let cache = cache();
    let mut options = server.options(cache.path());
    options.read_timeout = Duration::from_millis(60);
    options.retries = 1;
    let error = get(&known(), &options).unwrap_err();
    assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    assert!(error.to_string().contains("for 0.1 s"), "{error}");
    assert_eq!(files(cache.path()), [""; 0]);
}

/// Bytes that come, but hardly: such a server would keep the process for ever.
///
/// The server sends at most 10 kB per second, so that a body takes longer than the time-out. That is longer than a busy
/// machine stands still, so that nothing comes only while the server pauses.
#[test]
fn a_server_that_trickles_is_given_up() {
    let trickle = Duration::from_millis(10);
    let server = Server::start(move |_, request| Reply {
        trickle,
        endless: true,
        ..Reply::part(&bytes().0, request)
    });
    let cache = cache();
    let mut options = server.options(cache.path());
    options.read_timeout = Duration::from_secs(1);
    options.slowest = 1 << 20;
    options.retries = 1;
    let error = get(&known(), &options).unwrap_err();
    assert!(matches!(error, FetchError::TooSlow { slowest: 1_048_576, .. }), "{error}");
    // What came is kept, and at a pace that is allowed it is enough.
    options.slowest = 1;
    get(&known(), &options).unwrap();
}

#[test]
fn without_a_network_the_place_for_the_file_is_named() {
    // A port that nobody listens on any more.
    let host = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cache = cache();
    let options = options(cache.path(), move |_| format!("http://{host}/graph.txt"));
    let error = get(&known(), &options).unwrap_err();
    assert!(matches!(error, FetchError::NoNetwork { .. }), "{error}");
    let text = error.to_string();
    let place = cache.path().join("sample/graph.txt");
    assert!(text.contains(&host.to_string()), "{text}");
    assert!(text.contains(place.to_str().unwrap()), "{text}");
}

#[test]
fn a_file_that_is_too_large_is_not_taken() {
    let cache = cache();
    // Announced, and larger than what is known.
    let mut body = bytes().0;
    body.push(0);
    let server = Server::start(move |_, _| Reply::whole(&body));
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 40_000, .. }), "{error}");

    // Not announced, and of no known size.
    let server = Server::start(|_, _| Reply { endless: true, ..Reply::whole(&bytes().0) });
    let mut options = server.options(cache.path());
    (options.allow_unverified, options.max_bytes) = (true, 30_000);
    let error = get(&unknown(), &options).unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 30_000, .. }), "{error}");
    assert_eq!(files(cache.path()), [""; 0]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_body_without_length_must_still_be_whole() {
    let cut = |number| if number == 0 { 1000 } else { 40_000 };
    let server = Server::start(move |number, _| {
        Reply { endless: true, ..Reply::whole(&bytes().0) }.cut(cut(number))
    });
    let cache = cache();
    get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(server.requests().len(), 2);
}
