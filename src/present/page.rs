//! A page of text: lines and tables that fit the terminal, with colour only where it is wanted.

use std::io::{self, Write};

use anstyle::Style as Ansi;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};

use super::{Style, for_terminal};

const HEADING: Ansi = Ansi::new().bold();
const FAINT: Ansi = Ansi::new().dimmed();

/// Where text is written, and how.
pub struct Page<'w> {
    out: &'w mut dyn Write,
    style: Style,
}

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left; may be wrapped.
    Left,
    /// To the right, never wrapped: numbers.
    Right,
    /// To the left, never wrapped: short names.
    Short,
}

/// Rows of cells under a heading.
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Table {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) {
        self.rows
            .push(cells.iter().map(|cell| for_terminal(cell)).collect());
    }
}

impl<'w> Page<'w> {
    /// A page on a stream.
    pub fn new(out: &'w mut dyn Write, style: Style) -> Self {
        Page { out, style }
    }

    /// How the page is laid out.
    pub fn style(&self) -> Style {
        self.style
    }

    /// The stream itself, for what is not text.
    pub fn out(&mut self) -> &mut dyn Write {
        self.out
    }

    /// Writes lines that are laid out already.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn block(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// Writes the difference between two files: exactly what patch reads; but a terminal obeys what may stand in a file.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn patch(&mut self, diff: &str) -> io::Result<()> {
        if self.style.width.is_none() {
            return self.out.write_all(diff.as_bytes());
        }
        let harmless = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        let shown: String = diff.chars().filter(harmless).collect();
        self.out.write_all(shown.as_bytes())
    }

    /// Writes a line.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", for_terminal(text).trim_end())
    }

    /// Writes a heading.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        self.painted(HEADING, text)
    }

    /// Writes a line that matters less.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn faint(&mut self, text: &str) -> io::Result<()> {
        self.painted(FAINT, text)
    }

    /// Writes a paragraph, wrapped to the terminal.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn wrapped(&mut self, text: &str) -> io::Result<()> {
        for line in self.wrap(text) {
            self.line(&line)?;
        }
        Ok(())
    }

    /// Writes a paragraph that matters less, wrapped to the terminal.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn wrapped_faint(&mut self, text: &str) -> io::Result<()> {
        for line in self.wrap(text) {
            self.faint(&line)?;
        }
        Ok(())
    }

    fn wrap(&self, text: &str) -> Vec<String> {
        let mut grid = self.grid();
        grid.add_row([for_terminal(text)]);
        if let Some(column) = grid.column_mut(0) {
            column.set_padding((0, 0));
        }
        grid.lines().collect()
    }

    fn painted(&mut self, ansi: Ansi, text: &str) -> io::Result<()> {
        let text = for_terminal(text);
        let text = text.trim_end();
        if self.style.color && !text.is_empty() {
            writeln!(self.out, "{ansi}{text}{ansi:#}")
        } else {
            writeln!(self.out, "{text}")
        }
    }

    /// Writes `name: value` pairs, the values under each other.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn pairs(&mut self, pairs: &[(&str, String)]) -> io::Result<()> {
        let mut table = Table::new(&[("", Align::Short), ("", Align::Left)]);
        for (name, value) in pairs {
            table.row(&[(*name).to_owned(), value.clone()]);
        }
        self.table(&table)
    }

    /// Writes a table. Where the terminal is too narrow for its columns, each row becomes a paragraph.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        self.draw(table, true)
    }

    /// Writes a table without its heading, below one that has it.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn table_continued(&mut self, table: &Table) -> io::Result<()> {
        self.draw(table, false)
    }

    fn draw(&mut self, table: &Table, with_heading: bool) -> io::Result<()> {
        if table.rows.is_empty() {
            return Ok(());
        }
        let has_heading = table.columns.iter().any(|(name, _)| !name.is_empty());
        // Formatting row by row would align nothing, so wide profiles are laid out as a whole.
        let narrow = self
            .style
            .width
            .is_some_and(|width| width < table.least_width());
        if narrow && has_heading {
            return self.paragraphs(table);
        }
        let mut drawn = self.grid();
        if has_heading {
            drawn.set_header(table.columns.iter().map(|(name, _)| *name));
        }
        for cells in &table.rows {
            drawn.add_row(cells);
        }
        for (index, (_, align)) in table.columns.iter().enumerate() {
            if let Some(column) = drawn.column_mut(index) {
                column.set_padding((0, 2));
                if *align == Align::Right {
                    column.set_cell_alignment(CellAlignment::Right);
                }
                if *align != Align::Left {
                    column.set_constraint(ColumnConstraint::ContentWidth);
                }
            }
        }
        for (index, line) in drawn.lines().enumerate() {
            if has_heading && index == 0 {
                if with_heading {
                    self.heading(&line)?;
                }
            } else {
                writeln!(self.out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }

    fn grid(&self) -> comfy_table::Table {
        let mut grid = comfy_table::Table::new();
        grid.load_style(presets::NOTHING);
        match self.style.width {
            Some(width) => {
                grid.set_content_arrangement(ContentArrangement::Dynamic);
                grid.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            }
            None => {
                grid.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        grid
    }

    fn paragraphs(&mut self, table: &Table) -> io::Result<()> {
        for cells in &table.rows {
            let mut parts = table
                .columns
                .iter()
                .zip(cells)
                .filter(|(_, cell)| !cell.is_empty());
            let mut grid = self.grid();
            if let Some((_, first)) = parts.next() {
                let (texts, numbers): (Vec<_>, Vec<_>) =
                    parts.partition(|((_, align), _)| *align == Align::Left);
                let mut rest: Vec<String> =
                    texts.into_iter().map(|(_, cell)| cell.clone()).collect();
                let numbers: Vec<String> = numbers
                    .into_iter()
                    .map(|((name, _), cell)| format!("{} {cell}", name.to_lowercase()))
                    .collect();
                rest.push(numbers.join(", "));
                grid.add_row([first.clone(), rest.join("\n")]);
            }
            for (index, padding) in [(0, 2), (1, 0)] {
                if let Some(column) = grid.column_mut(index) {
                    column.set_padding((0, padding));
                }
            }
            if let Some(column) = grid.column_mut(0) {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(4)));
            }
            for line in grid.lines() {
                writeln!(self.out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

impl Table {
    /// The width below which the columns cannot stand side by side.
    fn least_width(&self) -> usize {
        use unicode_width::UnicodeWidthStr;
        self.columns
            .iter()
            .enumerate()
            .map(|(index, (name, align))| {
                if *align == Align::Left {
                    return 14;
                }
                let widest = self.rows.iter().map(|cells| cells[index].width()).max();
                widest.unwrap_or(0).max(name.width()) + 2
            })
            .sum()
    }
}
