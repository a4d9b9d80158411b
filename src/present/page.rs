//! A page of text: lines and tables that fit the terminal, with colour only where it is wanted.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};

use super::layout::{share, width, wrap};
use super::{Style, for_terminal};
use crate::model::{Band, is_hidden};

const HEADING: Ansi = Ansi::new().bold();
/// The columns between two columns of a table.
const GAP: usize = 2;
/// A column of text that has less is not worth reading.
const LEAST_TEXT: usize = 12;

/// Where text is written, and how.
pub struct Page<'w> {
    out: &'w mut dyn Write,
    style: Style,
    /// The widths of the last table's columns, as far as one below it is to stand under it.
    widths: Vec<usize>,
}

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left; may be wrapped.
    Left,
    /// To the right, never wrapped: numbers.
    Right,
    /// To the left, never wrapped: short names, which say by themselves what they are.
    Short,
    /// To the left, never wrapped: a yes or no to the column's name.
    Flag,
}

/// What a text is about, as far as colour says it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// What matters less.
    Faint,
    /// A hard limit.
    Limit,
    /// A dislike.
    Dislike,
    /// A like.
    Like,
}

impl Tone {
    fn ansi(self) -> Ansi {
        match self {
            Tone::Plain => Ansi::new(),
            Tone::Faint => Ansi::new().dimmed(),
            Tone::Limit => AnsiColor::Red.on_default().bold(),
            Tone::Dislike => AnsiColor::Red.on_default(),
            Tone::Like => AnsiColor::Green.on_default(),
        }
    }
}

impl From<Band> for Tone {
    fn from(band: Band) -> Self {
        match band {
            Band::Taboo => Tone::Limit,
            Band::Aversion => Tone::Dislike,
            Band::Habit => Tone::Plain,
            Band::Style | Band::Preference => Tone::Like,
        }
    }
}

/// Rows of cells under a heading.
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Cell>>,
}

struct Cell {
    text: String,
    tone: Tone,
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
        let cell = |text: &String| Cell {
            text: for_terminal(text).trim_end().to_owned(),
            tone: Tone::Plain,
        };
        self.rows.push(cells.iter().map(cell).collect());
    }

    /// Gives the tone to cells of the last row.
    pub fn tone(&mut self, columns: &[usize], tone: Tone) {
        for (index, cell) in self.rows.last_mut().into_iter().flatten().enumerate() {
            if columns.contains(&index) {
                cell.tone = tone;
            }
        }
    }

    /// The columns that each column needs for its longest text.
    fn needs(&self) -> Vec<usize> {
        let names = self.columns.iter().map(|(name, _)| width(name));
        let longest = |(column, name): (usize, usize)| {
            let cells = self.rows.iter().map(|row| width(&row[column].text));
            cells.max().unwrap_or_default().max(name)
        };
        names.enumerate().map(longest).collect()
    }

    /// The widths of the columns within so many columns; none where they cannot stand side by side.
    fn widths(&self, needs: &[usize], most: usize) -> Option<Vec<usize>> {
        let is_text = |index: usize| self.columns[index].1 == Align::Left;
        let columns = 0..needs.len();
        let least = columns.clone().map(|index| match is_text(index) {
            true => needs[index].min(LEAST_TEXT),
            false => needs[index],
        });
        let gaps = GAP * needs.len().saturating_sub(1);
        if least.sum::<usize>() + gaps > most {
            return None;
        }
        let texts: Vec<usize> = columns.clone().filter(|&index| is_text(index)).collect();
        let fixed = columns.filter(|&index| !is_text(index));
        let taken = fixed.map(|index| needs[index]).sum::<usize>() + gaps;
        let wanted: Vec<usize> = texts.iter().map(|&index| needs[index]).collect();
        let mut widths = needs.to_vec();
        for (index, width) in texts.iter().zip(share(&wanted, most - taken)) {
            widths[*index] = width;
        }
        Some(widths)
    }
}

