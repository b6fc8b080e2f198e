//! The report: everything about a run on one page.

mod evidence;
mod results;

pub use evidence::{ChargeCandidate, CycleEvidence, CycleLength};
pub use results::Control;

use crate::figure::draw::escape::Escaped;
use crate::figure::draw::plan::{Plan, Plot};
use crate::figure::draw::table::Table;
use crate::page::{self, Room};
use crate::{
    ConfusionFigure, DensityFigure, EigenmapFigure, FrustrationFigure, PlotError, ResponseFigure,
    SharesFigure, SpectrumFigure, TrainingFigure,
};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A run told on one page that needs no network and no other file. Every part may be left empty and
/// is then left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The title.
    pub title: String,
    /// A sentence under the title.
    pub subtitle: String,
    /// What the data are: nodes, edges, classes, homophily…
    pub facts: Vec<Fact>,
    /// What a reader should know: data dropped, limits met.
    pub remarks: Vec<String>,
    /// Tables, each with how it was made.
    pub tables: Vec<ReportTable>,
    /// The model beside its controls.
    pub controls: Vec<Control>,
    /// What is behind the ± of the controls, as `95 % confidence interval over 10 splits`.
    pub controls_note: String,
    /// How much the model takes from each of its inputs.
    pub shares: Option<SharesFigure>,
    /// Cycles found, charges tried, and the choice.
    pub cycles: Option<CycleEvidence>,
    /// Spectra, one a charge, with a slider, and the filter's response.
    pub spectrum: Option<SpectrumFigure>,
    /// Further spectra, one figure each.
    pub spectra: Vec<SpectrumFigure>,
    /// How the eigenvalues are spread.
    pub density: Option<DensityFigure>,
    /// The smallest eigenvalue against the charge.
    pub frustration: Option<FrustrationFigure>,
    /// Responses of several filters.
    pub response: Option<ResponseFigure>,
    /// Loss and accuracy per epoch.
    pub training: Option<TrainingFigure>,
    /// The confusion matrix; the scores of the classes follow from it.
    pub confusion: Option<ConfusionFigure>,
    /// The nodes on a map.
    pub eigenmap: Option<EigenmapFigure>,
    /// The command line that made the report.
    pub command: String,
    /// The whole configuration.
    pub configuration: Option<serde_json::Value>,
    /// Program and version, for the last line.
    pub made_by: String,
}

