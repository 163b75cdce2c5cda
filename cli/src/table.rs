//! Entries of a board in aligned columns.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::board::Entry;
use crate::printable::printable;

/// Rank, score, user and name, the `marked` user with an arrow before it.
#[must_use]
pub fn table(entries: &[Entry], marked: Option<&str>) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_header(["rank", "score", "user", "name"]);
    for Entry { rank, score, user } in entries {
        let arrow = if marked == Some(user.id.as_str()) {
            "> "
        } else {
            ""
        };
        table.add_row([
            format!("{arrow}{rank}"),
            score.to_string(),
            printable(&user.id),
            user.name.as_deref().map(printable).unwrap_or_default(),
        ]);
    }
    for column in table.column_iter_mut().take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::User;

    fn entry(rank: u64, score: u64, id: &str, name: Option<&str>) -> Entry {
        Entry {
            rank,
            score: score.into(),
            user: User {
                id: id.to_owned(),
                name: name.map(str::to_owned),
            },
        }
    }

    #[test]
    fn columns_stay_aligned_beside_wide_characters() {
        let entries = [
            entry(9, 1200, "艾达|1", Some("艾达·洛夫莱斯")),
            entry(10, 7, "grace", None),
            entry(11, 3, "ada", Some("Ada")),
        ];
        assert_eq!(
            table(&entries, Some("grace")),
            " rank  score  user    name\n\
             \u{20}   9   1200  艾达|1  艾达·洛夫莱斯\n\
             \u{20}> 10      7  grace\n\
             \u{20}  11      3  ada     Ada"
        );
    }

    #[test]
    fn names_cannot_steer_the_terminal_or_break_the_line() {
        let entries = [entry(1, 2, "7", Some("a\u{1b}[31m\nb"))];
        assert_eq!(
            table(&entries, None),
            " rank  score  user  name\n    1      2  7     a�[31m�b"
        );
    }

    #[test]
    fn an_empty_board_is_its_header() {
        assert_eq!(table(&[], None), " rank  score  user  name");
    }
}