impl<'w> Page<'w> {
    /// A page on a stream.
    pub fn new(out: &'w mut dyn Write, style: Style) -> Self {
        Page {
            out,
            style,
            widths: Vec::new(),
        }
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

    /// Writes what programs read, as it is; but a terminal obeys what may stand in it.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn verbatim(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.style.terminal {
            self.out.write_all(harmless(bytes).as_bytes())
        } else {
            self.out.write_all(bytes)
        }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.painted(Ansi::new(), text)
    }

    /// Writes a heading.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = for_terminal(text);
        for line in self.lines(&text, 0) {
            self.painted(HEADING, line)?;
        }
        Ok(())
    }

    /// Writes a line that matters less.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn faint(&mut self, text: &str) -> io::Result<()> {
        self.painted(Tone::Faint.ansi(), text)
    }

    /// Writes a paragraph, wrapped to the terminal.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn wrapped(&mut self, text: &str) -> io::Result<()> {
        self.paragraph(text, Tone::Plain)
    }

    /// Writes a paragraph that matters less, wrapped to the terminal.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn wrapped_faint(&mut self, text: &str) -> io::Result<()> {
        self.paragraph(text, Tone::Faint)
    }

    /// Writes a paragraph; all its lines begin where the first one does.
    fn paragraph(&mut self, text: &str, tone: Tone) -> io::Result<()> {
        let text = for_terminal(text);
        let inner = text.trim_start();
        self.indented(text.len() - inner.len(), inner, tone)
    }

    /// Writes a harmless text, each line that many columns from the edge.
    fn indented(&mut self, indent: usize, text: &str, tone: Tone) -> io::Result<()> {
        for line in self.lines(text, indent) {
            writeln!(
                self.out,
                "{:indent$}{}",
                "",
                self.paint(tone.ansi(), line.trim_end())
            )?;
        }
        Ok(())
    }

    /// The lines of a text beside so many columns.
    fn lines<'t>(&self, text: &'t str, taken: usize) -> Vec<&'t str> {
        match self.style.width {
            Some(width) => wrap(text, width.saturating_sub(taken).max(1)),
            None => vec![text],
        }
    }

    fn painted(&mut self, ansi: Ansi, text: &str) -> io::Result<()> {
        let text = for_terminal(text);
        writeln!(self.out, "{}", self.paint(ansi, text.trim_end()))
    }

    fn paint(&self, ansi: Ansi, text: &str) -> String {
        if self.style.color && !ansi.is_plain() && !text.is_empty() {
            format!("{ansi}{text}{ansi:#}")
        } else {
            text.to_owned()
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
            table.tone(&[0], Tone::Faint);
        }
        self.table(&table)
    }

    /// Writes a table. Where the terminal is too narrow for its columns, each row becomes a paragraph.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        self.widths.clear();
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
        let mut needs = table.needs();
        for (need, above) in needs.iter_mut().zip(&self.widths) {
            *need = (*need).max(*above);
        }
        let fitting = match self.style.width {
            Some(width) => table.widths(&needs, width),
            None => Some(needs),
        };
        let Some(widths) = fitting else {
            return table
                .rows
                .iter()
                .try_for_each(|row| self.stacked(row, table));
        };
        if with_heading && table.columns.iter().any(|(name, _)| !name.is_empty()) {
            let mut heading = String::new();
            let mut blanks = 0;
            for ((name, align), &column) in table.columns.iter().zip(&widths) {
                place(&mut heading, &mut blanks, name, name, *align, column);
            }
            self.heading(&heading)?;
        }
        for row in &table.rows {
            self.side_by_side(row, table, &widths)?;
        }
        self.widths = widths;
        Ok(())
    }

    /// Writes a row with its cells beside each other.
    fn side_by_side(&mut self, row: &[Cell], table: &Table, widths: &[usize]) -> io::Result<()> {
        let cells: Vec<Vec<&str>> = row
            .iter()
            .zip(widths)
            .map(|(cell, &column)| match self.style.width {
                Some(_) => wrap(&cell.text, column),
                None => vec![cell.text.as_str()],
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        for index in 0..height {
            let mut line = String::new();
            let mut blanks = 0;
            for (column, lines) in cells.iter().enumerate() {
                let text = lines.get(index).copied().unwrap_or_default();
                let painted = self.paint(row[column].tone.ansi(), text);
                let align = table.columns[column].1;
                place(
                    &mut line,
                    &mut blanks,
                    text,
                    &painted,
                    align,
                    widths[column],
                );
            }
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Writes a row with its cells below each other: the first one in front, then what is text, then the rest in a line.
    fn stacked(&mut self, row: &[Cell], table: &Table) -> io::Result<()> {
        let Some(first) = row.first() else {
            return Ok(());
        };
        let mut indent = GAP;
        if table.columns[0].1 == Align::Right {
            let name = self.paint(first.tone.ansi(), &first.text);
            indent += width(&first.text).max(2);
            write!(self.out, "{name}{:1$}", "", indent - width(&first.text))?;
        } else {
            self.indented(0, &first.text, first.tone)?;
        }
        let rest = || table.columns.iter().zip(row).skip(1);
        let is_text = |align: Align| align == Align::Left;
        let mut parts: Vec<(&str, Tone)> = rest()
            .filter(|((_, align), cell)| is_text(*align) && !cell.text.is_empty())
            .map(|(_, cell)| (cell.text.as_str(), cell.tone))
            .collect();
        let others: Vec<String> = rest()
            .filter(|((_, align), cell)| !is_text(*align) && !cell.text.is_empty())
            .map(|((name, align), cell)| match align {
                Align::Short => cell.text.clone(),
                _ => format!("{} {}", name.to_lowercase(), cell.text),
            })
            .collect();
        let others = others.join(", ");
        if !others.is_empty() {
            parts.push((&others, Tone::Faint));
        }
        // The first line goes on behind the first cell.
        let mut blanks = match table.columns[0].1 {
            Align::Right => 0,
            _ => indent,
        };
        for (text, tone) in parts {
            for line in self.lines(text, indent) {
                let painted = self.paint(tone.ansi(), line);
                writeln!(self.out, "{:blanks$}{painted}", "")?;
                blanks = indent;
            }
        }
        if blanks == 0 {
            writeln!(self.out)?;
        }
        Ok(())
    }
}

/// Puts a text at its place in a line. The blanks behind it are owed until something follows them.
fn place(
    line: &mut String,
    blanks: &mut usize,
    text: &str,
    painted: &str,
    align: Align,
    column: usize,
) {
    let free = column.saturating_sub(width(text));
    let (before, after) = match align {
        Align::Right => (free, 0),
        _ => (0, free),
    };
    *blanks += before;
    if text.is_empty() {
        *blanks += after + GAP;
        return;
    }
    let _never_fails = write!(line, "{:1$}{painted}", "", *blanks);
    *blanks = after + GAP;
}

/// A text of several lines without what a terminal obeys.
pub(super) fn harmless(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .filter(|&c| matches!(c, '\n' | '\t') || !is_hidden(c))
        .collect()
}
