//! What the tests share: the sample's data and looks at finished text.

#![allow(dead_code, clippy::panic)]

#[path = "../../examples/sample_report/data.rs"]
pub mod data;

use magnon_report::Figure;

/// Every figure of the sample, with its name.
pub fn figures() -> Vec<(&'static str, Box<dyn Figure>)> {
    vec![
        ("spectrum", Box::new(data::spectrum())),
        ("density", Box::new(data::density())),
        ("frustration", Box::new(data::frustration())),
        ("response", Box::new(data::response())),
        ("eigenmap", Box::new(data::eigenmap(60, 90))),
        ("training", Box::new(data::training())),
        ("confusion", Box::new(data::confusion())),
    ]
}

/// Checks an SVG: well-formed, named, described, and with every coordinate a number.
pub fn check_svg(name: &str, svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{name}: {e}\n{svg}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"), "{name}");
    let text = |tag| {
        let child =
            root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", tag)));
        child.and_then(|node| node.text()).unwrap_or_default().to_owned()
    };
    assert!(!text("desc").is_empty(), "{name}");
    let names = root.attribute("aria-labelledby").unwrap_or_default();
    for id in names.split(' ') {
        let found = document.descendants().filter(|node| node.attribute("id") == Some(id));
        assert_eq!(found.count(), 1, "{name}: {id}");
    }
    for node in document.descendants() {
        for attribute in node.attributes() {
            let drawn = ["d", "x", "y", "width", "height", "cx", "cy", "r", "viewBox"];
            if drawn.contains(&attribute.name()) {
                let value = attribute.value();
                assert!(!value.contains("NaN") && !value.contains("inf"), "{name}: {value}");
            }
        }
    }
}

/// Every element that was opened is closed, in order.
pub fn check_html(name: &str, html: &str) {
    const VOID: [&str; 4] = ["meta", "input", "br", "link"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.trim_start_matches("<!doctype html>");
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').unwrap_or_else(|| panic!("{name}: no end of {:.40}", rest));
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let word = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(word), "{name}");
        } else if !tag.ends_with('/') && !VOID.contains(&word) {
            open.push(word);
        }
        // What stands in these is not markup.
        if matches!(tag.split(' ').next(), Some("script" | "style")) {
            let close = format!("</{word}>");
            let length = rest.find(&close).unwrap_or_else(|| panic!("{name}: open {word}"));
            assert!(!rest[..length].contains("<!--"), "{name}");
            rest = &rest[length..];
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|t| t.split('"').next()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{name}: an id twice: {ids:?}");
}
