//! The page and the pictures of a reproduction.

use super::{fact, save};
use crate::Error;
use crate::data::Labels;
use crate::data::write::file_in;
use crate::workflow::figures;
use crate::workflow::reproduce::{Reproduction, ResponseData};
use magnon_report::{EigenmapFigure, Report, ReportTable, SpectrumCurve, SpectrumFigure};
use std::path::Path;

/// Writes `reproduction.html` and one .svg file for each figure.
pub fn save_reproduction(found: &Reproduction, command: &str, folder: &Path) -> Result<(), Error> {
    for data in &found.responses {
        let pass = if data.high_pass { "high" } else { "low" };
        let name = format!("frequency-response-{}-{pass}.svg", data.dataset.to_lowercase());
        figures::save(&response(data), &file_in(folder, &name)?)?;
    }
    let eigenmap = eigenmap(found);
    if let Some(figure) = &eigenmap {
        figures::save(figure, &file_in(folder, "eigenmap.svg")?)?;
    }
    let tables = found.tables.iter().map(|table| {
        let mut head = vec![String::new()];
        head.extend(table.columns.clone());
        let rows = table.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| cell.text());
            std::iter::once(row.name.clone()).chain(cells).collect()
        });
        ReportTable {
            title: table.title.clone(),
            setting: table.setting.clone(),
            head,
            rows: rows.collect(),
            notes: table.notes.clone(),
        }
    });
    let report = Report {
        title: "The paper's tables and figures again".to_owned(),
        subtitle: "What we measure, what the paper prints in brackets, and the difference"
            .to_owned(),
        facts: vec![fact("Seeds and splits", found.runs.to_string())],
        remarks: found.missing.clone(),
        tables: tables.collect(),
        spectra: found.responses.iter().map(response).collect(),
        eigenmap,
        command: command.to_owned(),
        made_by: format!("magnon {}", env!("CARGO_PKG_VERSION")),
        ..Default::default()
    };
    save(&report, &file_in(folder, "reproduction.html")?)
}

fn response(data: &ResponseData) -> SpectrumFigure {
    let pass = if data.high_pass { "high pass" } else { "low pass" };
    let curve = |(charge, eigenvalues): &(f64, Vec<f64>)| SpectrumCurve {
        charge: *charge,
        eigenvalues: eigenvalues.clone(),
        ..SpectrumCurve::default()
    };
    SpectrumFigure {
        title: format!("Frequency response of {}, {pass}", data.dataset),
        curves: data.curves.iter().map(curve).collect(),
        ..SpectrumFigure::default()
    }
}

fn eigenmap(found: &Reproduction) -> Option<EigenmapFigure> {
    let data = found.eigenmap.as_ref()?;
    let title = format!("Magnetic eigenmap of {}, q = 1/3", data.dataset);
    let labels = Labels { classes: data.classes.clone(), names: data.class_names.clone() };
    Some(figures::map(title, &data.map, Some(&labels), None))
}
