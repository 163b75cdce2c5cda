//! The picture to share: the place of the week as a numeral, and the other places beside it.

use super::svg::{FLAME, colours, description, hue, initials, rect, text, title};
use super::width::{fitting, width};
use super::{Facts, Look};
use crate::text::escaped;
use std::fmt::Write;

/// The size that other sites show with a link (Open Graph).
const WIDTH: usize = 1200;
const HEIGHT: usize = 630;
const MARGIN: usize = 80;
/// The left edge of the name.
const NAME: usize = 224;
/// The left edge of the other places.
const PLACES: usize = 760;
/// The distance of two of them.
const ROW: usize = 74;

const SHAPE: &str = "text{font-family:system-ui,'Segoe UI',sans-serif;font-size:32px}\
    .n{font-size:52px;font-weight:700}.r{font-size:220px;font-weight:800}.q{font-size:40px;font-weight:700}\
    .i{font-size:48px}.c{text-anchor:middle}.e{text-anchor:end}.l{font-weight:600}\
    .k1{fill:#a87900}.k2{fill:#66727f}.k3{fill:#a9602b}";
const LIGHT: &str = ".b{fill:#f3f6f7}.o{fill:#fff}.t{fill:#18212c}.m{fill:#566373}.f{fill:#d9480f}";
const DARK: &str = ".b{fill:#0e1217}.o{fill:#171d24}.t{fill:#e6ebf1}.m{fill:#9daab9}.f{fill:#ff922b}\
    .k1{fill:#ffd75e}.k2{fill:#d5dbe2}.k3{fill:#eab587}";

/// Returns the picture.
pub(super) fn render(facts: &Facts<'_>, look: Look) -> String {
    let (lang, hue) = (look.lang, hue(facts.id));
    let accent = facts.site.text("accent").unwrap_or("#00897b");
    let light = format!("{LIGHT}.d{{fill:hsl({hue},50%,88%)}}");
    let dark = format!("{DARK}.d{{fill:hsl({hue},30%,28%)}}");
    let colours = colours(look.theme, &light, &dark);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" lang=\"{}\">\
         <title>{}</title><desc>{}</desc><style>{SHAPE}{colours}.s{{fill:{accent}}}</style>\
         <rect class=\"b\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/><rect class=\"s\" width=\"{WIDTH}\" height=\"12\"/>\
         <circle class=\"d\" cx=\"140\" cy=\"128\" r=\"60\"/>",
        lang.tag(),
        escaped(&title(facts)),
        escaped(&description(facts, lang)),
    );
    text(&mut svg, "t i c", (140, 145), &initials(facts.name()));
    let has_second_line =
        facts.level.is_some() || facts.streak.is_some() || facts.earned().is_some();
    let name = fitting(facts.name(), (WIDTH - NAME - MARGIN) * 100 / 60);
    let baseline = if has_second_line { 122 } else { 146 };
    text(&mut svg, "t n", (NAME, baseline), &name);
    second_line(&mut svg, facts, look);
    place(&mut svg, facts, look);
    let site = facts.site.name().unwrap_or("activity-rank");
    let site = fitting(site, (WIDTH - 2 * MARGIN) * 100 / 36);
    text(&mut svg, "m l", (MARGIN, 590), &site);
    svg.push_str("</svg>");
    svg
}

/// Draws the level, the streak and the number of achievements.
fn second_line(svg: &mut String, facts: &Facts<'_>, look: Look) {
    let mut x = NAME;
    if let Some(level) = facts.level {
        let name = fitting(&level.name, 1400);
        text(svg, "t l", (x, 176), &name);
        x += width(&name) * 36 / 100 + 32;
    }
    if let Some(streak) = facts.streak.filter(|streak| streak.longest > 0) {
        let class = if streak.current > 0 { "f" } else { "m" };
        let _ = write!(
            svg,
            "<path class=\"{class}\" transform=\"translate({x} 148) scale(2)\" d=\"{FLAME}\"/>"
        );
        let streak = look.lang.streak(streak);
        text(svg, "m", (x + 40, 176), &streak);
        x += width(&streak) * 32 / 100 + 72;
    }
    if let Some(count) = facts.earned() {
        text(svg, "m", (x, 176), &format!("★ {count}"));
    }
}

/// Draws the main place, and a row for each of the others.
fn place(svg: &mut String, facts: &Facts<'_>, look: Look) {
    let lang = look.lang;
    let Some((main, place)) = facts.main_standing() else {
        return;
    };
    let class = match place.rank {
        Some(medal @ 1..=3) => format!("k{medal} r"),
        Some(_) | None => "t r".to_owned(),
    };
    text(svg, &class, (MARGIN - 8, 404), &lang.rank(place.rank));
    let total = match place.rank {
        Some(_) => lang.of(place.total, *main),
        None => lang.top(place),
    };
    text(svg, "m", (MARGIN, 456), &total);
    text(svg, "t q", (MARGIN, 506), &lang.points(place.score));
    let others = facts.places.iter().filter(|(period, _)| period != main);
    let mut y = 240;
    for (period, place) in others {
        let [heading, _] = lang.period(*period);
        rect(svg, "o", (PLACES, y), (WIDTH - PLACES - MARGIN, ROW - 12));
        text(svg, "m", (PLACES + 24, y + 42), heading);
        text(
            svg,
            "t q e",
            (WIDTH - MARGIN - 24, y + 45),
            &lang.rank(place.rank),
        );
        y += ROW;
    }
}
