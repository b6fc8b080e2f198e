//! Figures: well-formed, the same every time, and safe with any name.

mod common;

use common::{check_html, check_svg, data, figures};
use magnon_report::*;

#[test]
fn every_figure_is_well_formed_and_the_same_every_time() {
    let (first, second) = (figures(), figures());
    for ((name, figure), (_, again)) in first.iter().zip(&second) {
        let text = svg(figure.as_ref()).unwrap();
        check_svg(name, &text);
        assert_eq!(text, svg(again.as_ref()).unwrap(), "{name}");
        let page = html(figure.as_ref()).unwrap();
        check_html(name, &page);
        assert_eq!(page, html(again.as_ref()).unwrap(), "{name}");
    }
}

#[test]
fn pictures_are_the_same_every_time() {
    let picture = png(&data::frustration()).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(picture, png(&data::frustration()).unwrap());
}

#[test]
fn names_stay_text() {
    let bad = "</svg><script>alert(1)</script>&\"'\u{0}\u{202e}".to_owned();
    let mut figure = data::confusion();
    figure.title = bad.clone();
    figure.class_names[0] = bad.clone();
    let text = svg(&figure).unwrap();
    check_svg("confusion", &text);
    assert!(!text.contains("<script"));
    let mut map = data::eigenmap(20, 20);
    map.class_names[1] = bad.clone();
    map.node_names = vec![bad.clone(); 20];
    for page in [html(&figure).unwrap(), html(&map).unwrap()] {
        check_html("names", &page);
        assert!(!page.contains("<script>alert"));
        assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    }
    let mut curves = data::response();
    curves.curves[0].name = bad;
    check_svg("response", &svg(&curves).unwrap());
    check_html("response", &html(&curves).unwrap());
}

#[test]
fn long_names_are_cut_in_figures() {
    let long = "wide ".repeat(4000);
    let mut figure = data::confusion();
    figure.title = long.clone();
    figure.class_names = vec![long; 5];
    let text = svg(&figure).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    for label in document.descendants().filter(|node| node.tag_name().name() == "text") {
        assert!(label.text().unwrap_or_default().chars().count() < 120);
    }
}

#[test]
fn many_nodes_make_a_small_page() {
    let page = html(&data::eigenmap(20_000, 44_000)).unwrap();
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("20,000 of 44,000 edges"));
}

#[test]
fn many_values_make_a_small_picture() {
    let charges: Vec<f64> = (0..500_000).map(|i| f64::from(i) / 1e6).collect();
    let values = charges.iter().map(|q| (40.0 * q).sin()).collect();
    let figure = FrustrationFigure { charges, values, ..FrustrationFigure::default() };
    let text = svg(&figure).unwrap();
    check_svg("frustration", &text);
    assert!(text.len() < 100_000, "{}", text.len());
}

#[test]
fn a_run_that_diverged_has_its_picture() {
    let figure = TrainingFigure {
        train_loss: vec![1.0, 0.5, f64::INFINITY, f64::NAN],
        val_loss: vec![f64::NAN; 4],
        ..TrainingFigure::default()
    };
    let text = svg(&figure).unwrap();
    check_svg("training", &text);
    assert!(text.contains("6 values are not finite"));
    check_html("training", &html(&figure).unwrap());
}
