//! The report: whole, partial, hostile and large.

mod common;

use common::{check_html, check_svg, data};
use magnon_report::*;

#[test]
fn the_whole_report_is_well_formed_and_the_same_every_time() {
    for (name, report) in [("whole", data::report()), ("hostile", data::hostile_report())] {
        let html = report.html().unwrap();
        check_html(name, &html);
        assert_eq!(html, report.html().unwrap());
        for section in ["results", "charge", "spectrum", "training", "classes", "map", "origin"] {
            assert!(html.contains(&format!("<section id=\"{section}\"")), "{name}: {section}");
        }
        for inline in html.split("<svg xmlns").skip(1) {
            let inline = inline.split("</svg>").next().unwrap();
            check_svg(name, &format!("<svg xmlns{inline}</svg>"));
        }
    }
}

#[test]
fn nothing_can_be_asked_for() {
    let html = data::hostile_report().html().unwrap();
    assert!(html.contains(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\""
    ));
    assert!(!html.contains("<img") && !html.contains("<script>document"));
    let addresses = html.matches("http").count();
    let names =
        html.matches("http://www.w3.org/2000/svg").count() + html.matches("http-equiv").count();
    assert_eq!(addresses, names);
}

#[test]
fn empty_parts_are_left_out() {
    let html = data::bare_report().html().unwrap();
    check_html("bare", &html);
    assert!(!html.contains("<section") && !html.contains("<nav") && !html.contains("<figure"));
    check_html("nothing", &Report::default().html().unwrap());

    let full = data::report();
    let parts: [fn(&mut Report, Report); 9] = [
        |report, full| report.controls = full.controls,
        |report, full| report.cycles = full.cycles,
        |report, full| report.spectrum = full.spectrum,
        |report, full| report.density = full.density,
        |report, full| report.frustration = full.frustration,
        |report, full| report.training = full.training,
        |report, full| report.confusion = full.confusion,
        |report, full| report.eigenmap = full.eigenmap,
        |report, full| report.command = full.command,
    ];
    for (index, part) in parts.into_iter().enumerate() {
        let mut report = Report { title: "one part".into(), ..Report::default() };
        part(&mut report, full.clone());
        let html = report.html().unwrap();
        check_html(&format!("part {index}"), &html);
        assert_eq!(html.matches("<section").count(), 1, "part {index}");
    }
}

#[test]
fn a_report_of_20000_nodes_is_below_5_megabytes() {
    let html = data::large_report().html().unwrap();
    check_html("large", &html);
    assert!(html.len() < 5_000_000, "{}", html.len());
}

#[test]
fn a_report_survives_numbers_that_are_none() {
    let mut report = data::report();
    report.controls[0].accuracy = f64::NAN;
    report.controls[1].half_width = Some(f64::INFINITY);
    if let Some(cycles) = &mut report.cycles {
        cycles.charges[0].val_loss = Some(f64::NAN);
        cycles.charges[1].charge = f64::NAN;
    }
    check_html("numbers", &report.html().unwrap());
}

#[test]
fn the_extension_chooses_the_format() {
    let figure = data::frustration();
    for (name, start) in [("f.svg", "<svg"), ("F.PNG", "\u{89}PNG"), ("f.html", "<!doctype html>")]
    {
        let bytes = encode(&figure, name).unwrap();
        let found: String = bytes.iter().take(start.chars().count()).map(|&b| b as char).collect();
        assert_eq!(found, start, "{name}");
    }
    for name in ["figure.pdf", "figure", ".svg"] {
        let error = encode(&figure, name).unwrap_err();
        assert!(error.to_string().ends_with("the name must end in .svg, .png or .html"), "{error}");
    }
}

#[test]
fn equal_lengths_share_a_row_and_the_choice_is_marked() {
    let mut report = data::report();
    let length = |length: usize| CycleLength {
        length,
        found: if length < 20 { "yes" } else { "no" }.into(),
        evidence: "looked for".into(),
        count: None,
        witness: if length < 20 { format!("{length} → 1 → {length}") } else { String::new() },
    };
    if let Some(cycles) = &mut report.cycles {
        cycles.lengths = (2..=20).map(length).collect();
    }
    report.facts.push(Fact { name: "Model".into(), value: "a sentence ".repeat(8) });
    let html = report.html().unwrap();
    check_html("folded", &html);
    assert!(html.contains("<bdi>2–19</bdi></th><td><bdi>yes</bdi>"));
    assert!(html.contains("<bdi>20</bdi></th><td><bdi>no</bdi>"));
    assert!(html.contains("<bdi>13 → 1 → 13</bdi>") && !html.contains("<bdi>20 → 1"));
    assert!(html.contains("<tr class=\"main\"><th scope=\"row\"><bdi>1/3</bdi>"));
    assert!(html.contains("value=\"5\" aria-valuetext=\"q = 1/3, chosen\""));
    assert!(html.contains("<div class=\"long\"><dt><bdi>Model</bdi>"));
}

#[test]
fn some_eigenvalues_stand_at_their_places_among_all() {
    let curve = SpectrumCurve {
        charge: 0.0,
        eigenvalues: vec![-0.654, 0.1, 1.0],
        indices: vec![1.0, 9_859.0, 19_717.0],
        ..SpectrumCurve::default()
    };
    let note = "between the ends, quantiles".to_owned();
    let figure = SpectrumFigure { curves: vec![curve], note, ..SpectrumFigure::default() };
    let report = Report { spectrum: Some(figure.clone()), ..Report::default() };
    let html = report.html().unwrap();
    check_html("quantiles", &html);
    assert!(html.contains("data-dx=\"1.0,19717.0\""));
    assert!(html.contains("between −0.654 and 1; between the ends, quantiles."));
    // One charge needs no slider.
    assert!(!html.contains("type=\"range\""));
    let mut short = figure;
    short.curves[0].indices.pop();
    assert!(Report { spectrum: Some(short), ..Report::default() }.html().is_err());
}
