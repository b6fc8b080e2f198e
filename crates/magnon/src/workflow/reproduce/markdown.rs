//! A reproduction as a page of Markdown.

use super::{Cell, Reproduction, Row, Table};

impl Reproduction {
    /// All tables with how they were made; `command` is what made them.
    pub fn markdown(&self, command: &str) -> String {
        let mut text = format!(
            "# The paper's tables again\n\nWritten by `{command}`, and not edited by hand. A cell has what we \
             measure and, in brackets, what the paper prints and the difference. The last column is the time of \
             the row, as it was measured when it was trained. [Notes on reproduction](reproduction-notes.md) say what differs from the \
             published code and what was tried where figures are missed.\n"
        );
        for missing in &self.missing {
            text += &format!("\n- {missing}\n");
        }
        self.tables.iter().for_each(|table| text += &table.markdown());
        text
    }
}

impl Table {
    /// One section.
    pub fn markdown(&self) -> String {
        let timed = self.rows.iter().any(|row| row.seconds.is_some());
        let mut heads = self.columns.clone();
        heads.extend(timed.then(|| "time".to_owned()));
        let mut text = format!("\n## {}\n\nSetting: {}.\n\n", self.title, self.setting);
        text += &format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
        for Row { name, cells, seconds } in &self.rows {
            let mut cells: Vec<String> = cells.iter().map(Cell::text).collect();
            cells.extend(seconds.map(|seconds| format!("{seconds:.1} s")));
            text += &format!("| {name} | {} |\n", cells.join(" | "));
        }
        self.notes.iter().for_each(|note| text += &format!("\n- {note}."));
        if !self.notes.is_empty() {
            text.push('\n');
        }
        text
    }
}

impl Cell {
    /// Ours, the paper's in brackets, and the difference.
    pub fn text(&self) -> String {
        let whole = |value: f64| format!("{value:.0}");
        let Some(ours) = self.ours else {
            return self.published.map_or("–".to_owned(), |value| match self.whole {
                true => format!("– ({})", whole(value)),
                false => format!("– ({value:.2})"),
            });
        };
        if self.whole {
            let published =
                self.published.map_or(String::new(), |value| format!(" ({})", whole(value)));
            return format!("{}{published}", whole(ours.mean));
        }
        let half = ours.ci95.map_or(String::new(), |half| format!(" ± {half:.2}"));
        let published = match (self.published, self.difference) {
            (Some(value), Some(difference)) => format!(" ({value:.2}, {difference:+.2})"),
            _ => String::new(),
        };
        format!("{:.2}{half}{published}", ours.mean)
    }
}
