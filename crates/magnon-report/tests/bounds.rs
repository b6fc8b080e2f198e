//! The edges of the input: nothing, one point, numbers without a place, enormous ranges.

#![allow(clippy::unwrap_used)]

mod common;

use common::{check_html, check_svg, data};
use magnon_report::*;

const NUMBERS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -2.5,
    1e-320,
    -1e-9,
    1e9,
    1e300,
    -1e300,
    f64::MAX,
    f64::NAN,
    f64::NEG_INFINITY,
];

fn message(figure: &dyn Figure) -> String {
    svg(figure).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_named() {
    let empty = message(&ResponseFigure::default());
    assert_eq!(
        empty,
        "response figure: the list of curves is empty, so that there is nothing to draw"
    );
    let mut curve = data::response();
    curve.curves[1].y[7] = f64::NAN;
    let value = message(&curve);
    assert_eq!(
        value,
        "response figure: PageRank, α = 0.1 holds NaN at position 7; only finite numbers can be drawn"
    );
    curve.curves[1].y.pop();
    assert!(message(&curve).contains("199 values where 200 are needed"));

    let mut map = data::eigenmap(5, 0);
    map.edges = vec![[0, 1], [3, 5]];
    assert!(
        message(&map).contains("the list of edges names 5 at position 1, but there are only 5")
    );
    map.edges.clear();
    map.labels[2] = 9;
    assert!(message(&map).contains("names 9 at position 2, but there are only 5"));

    let mut matrix = data::confusion();
    matrix.counts[3].pop();
    assert!(message(&matrix).contains("the row of staff has 4 values where 5 are needed"));
    let training =
        TrainingFigure { best_epoch: Some(0), train_loss: vec![1.0], ..Default::default() };
    assert!(message(&training).contains("best_epoch"));
    assert!(message(&TrainingFigure::default()).contains("empty"));
    assert!(message(&SpectrumFigure::default()).contains("empty"));
    assert!(message(&DensityFigure::default()).contains("empty"));
    assert!(message(&FrustrationFigure::default()).contains("empty"));
    assert!(message(&EigenmapFigure::default()).contains("empty"));
    assert!(message(&ConfusionFigure::default()).contains("empty"));
    assert!(message(&SharesFigure::default()).contains("empty"));
    let mut shares = data::shares();
    shares.names.pop();
    assert!(message(&shares).contains("the list of names has 3 values where 4 are needed"));
}

/// Figures of all kinds from two lists.
fn all(x: &[f64], y: &[f64]) -> Vec<Box<dyn Figure>> {
    let (x, y) = (x.to_vec(), y.to_vec());
    let curve = Curve { name: "c".into(), x: x.clone(), y: y.clone(), dashed: true };
    let density = DensityCurve {
        name: "d".into(),
        x: x.clone(),
        density: y.clone(),
        low: y.clone(),
        high: x.clone(),
    };
    let spectrum = SpectrumCurve {
        charge: x.first().copied().unwrap_or(0.0),
        eigenvalues: y.clone(),
        approximation: x.clone(),
        indices: Vec::new(),
    };
    vec![
        Box::new(ResponseFigure { title: String::new(), curves: vec![curve.clone()] }),
        Box::new(DensityFigure { title: String::new(), curves: vec![density] }),
        Box::new(SpectrumFigure {
            title: String::new(),
            curves: vec![spectrum],
            response: Some(curve),
            ..SpectrumFigure::default()
        }),
        Box::new(SharesFigure {
            names: x.iter().map(f64::to_string).collect(),
            shares: y.clone(),
            ..SharesFigure::default()
        }),
        Box::new(FrustrationFigure {
            title: String::new(),
            charges: x.clone(),
            values: y.clone(),
            minima: x.clone(),
        }),
        Box::new(TrainingFigure {
            train_loss: x.clone(),
            val_accuracy: y.clone(),
            best_epoch: Some(1),
            ..TrainingFigure::default()
        }),
        Box::new(EigenmapFigure {
            x: x.clone(),
            y: y.clone(),
            z: x.clone(),
            phases: y.clone(),
            ..EigenmapFigure::default()
        }),
    ]
}

#[test]
fn any_numbers_give_a_picture_or_an_error() {
    let mut drawn = 0;
    let mut check = |x: &[f64], y: &[f64]| {
        for (kind, figure) in all(x, y).iter().enumerate() {
            let name = format!("{kind}: {x:?} {y:?}");
            if let Ok(text) = svg(figure.as_ref()) {
                check_svg(&name, &text);
                check_html(&name, &html(figure.as_ref()).unwrap());
                drawn += 1;
            }
        }
    };
    check(&[], &[]);
    for a in NUMBERS {
        check(&[a], &[a]);
        for b in NUMBERS {
            check(&[a, b], &[b, a]);
        }
    }
    check(&[1.0, 2.0], &[1.0]);
    assert!(drawn > 300, "{drawn}");
}

#[test]
fn enormous_counts_and_many_classes() {
    let figure = ConfusionFigure {
        title: "large".into(),
        class_names: vec!["a".into(), "b".into()],
        counts: vec![vec![u64::MAX, u64::MAX], vec![0, 0]],
    };
    check_svg("enormous", &svg(&figure).unwrap());
    let classes = 120;
    let figure = ConfusionFigure {
        title: "many".into(),
        class_names: (0..classes).map(|class| format!("class {class}")).collect(),
        counts: vec![vec![1; classes]; classes],
    };
    check_svg("many", &svg(&figure).unwrap());
    let mut map = data::eigenmap(100, 10);
    map.class_names.clear();
    map.labels[0] = u16::MAX;
    check_svg("classes without names", &svg(&map).unwrap());
}
