//! A plain table, the readable twin of a figure.

use super::escape::Escaped;
use std::fmt::Write;

/// More rows than this say less than the picture.
const MOST_ROWS: usize = 40;

/// Rows of text under a heading; the first column names the row.
pub(crate) struct Table {
    pub caption: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// As HTML; cells are text.
    pub fn html(&self) -> String {
        self.marked(None)
    }

    /// The same with one row in bold.
    pub fn marked(&self, main: Option<usize>) -> String {
        let mut out = String::from("<div class=\"scroll\" tabindex=\"0\" role=\"region\" ");
        let caption = Escaped(&self.caption);
        let _ =
            write!(out, "aria-label=\"{caption}\"><table><caption>{caption}</caption><thead><tr>");
        for cell in &self.head {
            let _ = write!(out, "<th scope=\"col\"><bdi>{}</bdi></th>", Escaped(cell));
        }
        out.push_str("</tr></thead><tbody>");
        for (index, row) in self.rows.iter().enumerate() {
            out.push_str(if Some(index) == main { "<tr class=\"main\">" } else { "<tr>" });
            for (column, cell) in row.iter().enumerate() {
                let cell = Escaped(cell);
                let _ = match column {
                    0 => write!(out, "<th scope=\"row\"><bdi>{cell}</bdi></th>"),
                    _ => write!(out, "<td><bdi>{cell}</bdi></td>"),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>");
        out
    }
}

/// Positions spread over `len` rows, the first and the last among them.
pub(crate) fn spread(len: usize) -> Vec<usize> {
    spread_over(len, MOST_ROWS)
}

/// At most `most` positions spread over `len`, the first and the last among them.
pub(crate) fn spread_over(len: usize, most: usize) -> Vec<usize> {
    if len <= most {
        return (0..len).collect();
    }
    let steps = most.max(2) - 1;
    (0..=steps).map(|step| step * (len - 1) / steps).collect()
}

/// What a caption adds when rows were left out.
pub(crate) fn thinned(len: usize) -> String {
    if len <= MOST_ROWS { String::new() } else { format!(" ({MOST_ROWS} of {len} rows)") }
}
