//! Invalid values of configuration variables.

use test_support::{Value, json};

/// A variable, an invalid value (null where the variable is not set) and the expected error.
pub type Case = (&'static str, Value, String);

/// A variable, its invalid values and their error.
const TABLE: &str = r##"
    UPSTASH_REDIS_REST_URL    [null, "  "]                 is required and not set
    UPSTASH_REDIS_REST_URL    ["redis://localhost:6379"]   must begin with https:// or http://
    UPSTASH_REDIS_REST_TOKEN  [null]                       is required and not set
    POINT_DECIMALS            ["5", -1, "two"]             must be an integer from 0 to 4
    ORDER_BITS                ["15", 31, "all"]            must be an integer from 16 to 30
    RULES_LOCKED              ["yes", 1]                   must be true or false
    PUBLIC_STATS              ["yes", 1]                   must be true or false
    MEMBER_ACCOUNTS           ["yes", 1]                   must be true or false
    VISITORS                  ["dance"]                    'dance' is no action that users may send
    VISITORS                  ["like,publish"]             'publish' is no action that users may send
    VISITORS                  [true, "like"]               needs boards of content: set CONTENT_PERIODS
    PLAYGROUND                ["yes", 1]                   must be true or false
    SITE                      [{"title":"A"}]              title is none of name, description, url, logo, accent, links, parts
    SITE                      [{"name":""}, {"name":7}]    name must be 1 to 60 characters
    SITE                      [{"name":"a\nb"}]            name must not contain control characters
    SITE                      [{"url":"http://a.example"}]  url must be a link that begins with https://
    SITE                      [{"logo":"javascript:alert(1)"}]  logo must be a link that begins with https://
    SITE                      [{"accent":"red"}, {"accent":"#12345g"}]  accent must be # and six hexadecimal digits, such as #00695c
    SITE                      [{"links":[]}]               links must be a list of 1 to 8 tables
    SITE                      [{"links":["https://a.example"]}]  links must have text and url each
    SITE                      [{"links":[{"text":"Imprint","url":"http://a.example"}]}]  links have a url that must be a link that begins with https://
    SITE                      [{"parts":["boards"]}]       parts must be a list of events, winners, rules
    SITE                      ["[]"]                       must be a table
    STREAK_FREEZES            ["-1", 32]                   must be an integer from 0 to 31
    SNAPSHOT_MEMBERS          ["0", 100001]                must be an integer from 1 to 100000
    SETTLE_MINUTES            ["-1", 43201]                must be an integer from 0 to 43200
    REFUSED_DAYS              ["-1", 401]                  must be an integer from 0 to 400
    JOURNAL_REFUSED           ["yes", 1]                   must be true or false
    BOARD_MAX_AGE             ["3601", 1.5]                must be an integer from 0 to 3600
    STORE_TIMEOUT_MS          ["0", 30001]                 must be an integer from 1 to 30000
    CRON_BUDGET               ["49", 1001]                 must be an integer from 50 to 1000
    PREFIX                    ["{ar}", "a b"]              takes 1 to 64 of A-Z a-z 0-9 _ . : -
    PREFIX                    [["ar"]]                     must be a text
    SHARDS                    ["0", 65]                    must be an integer from 1 to 64
    PERIODS                   ["day,hour"]                 'hour' is none of day, week, month, year, all
    PERIODS                   [["Day"]]                    'Day' is none of day, week, month, year, all
    PERIODS                   [","]                        name at least one of day, week, month, year, all
    PERIODS                   [[1]]                        must be a list of texts
    KEEP_DAYS                 ["31"]                       must be a table
    KEEP_DAYS                 [{"day":0}]                  'day' must be an integer from 1 to 36500
    KEEP_DAYS                 [{"week":"7"}]               'week' must be an integer from 1 to 36500
    KEEP_DAYS                 [{"decade":7}]               'decade' is none of day, week, month, year, marks, event
    SERVICE_KEYS              ["one,admin:one"]            number 2 is a key that is there already
    SERVICE_KEYS              [[1]]                        must be a list of texts
    SERVICE_KEYS              [{"a":"b"}]                  must be a text
    JWT_ISSUER                [["a"]]                      must be a text
    JWT_AUDIENCE              [["a"]]                      must be a text
    JWT_GROUPS_CLAIM          [["a"]]                      must be a text
    JWT_REQUIRED              ["a", "[]"]                  must be a table
    JWT_REQUIRED              [{"scope":["a"]}]            'scope' must be a text, an integer, true or false
    JWT_USER                  ["a", "[]"]                  must be a table
    JWT_USER                  [{"hmac":true}]              'hmac' is none of claim, lower_case, replace, hash, prefix
    JWT_USER                  [{"claim":""}]               'claim' must be the name of a claim
    JWT_USER                  [{"prefix":"a b"}]           'prefix' must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'
    JWT_USER                  [{"lower_case":"yes"}]       'lower_case' must be true or false
    JWT_USER                  [{"replace":[["",""]]}]      'replace' must be a list of up to 10 pairs such as ["@a.example", ""]
    LEVELS                    ["Regular"]                  must be a table
    LEVELS                    [{}]                         must have 1 to 20 levels
    LEVELS                    [{"Regular":-1}, {"Regular":"1"}]  'Regular' must be points from 0 to 8388607
    LEVELS                    [{"":1}]                     the name '' must be 1 to 40 characters
    LEVELS                    [{"Regular":0.5}]            'Regular' is finer than POINT_DECIMALS = 0 allows
    LEVELS                    [{"A":1,"B":1}]              'A' and 'B' have the same points
    ACHIEVEMENTS              ["star"]                     must be a table
    ACHIEVEMENTS              [{}]                         must have 1 to 50 achievements
    ACHIEVEMENTS              [{"A":{}}]                   'A' is not an id: 1 to 32 of a-z 0-9 _ -
    ACHIEVEMENTS              [{"a":1}]                    a must be a table
    ACHIEVEMENTS              [{"a":{"name":"A"}}, {"a":{"name":"A","points":true,"count":"like"}}]  a must have one of count, points, received, streak, level, member_since, place, events
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"x":1}}]  a.x is not a field: name, description, icon, steps, from, until, groups, revoke, within, count, points, received, streak, level, member_since, place, events
    ACHIEVEMENTS              [{"a":{"name":"A","count":"nod"}}]  a.count must be an action of RULES
    ACHIEVEMENTS              [{"a":{"name":"A","received":1}}]  a.received must be true
    ACHIEVEMENTS              [{"a":{"name":"A","streak":"months"}}]  a.streak must be days or weeks, or of member_since days or years
    ACHIEVEMENTS              [{"a":{"name":"A","member_since":"weeks"}}]  a.member_since must be days or weeks, or of member_since days or years
    ACHIEVEMENTS              [{"a":{"name":"A","level":3}}]  a.level must be the name or the number of a level of LEVELS that takes points
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"steps":[2,1]}}]  a.steps must be 1 to 20 ascending integers from 1 to 8388607
    ACHIEVEMENTS              [{"a":{"name":"A","streak":"days","steps":[1001]}}]  a.steps must be 1 to 20 ascending integers from 1 to 1000
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"from":"soon"}}]  a.from must be a day such as 2026-11-20, or an RFC 3339 date and time
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"from":"2026-01-02","until":"2026-01-01"}}]  a.until must be later than from
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"groups":[]}}]  a.groups must be a list of groups
    ACHIEVEMENTS              [{"a":{"name":"A","received":true,"groups":["eu"]}}]  a.groups: received points belong to no group
    ACHIEVEMENTS              [{"a":{"name":"A","place":"all"}}]  a.place must be a period of PERIODS that ends, such as week
    ACHIEVEMENTS              [{"a":{"name":"A","events":true,"within":101}}]  a.within must be an integer from 1 to 100
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"within":3}}]  a.within is only for place and events
    ACHIEVEMENTS              [{"a":{"name":"A","events":true,"groups":["eu"]}}]  a.groups: places are those on boards of all members
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"revoke":"yes"}}]  a.revoke must be true or false
    ACHIEVEMENTS              [{"a":{"name":"A","streak":"days","revoke":true}}]  a.revoke is only for count, points, received and level
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"icon":"http://a.example"}}]  a.icon must be one of star, comment, heart, flame, trophy, calendar, shield, rocket, or a link that begins with https://
    ACHIEVEMENTS              [{"a":{"points":true,"name":""}}, {"a":{"points":true,"name":{"en":7}}}]  a.name must be 1 to 60 characters
    ACHIEVEMENTS              [{"a":{"points":true,"name":{}}}]  a.name must have a text
    ACHIEVEMENTS              [{"a":{"points":true,"name":{"e":"A"}}}]  a.name: 'e' must be the tag of a language, such as en or zh-Hans
    ACHIEVEMENTS              [{"a":{"name":"A","points":true,"description":7}}]  a.description must be 1 to 200 characters
    FAIR_PLAY                 ["on"]                       must be a table
    FAIR_PLAY                 [{"gifts":5}]                'gifts' is none of min_gifts, min_lift, ring_share, few_givers, few_share, farm_accounts, farm_share, burst_gifts, burst_seconds, growth
    FAIR_PLAY                 [{"burst_gifts":2}, {"burst_gifts":"10"}, {"burst_gifts":1001}]  'burst_gifts' must be an integer from 3 to 1000
    FAIR_PLAY                 [{}]                         needs points that others receive: set CONTENT_PERIODS, or remove this variable
    BADGE_KEY                 ["secret", [1], {"kty":"OKP","crv":"Ed25519","x":"AA"}]  must be a private key as a JWK, or a list of keys whose first one is: RSA of 2048 bits or more, P-256 or Ed25519
    WEBHOOKS                  ["https://a.example", {"url":"https://a.example"}]  must be a list
    WEBHOOKS                  [[], "[]"]                   must have 1 to 10 endpoints
    WEBHOOKS                  [["https://a.example"]]      number 1 must be a table with url, secret and kinds
    WEBHOOKS                  [[{"URL":"https://a.example"}]]  number 1 has an unknown field; expected url, secret, kinds
    WEBHOOKS                  [[{"url":"http://a.example"}], [{"url":"https://u@a.example"}], [{}]]  number 1 must have a url that begins with https://, or http://localhost, and names no user
    WEBHOOKS                  [[{"url":"https://a.example","secret":"whsec_c2hvcnQ="}], [{"url":"https://a.example"}]]  number 1 must have a secret: whsec_ and the base64 of 24 to 64 bytes, from: echo whsec_$(openssl rand -base64 32)
    WEBHOOKS                  [[{"url":"https://hooks.slack.com/a","kinds":["like"]}]]  number 1 must have kinds among period.closed, event.final, level.reached, achievement.earned, member.joined, moderation.*, case.opened, case.decided, journal.lagging
    RULES                     ["like"]                     must be a table
    RULES                     [{"Like":{"points":1}}]      Like is not an action: 1 to 32 of a-z 0-9 _ -
    RULES                     [{"like":2}]                 like must be a table
    RULES                     [{"like":{"point":2}}]       like.point is not a field: points, once, undo, by, daily_cap, member_cap, pair_cap, cooldown, own, on, received, from
    RULES                     [{"answer":{}}]              answer.points is required for a new action
    RULES                     [{"like":{"from":"2026-11-20"}}]  like.from: only a list has rules with dates
    RULES                     [{"like":[]}]                like must be a table or a list of tables
    RULES                     [{"like":[2]}]               like number 1 must be a table
    RULES                     [{"answer":[{}]}]            answer number 1.points is required for a new action
    RULES                     [{"like":[{"from":"2026-11-20"}]}]  like number 1.from: the first rule applies to all time before
    RULES                     [{"like":[{},{"points":0.5}]}]  like number 2.points is finer than POINT_DECIMALS = 0 allows
    RULES                     [{"like":[{},{}]}, {"like":[{},{"from":7}]}, {"like":[{},{"from":"2026-02-30"}]}, {"like":[{},{"from":"2026-11-20T08:00:00"}]}]  like number 2.from must be a day such as 2026-11-20, or an RFC 3339 date and time
    RULES                     [{"like":[{},{"from":"2026-11-20"},{"from":"2026-11-20"}]}, {"like":[{},{"from":"2026-11-20"},{"from":"2026-11-20T01:00:00+01:00"}]}]  like number 3.from must be later than that of the rule before
    RULES                     [{"like":[{},{"from":"2026-11-20","undo":false}]}, {"like":[{},{"from":"2026-11-20","by":"service"}]}, {"like":[{},{"from":"2026-11-20","once":"day"}]}]  like number 2: once, undo and by must be the same in all rules of an action
