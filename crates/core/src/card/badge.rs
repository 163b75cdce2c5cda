//! The picture of one line: the place of the week.

use super::svg::colours;
use super::width::width;
use super::{Facts, Look};
use crate::text::escaped;

/// The space around each of the two texts.
const MARGIN: usize = 6;

const SHAPE: &str = "text{font:11px Verdana,'DejaVu Sans',sans-serif;fill:#fff;text-anchor:middle}";
const LIGHT: &str = ".a{fill:#4b5563}.b{fill:#00695c}";
const DARK: &str = ".a{fill:#39424e}.b{fill:#0b7568}";

/// Returns the picture. Texts are stretched to their estimated length, so that every font fits.
pub(super) fn render(facts: &Facts<'_>, look: Look) -> String {
    let lang = look.lang;
    let label = facts.site.name().unwrap_or(lang.activity());
    let place = facts.main_standing();
    let message = place.map_or_else(String::new, |(period, place)| lang.place(*period, place));
    let [first, second] = [label, &message].map(|text| width(text) * 11 / 100);
    let (left, right) = (first + 2 * MARGIN, second + 2 * MARGIN);
    let (all, end) = (left + right, left + right / 2);
    let (tag, name) = (lang.tag(), escaped(facts.name()));
    let [label, message] = [label, &message].map(escaped);
    let start = left / 2;
    let colours = colours(look.theme, LIGHT, DARK);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" viewBox=\"0 0 {all} 20\" role=\"img\" lang=\"{tag}\">\
         <title>{label}: {message}</title><desc>{name}</desc><style>{SHAPE}{colours}</style>\
         <clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#r)\"><path class=\"a\" d=\"M0 0h{left}v20H0z\"/><path class=\"b\" d=\"M{left} 0h{right}v20H{left}z\"/></g>\
         <text x=\"{start}\" y=\"14\" textLength=\"{first}\">{label}</text>\
         <text x=\"{end}\" y=\"14\" textLength=\"{second}\">{message}</text></svg>"
    )
}
