//! The picture of a card: as `<activity-card>`, with initials instead of the avatar.

use super::lang::Lang;
use super::width::{fitting, width};
use super::{Facts, Look, Theme};
use crate::text::{escaped, first_character};
use std::fmt::Write;

const WIDTH: usize = 484;
const HEIGHT: usize = 188;
/// The space around everything.
const MARGIN: usize = 16;
/// The left edge of the name.
const NAME: usize = 78;
/// The space between two places.
const GAP: usize = 8;

/// Sizes of bold texts: their letters are as wide as those of a larger font.
const BOLD_18: usize = 21;
const BOLD_12: usize = 13;

/// What does not depend on the colours.
const SHAPE: &str = "text{font-family:system-ui,'Segoe UI',sans-serif;font-size:13px}\
    .s{font-size:11px}.n,.r{font-size:18px;font-weight:700}.l{font-weight:600;font-size:12px}.i{font-size:20px}.c{text-anchor:middle}\
    .k{fill:#1b2330}.p1{fill:#ffd75e}.p2{fill:#d5dbe2}.p3{fill:#eab587}";
const LIGHT: &str = ".b{fill:#fff;stroke:#dde3e9}.o{fill:#f6f7f8;stroke:#dde3e9}.t{fill:#1b2330}.m{fill:#5a6676}.a{fill:#00695c}.g{fill:#e6f0ef}.f{fill:#d9480f}";
const DARK: &str = ".b{fill:#181e26;stroke:#2c3541}.o{fill:#20262e;stroke:#2c3541}.t{fill:#e4e9ef}.m{fill:#9aa6b5}.a{fill:#5fd3bf}.g{fill:#1f3035}.f{fill:#ff922b}";

pub(super) const FLAME: &str = "M8.6.6c.5 3.1 4.6 5 4.6 9.2A5.3 5.3 0 0 1 8 15.4 5.3 5.3 0 0 1 2.8 9.8c0-1.9.8-3.5 2.2-4.7 0 1.6.5 2.6 1.5 3.2C6.2 5.3 6.8 2.5 8.6.6z";

/// Returns the rules of the colours of the theme, or of the reader's colour scheme.
pub(super) fn colours(theme: Option<Theme>, light: &str, dark: &str) -> String {
    match theme {
        Some(Theme::Light) => light.to_owned(),
        Some(Theme::Dark) => dark.to_owned(),
        None => format!("{light}@media (prefers-color-scheme:dark){{{dark}}}"),
    }
}

/// Returns the picture.
pub(super) fn render(facts: &Facts<'_>, look: Look) -> String {
    let (lang, name) = (look.lang, facts.name());
    let hue = hue(facts.id);
    let light = format!("{LIGHT}.d{{fill:hsl({hue},50%,88%)}}");
    let dark = format!("{DARK}.d{{fill:hsl({hue},30%,28%)}}");
    let colours = colours(look.theme, &light, &dark);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" lang=\"{}\">\
         <title>{}</title><desc>{}</desc><style>{SHAPE}{colours}</style>\
         <rect class=\"b\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
         <circle class=\"d\" cx=\"40\" cy=\"39\" r=\"24\"/>",
        lang.tag(),
        escaped(&title(facts)),
        escaped(&description(facts, lang)),
        WIDTH - 1,
        HEIGHT - 1,
    );
    text(&mut svg, "t i c", (40, 46), &initials(name));
    let has_second_line =
        facts.level.is_some() || facts.streak.is_some() || facts.earned().is_some();
    let name = fitting(name, (WIDTH - NAME - MARGIN) * 100 / BOLD_18);
    text(
        &mut svg,
        "t n",
        (NAME, if has_second_line { 34 } else { 44 }),
        &name,
    );
    second_line(&mut svg, facts, lang);
    places(&mut svg, facts, lang);
    svg.push_str("</svg>");
    svg
}

