//! What is fetched, checked, taken and refused.

mod common;

use common::{Reply, Server, bytes, cache, entry, files, get, known, unknown};
use magnon_fetch::{FetchError, File, Options, Progress, fetch, fetch_entry};
use std::fs;

#[test]
fn the_right_file_is_put_in_place_once() {
    let (bytes, _) = bytes();
    let body = bytes.clone();
    let server = Server::start(move |_, _| Reply::whole(&body));
    let cache = cache();
    let options = server.options(cache.path());
    assert!(known().cached(cache.path()).is_none());
    let mut steps = Vec::new();
    let folder = fetch_entry(&known(), &options, &mut |step| {
        steps.push(format!("{step:?}").split(' ').next().unwrap().to_owned());
        true
    });
    let folder = folder.unwrap();
    assert_eq!(fs::read(folder.join("graph.txt")).unwrap(), bytes);
    assert_eq!((steps[0].as_str(), steps.last().unwrap().as_str()), ("Started", "Done"));
    assert_eq!(files(cache.path()), [".fetched", "graph.txt"]);

    assert_eq!(get(&known(), &options).unwrap(), folder);
    assert_eq!(known().cached(cache.path()), Some(folder));
    assert_eq!(server.requests().len(), 1, "a complete data set needs no network");
}

#[test]
fn a_wrong_checksum_leaves_nothing() {
    let (mut bytes, sum) = bytes();
    bytes[100] ^= 1;
    let server = Server::start(move |_, _| Reply::whole(&bytes));
    let cache = cache();
    let error = get(&known(), &server.options(cache.path())).unwrap_err();
    let FetchError::Checksum { expected, found, .. } = &error else { panic!("{error}") };
    assert!(expected.contains(sum) && found != expected);
    assert!(error.to_string().contains("/graph.txt"), "{error}");
    assert_eq!(files(cache.path()), [""; 0]);
    assert_eq!(server.requests().len(), 1, "the same would come again");
}

#[test]
fn a_file_put_there_by_hand_is_checked_and_taken() {
    let server = Server::start(|_, _| Reply::status(404));
    let cache = cache();
    let options = server.options(cache.path());
    let place = cache.path().join("sample/graph.txt");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, bytes().0).unwrap();
    get(&known(), &options).unwrap();
    assert!(server.requests().is_empty());

    // A wrong one is named, where the right one cannot be had, and left to its owner.
    fs::write(&place, "0 1\n").unwrap();
    assert!(known().cached(cache.path()).is_none());
    let error = get(&known(), &options).unwrap_err();
    assert!(matches!(error, FetchError::WrongFile { .. }), "{error}");
    assert!(error.to_string().contains("status 404"), "{error}");
    assert_eq!(fs::read(&place).unwrap(), b"0 1\n");
}

#[test]
fn a_damaged_file_is_replaced() {
    let server = Server::start(|_, _| Reply::whole(&bytes().0));
    let cache = cache();
    let options = server.options(cache.path());
    let place = get(&known(), &options).unwrap().join("graph.txt");
    fs::write(&place, "damaged").unwrap();
    get(&known(), &options).unwrap();
    assert_eq!(fs::read(&place).unwrap(), bytes().0);
}

#[test]
fn files_without_a_checksum_need_leave() {
    let server = Server::start(|_, _| Reply::whole(&bytes().0));
    let cache = cache();
    let mut options = server.options(cache.path());
    let error = get(&unknown(), &options).unwrap_err();
    assert!(matches!(error, FetchError::Unverified { .. }), "{error}");
    assert!(error.to_string().contains("https://example.org/graph.txt"), "{error}");
    assert!(server.requests().is_empty() && files(cache.path()).is_empty());

    options.allow_unverified = true;
    let mut shown = None;
    let folder = fetch_entry(&unknown(), &options, &mut |step| {
        if let Progress::Unverified { sha256, .. } = step {
            shown = Some(sha256.to_owned());
        }
        true
    });
    assert_eq!(shown.as_deref(), Some(bytes().1));
    options.allow_unverified = false;
    assert_eq!(get(&unknown(), &options).unwrap(), folder.unwrap(), "it is there");
    assert_eq!(server.requests().len(), 1);

    // It changed since, and nobody said that it may be trusted.
    fs::write(cache.path().join("sample/graph.txt"), "0 1\n").unwrap();
    assert!(matches!(get(&unknown(), &options), Err(FetchError::Unverified { .. })));
    options.allow_unverified = true;
    get(&unknown(), &options).unwrap();
    assert_eq!(server.requests().len(), 1, "what was put there by hand is taken");
}

#[test]
fn the_id_of_git_is_a_checksum() {
    let server = Server::start(|_, _| Reply::whole(b"hello\n"));
    let cache = cache();
    let blob = |id| entry(File::of_blob("a.txt", "https://example.org/a.txt", id));
    let options = server.options(cache.path());
    let error = get(&blob("0000000000000000000000000000000000000000"), &options).unwrap_err();
    let found = "git blob ce013625030ba8dba906f756967f9e9ca394464a";
    assert!(error.to_string().contains(found), "{error}");
    let right = blob("ce013625030ba8dba906f756967f9e9ca394464a");
    let folder = get(&right, &options).unwrap();
    assert_eq!(right.cached(cache.path()), Some(folder));
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let error = fetch("cornel", &Options::default(), &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("did you mean 'cornell'?"), "{error}");
    let error = fetch("xxxxxxxxxx", &Options::default(), &mut |_| true).unwrap_err();
    assert!(matches!(error, FetchError::Unknown { .. }), "{error}");
}