/// A name and a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it comes to.
    pub value: String,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportTable {
    /// What it shows.
    pub title: String,
    /// How it was made.
    pub setting: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// The rows; the first cell names a row.
    pub rows: Vec<Vec<String>>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl ReportTable {
    fn html(&self) -> String {
        let (title, setting) = (Escaped(&self.title), Escaped(&self.setting));
        let mut out = format!("<h3><bdi>{title}</bdi></h3>\n<p><bdi>{setting}</bdi></p>\n");
        let (caption, head, rows) = (self.title.clone(), self.head.clone(), self.rows.clone());
        out += &Table { caption, head, rows }.html();
        for note in &self.notes {
            let _ = writeln!(out, "<p class=\"note\"><bdi>{}</bdi></p>", Escaped(note));
        }
        out
    }
}

/// Letters of a fact that stands beside others.
const SHORT: usize = 40;

/// One part of the page.
struct Section {
    id: &'static str,
    name: &'static str,
    body: String,
}

impl Report {
    /// The page.
    pub fn html(&self) -> Result<String, PlotError> {
        let sections = self.sections()?;
        let mut body =
            String::from("<a class=\"skip\" href=\"#content\">Skip to the content</a>\n");
        self.header(&mut body, &sections);
        body.push_str("<main id=\"content\">\n");
        for section in &sections {
            let (id, name) = (section.id, section.name);
            let _ = write!(
                body,
                "<section id=\"{id}\" aria-labelledby=\"{id}-name\">\n<h2 id=\"{id}-name\">{name}</h2>\n{}</section>\n",
                section.body
            );
        }
        body.push_str("</main>\n");
        if !self.made_by.is_empty() {
            let _ = writeln!(body, "<footer>Made by {}</footer>", Escaped(&self.made_by));
        }
        Ok(page::whole(&self.title, &body))
    }

    fn header(&self, out: &mut String, sections: &[Section]) {
        let _ = write!(out, "<header>\n<h1><bdi>{}</bdi></h1>\n", Escaped(&self.title));
        if !self.subtitle.is_empty() {
            let _ =
                writeln!(out, "<p class=\"subtitle\"><bdi>{}</bdi></p>", Escaped(&self.subtitle));
        }
        if !self.facts.is_empty() {
            out.push_str("<dl class=\"facts\">");
            for Fact { name, value } in &self.facts {
                // A sentence gets a line of its own.
                let class = if value.chars().count() > SHORT { " class=\"long\"" } else { "" };
                let (name, value) = (Escaped(name), Escaped(value));
                let _ = write!(
                    out,
                    "<div{class}><dt><bdi>{name}</bdi></dt><dd><bdi>{value}</bdi></dd></div>"
                );
            }
            out.push_str("</dl>\n");
        }
        if !self.remarks.is_empty() {
            out.push_str("<ul class=\"remarks\">");
            for remark in &self.remarks {
                let _ = write!(out, "<li><bdi>{}</bdi></li>", Escaped(remark));
            }
            out.push_str("</ul>\n");
        }
        if sections.len() > 1 {
            out.push_str("<nav aria-label=\"Sections\">");
            for Section { id, name, .. } in sections {
                let _ = write!(out, "<a href=\"#{id}\">{name}</a> ");
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n");
    }

    fn sections(&self) -> Result<Vec<Section>, PlotError> {
        let mut sections = Vec::new();
        let mut add = |id, name, body: String| {
            if !body.is_empty() {
                sections.push(Section { id, name, body });
            }
        };
        let figure = |plan: Plan, id: &str| page::figure(&plan, id, "h3", Room::Page);
        let column = |plan: Plan, id: &str| page::figure(&plan, id, "h3", Room::Column);
        add("results", "Results", results::controls(&self.controls, &self.controls_note));
        add("tables", "Tables", self.tables.iter().map(ReportTable::html).collect());
        add("inputs", "What the model looks at", {
            let shares = self.shares.as_ref().map(Plot::plan).transpose()?;
            shares.map_or_else(String::new, |plan| figure(plan, "shares"))
        });
        add("charge", "Cycles and charge", {
            let evidence = self.cycles.as_ref().map_or_else(String::new, CycleEvidence::html);
            let frustration = self.frustration.as_ref().map(Plot::plan).transpose()?;
            evidence + &frustration.map_or_else(String::new, |plan| figure(plan, "frustration"))
        });
        add("spectrum", "Spectrum and filter", {
            let spectrum = self.spectrum.as_ref().map(|spectrum| match spectrum.curves.len() {
                1 => spectrum.plan(),
                _ => spectrum.with_slider(),
            });
            let spectrum = spectrum.transpose()?;
            let density = self.density.as_ref().map(Plot::plan).transpose()?;
            let response = self.response.as_ref().map(Plot::plan).transpose()?;
            let named = [(spectrum, "eigenvalues"), (density, "density"), (response, "response")];
            let named = named.into_iter().filter_map(|(plan, id)| Some((plan?, id)));
            let named: Vec<(Plan, &str)> = named.collect();
            match named.len() {
                1 => named.into_iter().map(|(plan, id)| figure(plan, id)).collect(),
                _ => pair(named.into_iter().map(|(plan, id)| column(plan, id)).collect()),
            }
        });
        add("spectra", "Spectra", {
            let figures = self
                .spectra
                .iter()
                .enumerate()
                .map(|(k, figure)| Ok(column(figure.plan()?, &format!("spectrum-{k}"))));
            pair(figures.collect::<Result<_, PlotError>>()?)
        });
        add("training", "Training", {
            let training = self.training.as_ref().map(Plot::plan).transpose()?;
            training.map_or_else(String::new, |plan| figure(plan, "curves"))
        });
        add(
            "classes",
            "Classes",
            match &self.confusion {
                None => String::new(),
                Some(confusion) => {
                    let scores = results::scores(&confusion.scores()?);
                    pair(vec![column(confusion.plan()?, "confusion"), scores])
                }
            },
        );
        add("map", "Eigenmap", {
            let eigenmap = self.eigenmap.as_ref().map(Plot::plan).transpose()?;
            eigenmap.map_or_else(String::new, |plan| figure(plan, "eigenmap"))
        });
        add("origin", "How this was made", results::origin(&self.command, &self.configuration));
        Ok(sections)
    }
}

/// Parts side by side where the screen is wide.
fn pair(parts: Vec<String>) -> String {
    match parts.len() {
        0 => String::new(),
        1 => parts.concat(),
        _ => format!("<div class=\"pair\">{}</div>\n", parts.concat()),
    }
}
