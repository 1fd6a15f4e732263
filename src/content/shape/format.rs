//! `format`: a value as table, CSV, Markdown or plain lines.

use crate::mapping::Format;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The text of a value.
pub(super) fn format(value: &Value, format: Format) -> String {
    match format {
        Format::Json => value.to_string(),
        Format::Table => table(value),
        Format::Csv => csv(value),
        Format::Markdown => markdown(value),
        Format::Text => {
            let mut text = String::new();
            lines(value, 0, &mut text);
            text.truncate(text.trim_end().len());
            text
        }
    }
}

/// Rows and columns of a value: a list of objects has a column for each name (in order of first appearance), any
/// other list one column, an object is a single row.
struct Grid<'a> {
    columns: Vec<&'a str>,
    rows: Vec<Vec<Cow<'a, str>>>,
}

impl<'a> Grid<'a> {
    fn new(value: &'a Value) -> Self {
        let items = match value {
            Value::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut columns: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
        let mut scalars = false;
        for item in items {
            match item {
                Value::Object(members) => columns.extend(members.keys().map(String::as_str)),
                _ => scalars = true,
            }
        }
        if scalars {
            columns.insert("value");
        }
        let row = |item: &'a Value| {
            columns
                .iter()
                .map(|column| match item {
                    Value::Object(members) => members.get(*column).map_or(Cow::Borrowed(""), cell),
                    other if *column == "value" => cell(other),
                    _ => Cow::Borrowed(""),
                })
                .collect()
        };
        let rows = items.iter().map(row).collect();
        Grid { columns: columns.into_iter().collect(), rows }
    }
}

/// A scalar as its text, null as nothing, anything deeper as JSON.
fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn table(value: &Value) -> String {
    let grid = Grid::new(value);
    let flat = |text: &str| text.split(['\n', '\r', '\t']).collect::<Vec<_>>().join(" ");
    let head: Vec<String> = grid.columns.iter().map(|name| flat(name)).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(|row| row.iter().map(|cell| flat(cell)).collect()).collect();
    let mut widths: Vec<usize> = head.iter().map(|name| name.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        let start = text.len();
        for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let _ = write!(text, "{}{cell:<width$}", if index > 0 { "  " } else { "" });
        }
        text.truncate(start + text.get(start..).unwrap_or_default().trim_end().len());
        text.push('\n');
    };
    line(&head);
    line(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>());
    rows.iter().for_each(|row| line(row));
    text.truncate(text.trim_end().len());
    text
}

/// RFC 4180: header line, CRLF, quotes where a field holds a quote, comma or line break.
fn csv(value: &Value) -> String {
    let grid = Grid::new(value);
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                text.push(',');
            }
            if cell.contains(['"', ',', '\r', '\n']) {
                let _ = write!(text, "\"{}\"", cell.replace('"', "\"\""));
            } else {
                text.push_str(cell);
            }
        }
        text.push_str("\r\n");
    };
    line(&mut grid.columns.iter().copied());
    for row in &grid.rows {
        line(&mut row.iter().map(|cell| &**cell));
    }
    text
}

fn markdown(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let grid = Grid::new(value);
            let mut text = String::new();
            let mut line = |cells: &mut dyn Iterator<Item = String>| {
                let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
            };
            line(&mut grid.columns.iter().map(|name| markdown_cell(name)));
            line(&mut grid.columns.iter().map(|_| "---".to_owned()));
            for row in &grid.rows {
                line(&mut row.iter().map(|cell| markdown_cell(cell)));
            }
            text.truncate(text.trim_end().len());
            text
        }
        Value::Array(items) => {
            items.iter().map(|item| format!("- {}", one_line(&cell(item)))).collect::<Vec<_>>().join("\n")
        }
        Value::Object(members) => {
            let lines = members.iter().map(|(name, member)| match member {
                Value::Array(items) if items.iter().any(Value::is_object) => {
                    format!("\n**{}**\n\n{}\n", markdown_cell(name), markdown(member))
                }
                other => format!("- **{}**: {}", one_line(name), one_line(&cell(other))),
            });
            lines.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        other => cell(other).into_owned(),
    }
}

fn markdown_cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}

fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// `name: value` lines; what is nested stands below, indented.
fn lines(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Object(inner) if !inner.is_empty() => {
                        let _ = writeln!(text, "{indent}{name}:");
                        lines(member, depth + 1, text);
                    }
                    Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                        let _ = writeln!(text, "{indent}{name}:");
                        lines(member, depth + 1, text);
                    }
                    Value::Array(items) => {
                        let list: Vec<_> = items.iter().map(cell).collect();
                        let _ = writeln!(text, "{indent}{name}: {}", list.join(", "));
                    }
                    other => {
                        let _ = writeln!(text, "{indent}{name}: {}", cell(other));
                    }
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 && item.is_object() {
                    text.push('\n');
                }
                lines(item, depth, text);
            }
        }
        other => {
            let _ = writeln!(text, "{indent}{}", cell(other));
        }
    }
}
