//! The same figures as a picture.

use super::{Question, Row};
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

const SIZE: (u32, u32) = (720, 400);

/// Draws medians by the size of a board that is on one shard.
pub fn draw(rows: &[Row], path: &Path) -> Result<(), Box<dyn Error>> {
    let whole: Vec<&Row> = rows.iter().filter(|row| row.shards == 1).collect();
    let most = whole.iter().flat_map(|row| row.p50).fold(0.0, f64::max);
    let last = whole.last().map_or(1e4, |row| row.members as f64);
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Half of the answers come within", ("sans-serif", 16))
        .margin(12)
        .margin_right(40)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d((1e3..last).log_scale(), 0.0..most * 1.3)?;
    chart
        .configure_mesh()
        .x_desc("members of each board")
        .y_desc("milliseconds")
        .x_label_formatter(&|members| format!("{members:.0}"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (number, question) in Question::ALL.into_iter().enumerate() {
        let colour = Palette99::pick(number).stroke_width(2);
        let points = whole
            .iter()
            .map(|row| (row.members as f64, row.p50[number]));
        chart
            .draw_series(LineSeries::new(points, colour).point_size(3))?
            .label(question.title())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}
