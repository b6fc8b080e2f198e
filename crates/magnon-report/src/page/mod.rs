//! Pages that stand alone: style, script and data inside, and nothing that could be asked for.

mod encode;
mod report;

pub use encode::{encode, html};
pub use report::{ChargeCandidate, Control, CycleEvidence, CycleLength, Fact, Report, ReportTable};

use crate::figure::draw::chart::{Frame, Moment};
use crate::figure::draw::cloud::Cloud;
use crate::figure::draw::escape::Escaped;
use crate::figure::draw::plan::{Art, Plan};
use std::fmt::Write;

const STYLE: &str = include_str!("../../assets/page.css");
const CHART_SCRIPT: &str = include_str!("../../assets/chart.js");
const CLOUD_SCRIPT: &str = include_str!("../../assets/cloud.js");

/// The browser itself refuses whatever a name smuggled in could ask for.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A whole page around a body.
fn whole(title: &str, body: &str) -> String {
    let title = Escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <div id=\"tip\" role=\"status\" aria-live=\"polite\" hidden></div>\n\
         <script>\n{CHART_SCRIPT}</script>\n<script>\n{CLOUD_SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The page of one figure.
fn of_figure(plan: &Plan) -> String {
    let figure = figure(plan, "figure", "h1", Room::Page);
    let body = format!("<main class=\"alone\">\n{figure}</main>\n");
    whole(&plan.title, &body)
}

/// How much of the page a figure has.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    /// All of its width.
    Page,
    /// Another figure may stand beside it.
    Column,
}

/// A figure as an element: heading, picture, words, data, tables.
fn figure(plan: &Plan, id: &str, heading: &str, room: Room) -> String {
    let mut out = String::new();
    let class = if room == Room::Page { " class=\"whole\"" } else { "" };
    let drawings = || {
        let page = (room == Room::Page).then_some(Frame::PAGE);
        let frames = [Frame::WIDE, Frame::NARROW].into_iter().chain(page);
        frames.map(|frame| plan.inline(frame, id)).collect::<String>()
    };
    let (title, text) = (Escaped(&plan.title), Escaped(&plan.description));
    let _ = write!(
        out,
        "<figure id=\"{id}\"{class}>\n<figcaption><{heading}><bdi>{title}</bdi></{heading}><p>{text}</p></figcaption>\n"
    );
    match &plan.art {
        Art::Chart(chart) => {
            if !chart.frames.is_empty() {
                out.push_str(&slider(id, &chart.frames, chart.start));
            }
            let keys = "Arrow keys step through the values.";
            let _ = writeln!(
                out,
                "<div class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\"{title}: values. {keys}\">{}\
                 <script type=\"application/json\">{}</script></div>",
                drawings(),
                chart.json()
            );
        }
        Art::Grid(_) | Art::Bars(_) => {
            let _ = writeln!(
                out,
                "<div class=\"matrix\" tabindex=\"0\" role=\"group\" aria-label=\"{title}: cells. Arrow keys move between them.\">{}</div>",
                drawings()
            );
        }
        Art::Cloud(cloud) => out.push_str(&canvas(plan, cloud, id)),
    }
    if !plan.tables.is_empty() {
        out.push_str("<details><summary>Data as a table</summary>\n");
        for table in &plan.tables {
            out.push_str(&table.html());
        }
        out.push_str("</details>\n");
    }
    out.push_str("</figure>\n");
    out
}

fn slider(id: &str, frames: &[Moment], start: usize) -> String {
    let first = Escaped(frames.get(start).map_or("", |frame| &frame.label));
    format!(
        "<p class=\"slider\"><label for=\"{id}-slider\">Charge</label>\
         <input id=\"{id}-slider\" type=\"range\" min=\"0\" max=\"{}\" step=\"1\" value=\"{start}\" aria-valuetext=\"{first}\">\
         <output for=\"{id}-slider\">{first}</output></p>\n",
        frames.len().saturating_sub(1)
    )
}

/// Canvases: one for the map, one for the circle of phases.
fn canvas(plan: &Plan, cloud: &Cloud, id: &str) -> String {
    let (title, text) = (Escaped(&plan.title), Escaped(&plan.description));
    let (hint, keys) = match cloud.flat {
        true => ("Arrow keys move, + and − zoom, 0 returns.", "Drag to move."),
        false => ("Arrow keys turn, + and − zoom, 0 returns.", "Drag to turn."),
    };
    let mut out = format!(
        "<div class=\"cloud\"><div class=\"legend\"></div><div class=\"canvases\">\
         <canvas class=\"map\" tabindex=\"0\" role=\"img\" aria-label=\"{title}. {text}\" aria-describedby=\"{id}-keys\"></canvas>"
    );
    if !cloud.phases.is_empty() {
        let _ = write!(
            out,
            "<canvas class=\"circle\" role=\"img\" aria-label=\"{title}: phases on a circle, one ring a class\"></canvas>"
        );
    }
    let _ = writeln!(
        out,
        "</div><p class=\"hint\" id=\"{id}-keys\">{keys} {hint}</p>\
         <noscript><p>This picture needs scripts to be allowed.</p></noscript>\
         <script type=\"application/json\">{}</script></div>",
        cloud.json()
    );
    out
}
