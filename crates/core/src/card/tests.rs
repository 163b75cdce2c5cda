use super::*;
use crate::board::{BoardSlice, Row};
use crate::calendar::Utc;
use crate::config::Vars;
use crate::history::ActionTotal;
use crate::score::Score;
use proptest::prelude::*;
use serde_json::json;

const TODAY: &str = "2026-11-20";

fn config(level: &str) -> Config {
    let vars = json!({"UPSTASH_REDIS_REST_URL": "https://x", "UPSTASH_REDIS_REST_TOKEN": "x",
        "LEVELS": {level: 0}});
    let vars = Vars::new(vars.as_object().unwrap().clone());
    Config::parse(&vars, |_| Ok(Box::new(Utc))).unwrap()
}

fn request(format: CardFormat, query: &str, config: &Config) -> CardRequest {
    let today = Date::parse(TODAY).unwrap();
    CardRequest::parse(format, "42", query, config, today).unwrap()
}

/// Returns a card with a name, a rank of every period, and one day with points.
fn card(name: Option<&str>, rank: Option<u64>, points: u64, config: &Config) -> Card {
    let row = |rank| Row {
        rank,
        score: Score(points * config.layout.orders()),
        user: "42".to_owned(),
        profile: None,
        content: None,
    };
    let slice = BoardSlice {
        total: 40,
        rows: rank.map(row).into_iter().collect(),
        ..BoardSlice::default()
    };
    let like = ActionTotal {
        action: "like".to_owned(),
        count: 1,
        steps: 2,
    };
    Card {
        standings: Standings {
            profile: Some(Profile {
                name: name.map(str::to_owned),
                ..Profile::default()
            }),
            slices: vec![Some(slice); config.periods.len()],
            friends: Vec::new(),
        },
        history: Some(History {
            recent: vec![vec![like]],
            ..History::default()
        }),
        achievements: None,
    }
}

/// Returns the texts and the names of the elements of a document; panics if it is not well-formed.
fn parse(xml: &str) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut names, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = xml;
    while let Some((text, after)) = rest.split_once('<') {
        for entity in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;"];
            assert!(
                known.iter().any(|known| entity.starts_with(known)),
                "{text}"
            );
        }
        assert!(text.is_empty() || !open.is_empty(), "{text}");
        texts.push(text.to_owned());
        let (tag, after) = after.split_once('>').expect("the end of a tag");
        let allowed = |c: char| c >= ' ' && !['<', '\u{fffe}', '\u{ffff}'].contains(&c);
        assert!(tag.chars().all(allowed), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split(' ').next().unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        names.push(name.trim_start_matches('/').to_owned());
        rest = after;
    }
    assert_eq!((open.len(), rest), (0, ""));
    (texts, names)
}

/// The elements that pictures consist of: nothing that loads or runs anything.
const ELEMENTS: [&str; 11] = [
    "svg", "title", "desc", "style", "rect", "circle", "text", "path", "g", "clipPath", "",
];

proptest! {
    #[test]
    fn pictures_are_well_formed(
        name in prop::option::of("[\\PC<>&\"'\u{0}-\u{20}\u{600}-\u{6ff}]{0,80}"),
        // Names of levels contain no line or paragraph separators.
        level in "([<>&\"]|[\\PC--[\u{2028}\u{2029}]]){0,38}x",
        rank in prop::option::of(1_u64..1_000_000_000),
        points in 0_u64..8_000_000,
        query in prop::sample::select(vec!["", "theme=dark", "lang=zh-Hans", "theme=light&lang=en"]),
    ) {
        let config = config(&level);
        let card = card(name.as_deref(), rank, points, &config);
        for format in [CardFormat::Card, CardFormat::Badge, CardFormat::Share] {
            let svg = request(format, query, &config).render(&card, &config);
            let (_, names) = parse(&svg);
            for name in names {
                prop_assert!(ELEMENTS.contains(&&*name), "{}", name);
            }
            prop_assert!(!svg.contains("href") && !svg.contains("http://") || svg.matches("http").count() == 1);
        }
    }
}