"##;

/// Parses the rows of [`TABLE`].
fn table() -> impl Iterator<Item = (&'static str, Vec<Value>, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.is_empty());
    lines.map(|line| {
        let (name, rest) = line.trim().split_once(' ').expect("a variable");
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        let list = values.next().expect("a list").expect("JSON");
        (name, list, rest[values.byte_offset()..].trim())
    })
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &'static str, detail: &str, values: &[Value]| {
        let case = |value: &Value| (name, value.clone(), detail.to_owned());
        cases.extend(values.iter().map(case));
    };
    for (name, values, detail) in table() {
        add(name, detail, &values);
    }
    for zone in ["Mars/Olympus", "+08:00", "asia/shanghai"] {
        let detail = format!("'{zone}' is not an IANA time zone such as Europe/Berlin");
        add("TIMEZONE", &detail, &[json!(zone)]);
    }
    let detail = "takes 1 to 64 of A-Z a-z 0-9 _ . : -";
    add("PREFIX", detail, &[json!("a".repeat(65))]);
    let detail = "number 2 is neither a key nor scopes and a key such as activity+profiles:KEY \
        or anna@admin:KEY; scopes are activity, profiles, content, admin, metrics, a name before '@' has 1 to 32 of a to z, \
        0 to 9 and '-', and no key contains ':'";
    let keys = [
        "write:s3cret",
        "admin:",
        "admin:s3cret:more",
        "Anna@admin:s3cret",
        "anna@:s3cret",
    ];
    let keys = keys.map(|key| json!(format!("one,{key}")));
    add("SERVICE_KEYS", detail, &keys);
    let site = json!({"description": "d".repeat(201)});
    let detail = "description must be 1 to 200 characters";
    add("SITE", detail, &[site]);
    let named = |number: i32, value: Value| (number.to_string(), value);
    let levels = (0..21).map(|number| named(number, json!(number)));
    add("LEVELS", "must have 1 to 20 levels", &[levels.collect()]);
    let star = json!({"name": "A", "points": true});
    let stars = (0..51).map(|number| named(number, star.clone()));
    add(
        "ACHIEVEMENTS",
        "must have 1 to 50 achievements",
        &[stars.collect()],
    );
    let short = json!("a".repeat(31));
    add("JWT_SECRET", "must be at least 32 bytes", &[short]);
    let detail = "must begin with https://, or http://localhost, and name no user";
    let urls = "http://id.example.com/keys http://localhost@id.example.com https:///keys keys.json";
    let urls: Vec<Value> = urls.split(' ').map(|url| json!(url)).collect();
    add("JWKS_URL", detail, &urls);
    let range = "must be above 0 and at most 8388607";
    let precision = "is finer than POINT_DECIMALS = 0 allows";
    let cooldown = "must be whole seconds, 1 to 31536000";
    for (field, value, detail) in [
        ("points", json!(0), range),
        ("points", json!(-1), range),
        ("points", json!(8_388_608), range),
        ("points", json!("2"), "must be a number"),
        ("points", json!(0.5), precision),
        ("daily_cap", json!(2.5), precision),
        ("daily_cap", json!(0), range),
        ("on", json!("comment"), "must be true or false"),
        ("cooldown", json!(0), cooldown),
        ("cooldown", json!(1.5), cooldown),
        ("once", json!("week"), "must be \"day\" or \"standing\""),
        ("undo", json!("yes"), "must be true or false"),
        ("by", json!("admin"), "must be \"user\" or \"service\""),
    ] {
        let rules = json!({"like": {field: value}});
        add("RULES", &format!("like.{field} {detail}"), &[rules]);
    }
    let detail = "like.undo: what counts once per day cannot be undone";
    let rules = json!({"like": {"once": "day", "undo": true}});
    add("RULES", detail, &[rules]);
    cases
}