/// Returns the name of the member, and of the site if it has one.
pub(super) fn title(facts: &Facts<'_>) -> String {
    match facts.site.name() {
        Some(site) => format!("{} · {site}", facts.name()),
        None => facts.name().to_owned(),
    }
}

/// Returns all that the picture shows, in sentences.
pub(super) fn description(facts: &Facts<'_>, lang: Lang) -> String {
    let level = facts.level.map(|level| level.name.clone());
    let streak = facts.streak.map(|streak| lang.streak(streak));
    let places = facts.places.iter();
    let places = places.map(|(period, place)| lang.place(*period, place));
    let achievements = facts.earned().map(|count| lang.achievements(count));
    let all = level.into_iter().chain(streak).chain(achievements);
    let all: Vec<String> = all.chain(places).collect();
    all.join(". ")
}

/// Returns the hue of the disc, as the elements have it.
pub(super) fn hue(id: &str) -> u32 {
    id.bytes()
        .fold(0, |hue, byte| (hue * 31 + u32::from(byte) * 137) % 360)
}

/// Returns the first characters of the first two words, as the elements have them.
pub(super) fn initials(name: &str) -> String {
    name.split_whitespace()
        .take(2)
        .map(first_character)
        .collect()
}

pub(super) fn text(svg: &mut String, class: &str, (x, y): (usize, usize), text: &str) {
    let text = escaped(text);
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

pub(super) fn rect(
    svg: &mut String,
    class: &str,
    (x, y): (usize, usize),
    (width, height): (usize, usize),
) {
    let radius = height.min(20) / 2;
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
    );
}

/// Draws the level, the streak and the number of achievements.
fn second_line(svg: &mut String, facts: &Facts<'_>, lang: Lang) {
    let streak = facts.streak.filter(|streak| streak.longest > 0);
    let streak = streak.map(|streak| (streak.current > 0, lang.streak(streak)));
    let earned = facts.earned().map(|count| format!("★ {count}"));
    let length = |text: &str| width(text) * 13 / 100;
    let taken = streak.as_ref().map_or(0, |(_, text)| length(text) + 34)
        + earned.as_ref().map_or(0, |text| length(text) + 14);
    let mut x = NAME;
    if let Some(level) = facts.level {
        let name = fitting(
            &level.name,
            (WIDTH - x - MARGIN - 16 - taken) * 100 / BOLD_12,
        );
        let length = width(&name) * BOLD_12 / 100;
        rect(svg, "g", (x, 42), (length + 16, 18));
        text(svg, "a l c", (x + length / 2 + 8, 55), &name);
        x += length + 26;
    }
    if let Some((is_lit, streak)) = streak {
        let class = if is_lit { "f" } else { "m" };
        let _ = write!(
            svg,
            "<path class=\"{class}\" transform=\"translate({x} 43)\" d=\"{FLAME}\"/>"
        );
        text(svg, "t", (x + 20, 56), &streak);
        x += length(&streak) + 34;
    }
    if let Some(earned) = earned {
        text(svg, "t", (x, 56), &earned);
    }
}

/// Draws a box for each period.
fn places(svg: &mut String, facts: &Facts<'_>, lang: Lang) {
    let count = facts.places.len().max(1);
    let length = (WIDTH - 2 * MARGIN - (count - 1) * GAP) / count;
    let mut x = MARGIN;
    for (period, place) in &facts.places {
        let [heading, _] = lang.period(*period);
        let (centre, rank) = (x + length / 2, lang.rank(place.rank));
        rect(svg, "o", (x, 76), (length, 98));
        text(svg, "m s c", (centre, 95), heading);
        let mut class = "t r c";
        if let Some(medal @ 1..=3) = place.rank {
            rect(svg, &format!("p{medal}"), (centre - 21, 101), (42, 22));
            class = "k r c";
        }
        text(svg, class, (centre, 118), &rank);
        text(svg, "t s c", (centre, 140), &lang.points(place.score));
        text(svg, "m s c", (centre, 160), &lang.top(place));
        x += length + GAP;
    }
}