#[test]
fn markup_in_names_is_text() {
    let name = "<script>alert(\"1\")</script> & co";
    let config = config("<b>Regular</b>");
    let card = card(Some(name), Some(3), 57, &config);
    for format in [CardFormat::Card, CardFormat::Badge, CardFormat::Share] {
        let svg = request(format, "", &config).render(&card, &config);
        assert!(svg.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; co"));
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
    }
}

#[test]
fn badge_shows_the_place_of_the_week() {
    let config = config("Regular");
    let texts = |query: &str, rank, points| {
        let badge = request(CardFormat::Badge, query, &config);
        let svg = badge.render(&card(Some("Ada"), rank, points, &config), &config);
        let (texts, _) = parse(&svg);
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        let mut texts: Vec<String> = texts.collect();
        // The style.
        texts.remove(2);
        texts
    };
    let english = |message: &str| {
        let title = format!("activity: {message}");
        [&*title, "Ada", "activity", message].map(str::to_owned)
    };
    assert_eq!(texts("", Some(3), 57), english("#3 this week · 57 points"));
    assert_eq!(texts("", Some(1), 1), english("#1 this week · 1 point"));
    assert_eq!(texts("", None, 0), english("no points this week"));
    let chinese = [
        "活跃: 本周第 3 名 · 57 分",
        "Ada",
        "活跃",
        "本周第 3 名 · 57 分",
    ];
    assert_eq!(texts("lang=zh-Hans", Some(3), 57), chinese);
}

#[test]
fn card_describes_what_it_shows() {
    let config = config("Regular");
    let svg = request(CardFormat::Card, "", &config)
        .render(&card(Some("Ada Lovelace"), Some(3), 57, &config), &config);
    let (texts, _) = parse(&svg);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert!(texts.contains(&"Ada Lovelace"));
    let description = "Regular. 1-day streak (best: 1). #3 today · 57 points. #3 this week · 57 points. \
        #3 this month · 57 points. #3 this year · 57 points. #3 of all time · 57 points";
    for shown in [
        description,
        "AL",
        "Regular",
        "1-day streak (best: 1)",
        "Day",
        "#3",
        "57 points",
        "Top 8%",
    ] {
        assert!(texts.contains(&shown), "{shown}: {texts:?}");
    }
}

#[test]
fn card_has_the_number_of_achievements() {
    let config = config("Regular");
    let with = |achievements| Card {
        achievements,
        ..card(Some("Ada"), Some(3), 57, &config)
    };
    for (count, lang, star, words) in [
        (1, "lang=en", "★ 1", "1 achievement. "),
        (12, "lang=en", "★ 12", "12 achievements. "),
        (12, "lang=zh-Hans", "★ 12", "12 项成就. "),
    ] {
        for format in [CardFormat::Card, CardFormat::Share] {
            let svg = request(format, lang, &config).render(&with(Some(count)), &config);
            let (texts, _) = parse(&svg);
            assert!(texts.contains(&star.to_owned()), "{texts:?}");
        }
        let svg = request(CardFormat::Card, lang, &config).render(&with(Some(count)), &config);
        assert!(svg.contains(words), "{svg}");
    }
    for none in [None, Some(0)] {
        let svg = request(CardFormat::Card, "", &config).render(&with(none), &config);
        assert!(!svg.contains('★') && !svg.contains("achievement"), "{svg}");
    }
    let json = |count| request(CardFormat::Json, "", &config).render(&with(count), &config);
    assert!(json(Some(0)).ends_with(",\"achievements\":0}"));
    assert!(!json(None).contains("achievements"));
}

#[test]
fn preview_has_the_rank_of_the_week_or_the_best_one() {
    let config = config("Regular");
    let preview = |card: &Card| request(CardFormat::Json, "", &config).preview(card, &config);
    let ranked = card(Some("Ada"), Some(3), 57, &config);
    let expected = Preview {
        name: "Ada".to_owned(),
        description: "#3 this week · 57 points. Regular. 1-day streak (best: 1)".to_owned(),
    };
    assert_eq!(preview(&ranked), expected);

    let mut earlier = card(None, Some(3), 57, &config);
    for index in [0, 1] {
        earlier.standings.slices[index] = Some(BoardSlice::default());
    }
    if let Some(slice) = &mut earlier.standings.slices[3] {
        slice.rows[0].rank = 2;
    }
    earlier.history = None;
    let expected = Preview {
        name: "42".to_owned(),
        description: "#2 this year · 57 points. Regular".to_owned(),
    };
    assert_eq!(preview(&earlier), expected);
}

#[test]
fn preview_without_a_rank_is_empty() {
    let config = config("Regular");
    let absent = card(Some("Ada"), None, 0, &config);
    let preview = request(CardFormat::Json, "", &config).preview(&absent, &config);
    assert_eq!(preview.description, "");
}

#[test]
fn theme_selects_colours() {
    let config = config("Regular");
    let card = card(None, None, 0, &config);
    for format in [CardFormat::Card, CardFormat::Badge, CardFormat::Share] {
        let svg = |query: &str| request(format, query, &config).render(&card, &config);
        let media = "@media (prefers-color-scheme:dark)";
        assert!(svg("").contains(media));
        let (light, dark) = (svg("theme=light"), svg("theme=dark"));
        assert!(!light.contains(media) && !dark.contains(media) && light != dark);
    }
}

#[test]
fn spellings_share_a_normal_form() {
    let config = config("Regular");
    let form = |format, query: &str| request(format, query, &config).normal_form();
    let card = form(CardFormat::Card, "");
    assert_eq!(card, "/v1/users/42/card.svg?lang=en");
    assert_eq!(form(CardFormat::Card, "lang=en"), card);
    let dark = "/v1/users/42/badge.svg?lang=zh-Hans&theme=dark";
    assert_eq!(form(CardFormat::Badge, "lang=zh-Hans&theme=dark"), dark);
    assert_eq!(form(CardFormat::Json, ""), "/v1/users/42/card");
}
