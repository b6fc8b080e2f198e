//! The numbers of a chart: for the page's script and as tables.

use super::{Chart, Panel};
use crate::figure::draw::number::short;
use crate::figure::draw::table::{Table, spread, thinned};
use serde::Serialize;

/// What the script reads; the pixels of the axes are in the drawing.
#[derive(Serialize)]
struct ChartData<'a> {
    panels: Vec<PanelData<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<FrameData<'a>>,
}

#[derive(Serialize)]
struct PanelData<'a> {
    x: &'a str,
    y: &'a str,
    along: &'static str,
    series: Vec<SeriesData<'a>>,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    slot: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dots: bool,
    points: Flat,
}

#[derive(Serialize)]
struct FrameData<'a> {
    label: &'a str,
    panels: Vec<Vec<Flat>>,
}

/// x, y, x, y, …: gaps are null.
type Flat = Vec<Option<f64>>;

impl Chart {
    /// As JSON that may stand in a page.
    pub fn json(&self) -> String {
        let panels = self.panels.iter().map(|panel| PanelData {
            x: &panel.x.label,
            y: &panel.y.label,
            along: if panel.along_y { "y" } else { "x" },
            series: panel
                .series
                .iter()
                .map(|series| SeriesData {
                    name: &series.name,
                    slot: series
                        .stroke
                        .series
                        .map(|series| crate::figure::draw::palette::colour(series).0),
                    dots: series.dots,
                    points: flat(&series.points),
                })
                .collect(),
        });
        let frames = self.frames.iter().map(|moment| FrameData {
            label: &moment.label,
            panels: (moment.points.iter())
                .map(|panel| panel.iter().map(|points| flat(points)).collect())
                .collect(),
        });
        crate::figure::draw::escape::json(&ChartData {
            panels: panels.collect(),
            frames: frames.collect(),
        })
    }
}

/// Five digits are more than a screen shows, and half the bytes.
fn flat(points: &[[f64; 2]]) -> Flat {
    let rounded = |value: f64| {
        let text = format!("{value:.5e}");
        text.parse().ok().filter(|value: &f64| value.is_finite())
    };
    points.iter().flatten().map(|&value| rounded(value)).collect()
}

/// One table where the curves share their x, otherwise one for each.
pub(super) fn tables(panel: &Panel) -> Vec<Table> {
    let Some(first) = panel.series.first() else { return Vec::new() };
    let by = usize::from(panel.along_y);
    let key = |points: &[[f64; 2]]| points.iter().map(|point| point[by]).collect::<Vec<_>>();
    let keys = key(&first.points);
    let (along, value) = match panel.along_y {
        false => (&panel.x.label, &panel.y.label),
        true => (&panel.y.label, &panel.x.label),
    };
    let table = |series: &[super::Series], keys: &[f64]| Table {
        caption: format!("{value}{}", thinned(keys.len())),
        head: std::iter::once(along.clone()).chain(series.iter().map(|s| s.name.clone())).collect(),
        rows: (spread(keys.len()).into_iter())
            .map(|row| {
                let values = series.iter().filter_map(|s| s.points.get(row));
                let values = values.map(|point| short(point[1 - by], 5));
                std::iter::once(short(keys[row], 5)).chain(values).collect()
            })
            .collect(),
    };
    if panel.series.iter().all(|series| key(&series.points) == keys) {
        return vec![table(&panel.series, &keys)];
    }
    let each = |series| table(std::slice::from_ref(series), &key(&series.points));
    panel.series.iter().filter(|series| !series.dots).map(each).collect()
}
