//! The variables for proxies. Alone in its file, for it changes the environment.

mod common;

use common::{cache, get, known, options};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

#[test]
fn the_proxy_of_the_environment_is_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    // SAFETY: there is no other thread yet that reads the environment.
    unsafe { std::env::set_var("ALL_PROXY", &proxy) };
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        stream.write_all(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n").unwrap();
        head.join("; ")
    });
    let cache = cache();
    let options = options(cache.path(), |_| "http://nowhere.invalid/graph.txt".into());
    let error = get(&known(), &options).unwrap_err().to_string();
    let asked = asked.join().unwrap();
    assert!(asked.contains("nowhere.invalid"), "{asked}");
    assert!(error.contains("http://nowhere.invalid/graph.txt"), "{error}");
}
