//! Tables, as a terminal shows them.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

/// An empty one.
pub fn of<'a>(titles: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(titles);
    table
}

/// One more row of figures.
pub fn add(table: &mut Table, figures: impl IntoIterator<Item = String>) {
    let right = |text| Cell::new(text).set_alignment(CellAlignment::Right);
    table.add_row(figures.into_iter().map(right));
}
