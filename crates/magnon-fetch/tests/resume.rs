//! Downloads that break off, and how they go on.

mod common;

use common::{Reply, Request, Server, bytes, cache, files, get, known, unknown};
use magnon_fetch::{FetchError, Progress, fetch_entry};
use std::fs;

#[test]
fn a_broken_connection_goes_on_where_it_broke() {
    let server = Server::start(|number, request| {
        let reply = Reply::part(&bytes().0, request);
        if number == 0 { reply.cut(15_000) } else { reply }
    });
    let cache = cache();
    let folder = get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(fs::read(folder.join("graph.txt")).unwrap(), bytes().0);
    let asked: Vec<_> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(asked, [None, Some(15_000)]);
}

#[test]
fn a_server_that_knows_no_parts_starts_again() {
    let server = Server::start(|number, _| {
        let reply = Reply::whole(&bytes().0);
        if number == 0 { reply.cut(15_000) } else { reply }
    });
    let cache = cache();
    let folder = get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(fs::read(folder.join("graph.txt")).unwrap(), bytes().0);
    assert_eq!(server.requests()[1].from, Some(15_000));
}

#[test]
fn a_truncated_body_is_never_taken() {
    let server = Server::start(|_, _| Reply::whole(&bytes().0).cut(15_000));
    let cache = cache();
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    assert!(matches!(error, FetchError::BrokenOff { received: 15_000, .. }), "{error}");
    assert_eq!(files(cache.path()), ["graph.txt.part"]);
}

#[test]
fn another_run_goes_on_and_sees_when_the_content_changed() {
    let cache = cache();
    let part = cache.path().join("sample/graph.txt.part");
    let server = Server::start(|_, request| Reply::part(&bytes().0, request));
    fs::create_dir_all(part.parent().unwrap()).unwrap();
    fs::write(&part, &bytes().0[..39_000]).unwrap();
    let folder = get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(server.requests()[0].from, Some(39_000));

    // The part is of another version: the whole is asked for.
    fs::remove_file(folder.join("graph.txt")).unwrap();
    fs::write(&part, [7; 39_000]).unwrap();
    get(&known(), &server.options(cache.path())).unwrap();
    let asked: Vec<_> = server.requests()[1..].iter().map(|request| request.from).collect();
    assert_eq!(asked, [Some(39_000), None]);

    // All of it is there, and only its place is wrong.
    fs::rename(folder.join("graph.txt"), &part).unwrap();
    get(&known(), &server.options(cache.path())).unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_part_that_was_not_asked_for_is_not_taken() {
    let server = Server::start(|number, request| match number {
        0 => Reply::whole(&bytes().0).cut(15_000),
        1 => Reply::part(&bytes().0, &Request { from: Some(20_000), ..request.clone() }),
        _ => Reply::part(&bytes().0, request),
    });
    let cache = cache();
    get(&known(), &server.options(cache.path())).unwrap();
    let asked: Vec<_> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(asked, [None, Some(15_000), None]);
}

/// A server that names versions, and breaks off the first answer.
fn versions(number: usize, request: &Request) -> Reply {
    let tag = if number < 2 { "\"one\"" } else { "\"two\"" };
    let same = request.version.as_deref() == Some(tag);
    let body = if number < 2 { bytes().0 } else { vec![1; 20_000] };
    let reply = if same { Reply::part(&body, request) } else { Reply::whole(&body) };
    reply.with(&format!("ETag: {tag}")).cut(if number < 3 { 10_000 } else { body.len() })
}

#[test]
fn without_a_checksum_the_version_decides() {
    let server = Server::start(versions);
    let cache = cache();
    let mut options = server.options(cache.path());
    (options.allow_unverified, options.retries) = (true, 1);
    let error = get(&unknown(), &options).unwrap_err();
    assert!(matches!(error, FetchError::BrokenOff { received: 20_000, .. }), "{error}");
    assert_eq!(files(cache.path()), ["graph.txt.part", "graph.txt.part.tag"]);
    // The next run goes on from the first version, of which there is no more.
    let folder = get(&unknown(), &options).unwrap();
    assert_eq!(fs::read(folder.join("graph.txt")).unwrap(), vec![1; 20_000]);
    let asked = server.requests();
    assert_eq!(asked[2].version.as_deref(), Some("\"one\""));
    assert_eq!(asked[3].from, Some(10_000));
    assert_eq!(files(cache.path()), [".fetched", "graph.txt"]);
}

#[test]
fn who_says_stop_finds_the_part_again() {
    let server = Server::start(|_, request| Reply::part(&bytes().0, request));
    let cache = cache();
    let options = server.options(cache.path());
    let stop = |step: Progress<'_>| !matches!(step, Progress::Received { bytes: 1.., .. });
    let error = fetch_entry(&known(), &options, &mut { stop }).unwrap_err();
    assert!(matches!(error, FetchError::Cancelled { .. }), "{error}");
    assert_eq!(files(cache.path()), ["graph.txt.part"]);
    get(&known(), &options).unwrap();
    let asked = server.requests();
    assert!(asked.len() == 1 || asked[1].from.is_some());
}

#[test]
fn two_at_once_do_not_mix() {
    let server = Server::start(|_, request| Reply::part(&bytes().0, request));
    let cache = cache();
    let options = server.options(cache.path());
    let mut inner = None;
    let outer = fetch_entry(&known(), &options, &mut |step| {
        if let (Progress::Received { .. }, None) = (step, &inner) {
            inner = Some(get(&known(), &options));
        }
        true
    });
    outer.unwrap();
    assert!(matches!(inner, Some(Err(FetchError::Busy { .. }))));
}
