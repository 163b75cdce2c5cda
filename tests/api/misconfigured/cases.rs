//! Values that variables cannot have.

use test_support::{Value, json};

/// Variable, value (null for none), and what is told of it.
pub fn cases() -> Vec<(&'static str, Value, String)> {
    let required = "is required and not set";
    let periods = "is none of day, week, month, year, all";
    let keys = "number 2 is neither a key nor scopes and a key such as activity+profiles:KEY; \
                scopes are activity, profiles, admin, and no key contains ':'";
    let jwks = "must begin with https://, or http://localhost, and name no user";
    let fields = "points, once, undo, by, daily_cap, cooldown";
    let mut cases: Vec<(&'static str, Value, String)> = [
        ("UPSTASH_REDIS_REST_URL", json!(null), required),
        ("UPSTASH_REDIS_REST_URL", json!("  "), required),
        (
            "UPSTASH_REDIS_REST_URL",
            json!("redis://localhost:6379"),
            "must begin with https:// or http://",
        ),
        ("UPSTASH_REDIS_REST_TOKEN", json!(null), required),
        (
            "TIMEZONE",
            json!("Mars/Olympus"),
            "'Mars/Olympus' is not an IANA time zone such as Europe/Berlin",
        ),
        (
            "TIMEZONE",
            json!("+08:00"),
            "'+08:00' is not an IANA time zone such as Europe/Berlin",
        ),
        (
            "TIMEZONE",
            json!("asia/shanghai"),
            "'asia/shanghai' is not an IANA time zone such as Europe/Berlin",
        ),
        (
            "POINT_DECIMALS",
            json!("3"),
            "must be a whole number, 0 to 2",
        ),
        (
            "POINT_DECIMALS",
            json!(-1),
            "must be a whole number, 0 to 2",
        ),
        (
            "POINT_DECIMALS",
            json!("two"),
            "must be a whole number, 0 to 2",
        ),
        (
            "BOARD_MAX_AGE",
            json!("0"),
            "must be a whole number, 1 to 3600",
        ),
        (
            "BOARD_MAX_AGE",
            json!(1.5),
            "must be a whole number, 1 to 3600",
        ),
        (
            "STORE_TIMEOUT_MS",
            json!("0"),
            "must be a whole number, 1 to 30000",
        ),
        (
            "STORE_TIMEOUT_MS",
            json!(30_001),
            "must be a whole number, 1 to 30000",
        ),
        (
            "PREFIX",
            json!("{ar}"),
            "takes 1 to 64 of A-Z a-z 0-9 _ . : -",
        ),
        (
            "PREFIX",
            json!("a b"),
            "takes 1 to 64 of A-Z a-z 0-9 _ . : -",
        ),
        (
            "PREFIX",
            json!("a".repeat(65)),
            "takes 1 to 64 of A-Z a-z 0-9 _ . : -",
        ),
        ("PREFIX", json!(["ar"]), "must be a text"),
        ("SHARDS", json!("0"), "must be a whole number, 1 to 64"),
        ("SHARDS", json!(65), "must be a whole number, 1 to 64"),
        ("PERIODS", json!("day,hour"), &format!("'hour' {periods}")),
        ("PERIODS", json!(["Day"]), &format!("'Day' {periods}")),
        (
            "PERIODS",
            json!(","),
            "name at least one of day, week, month, year, all",
        ),
        ("PERIODS", json!([1]), "must be a list of texts"),
        ("KEEP_DAYS", json!("31"), "must be a table"),
        (
            "KEEP_DAYS",
            json!({"day": 0}),
            "'day' must be a whole number, 1 to 36500",
        ),
        (
            "KEEP_DAYS",
            json!({"week": "7"}),
            "'week' must be a whole number, 1 to 36500",
        ),
        (
            "KEEP_DAYS",
            json!({"decade": 7}),
            "'decade' is none of day, week, month, year, marks",
        ),
        ("SERVICE_KEYS", json!("one,write:s3cret"), keys),
        ("SERVICE_KEYS", json!("one,admin:"), keys),
        ("SERVICE_KEYS", json!("one,admin:s3cret:more"), keys),
        (
            "SERVICE_KEYS",
            json!("one,admin:one"),
            "number 2 is a key that is there already",
        ),
        ("SERVICE_KEYS", json!([1]), "must be a list of texts"),
        ("SERVICE_KEYS", json!({"a": "b"}), "must be a text"),
        (
            "JWT_SECRET",
            json!("a".repeat(31)),
            "must be at least 32 bytes",
        ),
        ("JWKS_URL", json!("http://id.example.com/keys"), jwks),
        ("JWKS_URL", json!("http://localhost@id.example.com"), jwks),
        ("JWKS_URL", json!("https:///keys"), jwks),
        ("JWKS_URL", json!("keys.json"), jwks),
        ("JWT_ISSUER", json!(["a"]), "must be a text"),
        ("JWT_AUDIENCE", json!(["a"]), "must be a text"),
        ("JWT_GROUPS_CLAIM", json!(["a"]), "must be a text"),
        ("RULES", json!("like"), "must be a table"),
        (
            "RULES",
            json!({"Like": {"points": 1}}),
            "Like is not an action: 1 to 32 of a-z 0-9 _ -",
        ),
        ("RULES", json!({"like": 2}), "like must be a table"),
        (
            "RULES",
            json!({"like": {"point": 2}}),
            &format!("like.point is not a field: {fields}"),
        ),
        (
            "RULES",
            json!({"answer": {}}),
            "answer.points is required for a new action",
        ),
    ]
    .map(|(name, value, told)| (name, value, told.to_owned()))
    .to_vec();
    let of_rules = [
        (
            json!({"points": 0}),
            "points must be above 0 and at most 8388607",
        ),
        (
            json!({"points": -1}),
            "points must be above 0 and at most 8388607",
        ),
        (
            json!({"points": 8_388_608}),
            "points must be above 0 and at most 8388607",
        ),
        (json!({"points": "2"}), "points must be a number"),
        (
            json!({"points": 0.5}),
            "points is finer than POINT_DECIMALS = 0 allows",
        ),
        (
            json!({"daily_cap": 2.5}),
            "daily_cap is finer than POINT_DECIMALS = 0 allows",
        ),
        (
            json!({"daily_cap": 0}),
            "daily_cap must be above 0 and at most 8388607",
        ),
        (
            json!({"cooldown": 0}),
            "cooldown must be whole seconds, 1 to 31536000",
        ),
        (
            json!({"cooldown": 1.5}),
            "cooldown must be whole seconds, 1 to 31536000",
        ),
        (
            json!({"once": "week"}),
            "once must be \"day\" or \"standing\"",
        ),
        (
            json!({"once": "day", "undo": true}),
            "undo: what counts once per day cannot be undone",
        ),
        (json!({"undo": "yes"}), "undo must be true or false"),
        (
            json!({"by": "nobody"}),
            "by must be \"user\" or \"service\"",
        ),
    ];
    cases.extend(
        of_rules.map(|(rule, told)| ("RULES", json!({"like": rule}), format!("like.{told}"))),
    );
    cases
}
