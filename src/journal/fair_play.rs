//! The gifts between members by day, and the cases that a search finds: the tables `gifts`, `gifts_read` and `cases` beside
//! the journal.
//!
//! Each transaction adds the rows of the journal after the last one that is in the gifts, as `sums.rs` does. The author who
//! received is looked up by number and authorship of the target's registration. With several shards the entry of a
//! registration may be drained after that of an activity, so the newest entries wait.
//!
//! The database aggregates gifts and returns the pairs that may be in a finding;
//! [`fair_play`](activity_rank_core::fair_play) decides. Accounts count as the members that they are accounts of at the time
//! of the search.

use super::accounts::{TARGET, UNTIL};
use crate::archive::deployment_id;
use crate::platform::budget::Cost;
use crate::platform::d1::{Columns, Database, FromRow, Rows, Statement};
use crate::webhooks;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::{CASE_DECIDED, CASE_OPENED, Config, FairPlay};
use activity_rank_core::error::Error;
use activity_rank_core::fair_play::{
    CaseDecision, CasesRequest, Change, DayGifts, DismissedFacts, FARM_GIFTS, KEPT_DAYS, KnownCase,
    KnownState, Member, NEW_SHARE, NewCase, Pair, RING_GIFTS, WINDOWS, Window, changes, detect,
    find_by_hand,
};
use serde_json::Value;

/// The cost of [`is_searched`].
pub const READ_COST: Cost = Cost::new(1, 1);

/// The cost of [`add`].
pub const ADD_COST: Cost = Cost::new(1, 2);

/// The cost of [`search`].
pub const SEARCH_COST: Cost = Cost::new(2, 10);

/// The most rows of the journal that one transaction adds.
const ROWS: u32 = 20_000;

/// The most pairs that a search reads of a window, by the kind of finding: members who give to each
/// other or in a circle, groups who give each other little, members beside these, accounts of farms, few givers, and bursts.
const QUOTAS: &str = "CASE kind WHEN 'ring' THEN 200 WHEN 'group' THEN 500 WHEN 'circle' THEN 60 WHEN 'beside' THEN 40 WHEN 'farm' THEN 150 \
    WHEN 'few-givers' THEN 60 ELSE 100 END";

/// The most pairs of a case that a moderator opens.
const MAX_PAIRS: u32 = 200;

/// The rows of the journal before the next ones that may be in a burst with them.
const BURST_ROWS: u32 = 1000;

/// The most cases that are kept.
const MAX_CASES: u32 = 1000;

/// The most steps of a search that a moderator starts: 40 queries with the search, of the 50 that the free plan allows.
const STEPS: usize = 15;

/// With several shards, entries wait so many milliseconds: registrations on other shards are drained by then.
const SHARD_DELAY: i64 = 5 * 60_000;

/// Days after which a case that no search finds is deleted.
const CASE_DAYS: i64 = 400;

const DAY_MS: i64 = 86_400_000;

/// The next rows of the journal: `next`. `?2` is their number, `?3` the instant from which entries wait. `+` keeps the
/// database from an index that is not in their order.
const NEXT: &str = "raw AS MATERIALIZED (SELECT n, user, entry FROM journal WHERE +site = ?1 \
    AND n > IFNULL((SELECT n FROM gifts_read WHERE site = ?1), 0) ORDER BY n LIMIT ?2), \
    next AS (SELECT * FROM raw WHERE n < IFNULL((SELECT MIN(n) FROM raw WHERE entry ->> 'now' + 0 >= ?3), 9e15))";

/// The gifts of the rows of `activity`: a row for each, with the receiver as registered. `received` is such as
/// `2wa;17;1;post-8`: points and periods, number and authorship of the registration, and the target if it is not that of the
/// activity. Without a number the target is a user.
const GIFT: &str = "part AS (SELECT *, substr(received, instr(received, ';') + 1) AS rest FROM activity \
    WHERE received <> ''), \
    parts AS (SELECT *, substr(rest, 1, instr(rest, ';') - 1) AS number, substr(rest, instr(rest, ';') + 1) || ';' AS last \
    FROM part), \
    named AS (SELECT *, substr(last, 1, instr(last, ';') - 1) AS authorship, \
    rtrim(substr(last, instr(last, ';') + 1), ';') AS other FROM parts), \
    gift AS MATERIALIZED (SELECT *, CAST(received AS INTEGER) AS steps, iif(number = '', iif(other = '', target, other), \
    (SELECT user FROM journal AS registered WHERE registered.site = ?1 AND registered.entry ->> 'did' = 'target' \
    AND registered.entry ->> 'target' = iif(other <> '', other, iif(target GLOB '#*', '#', '') || target) \
    AND registered.entry ->> 'number' = named.number AND registered.entry ->> 'authorship' = named.authorship \
    AND registered.user <> '' ORDER BY registered.n DESC LIMIT 1)) AS receiver FROM named)";

/// The members of accounts.
const LINK: &str = "link AS MATERIALIZED (SELECT user, member FROM (SELECT user, entry ->> 'of' AS member, MAX(n) \
    FROM journal WHERE site = ?1 AND user > '' AND entry ->> 'did' IN ('account', 'accounts') GROUP BY user) \
    WHERE member <> '')";

/// The gifts of pairs after the day `?2`, and what each member gave and received.
const PAIRS: &str = "pair AS MATERIALIZED (SELECT * FROM (SELECT IFNULL(givers.member, giver) AS giver, \
    IFNULL(receivers.member, receiver) AS receiver, SUM(gifts) AS gifts, MAX(0, SUM(points)) AS points, \
    COUNT(DISTINCT day) AS days, MIN(day) AS first, MAX(day) AS last, MAX(MIN(burst, gifts)) AS burst FROM gifts \
    LEFT JOIN link AS givers ON givers.user = giver LEFT JOIN link AS receivers ON receivers.user = receiver \
    WHERE site = ?1 AND day > ?2 GROUP BY 1, 2) WHERE gifts > 0 AND giver <> receiver), \
    given AS MATERIALIZED (SELECT giver AS user, SUM(iif(receiver <> '', gifts, 0)) AS gifts, \
    SUM(iif(receiver = '', gifts, 0)) AS activities FROM pair GROUP BY giver), \
    received AS MATERIALIZED (SELECT receiver AS user, SUM(gifts) AS gifts FROM pair WHERE receiver <> '' GROUP BY receiver)";

/// The day of the first counted activity of the giver. The index `journal_by_time` has the same expression.
const FIRST: &str = "(SELECT CAST(entry ->> 'at' AS INTEGER) / 86400000 FROM journal WHERE site = ?1 AND user <> '' \
    AND user = candidate.giver AND entry ->> 'did' = 'count' ORDER BY CAST(COALESCE(entry ->> 'at', \
    CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, entry ->> 'now') AS INTEGER) LIMIT 1)";

/// The pairs in bursts, from the journal: without activity that was taken back, and without the accounts of a member. `alone` is
/// the most gifts of the pair within `?6` milliseconds, and `joint` its gifts in the largest burst of the receiver, of all
/// givers. Days with such a burst have a row in `gifts`, and a burst is at least half of the gifts of its day: the
/// readers of a popular author come at the same time too. An instant at midnight may be a date without a time.
const BURSTS: &str = "dates AS (SELECT ?2 + 1 AS day UNION ALL SELECT day + 1 FROM dates WHERE day < ?11), \
    flag AS MATERIALIZED (SELECT gifts.day, receiver, burst FROM dates CROSS JOIN gifts WHERE site = ?1 \
    AND gifts.day = dates.day AND giver = '' AND burst >= ?5 ORDER BY burst DESC LIMIT 100), \
    flagged AS MATERIALIZED (SELECT *, (SELECT SUM(gifts) FROM gifts INDEXED BY gifts_by_receiver WHERE site = ?1 \
    AND receiver <> '' AND receiver = flag.receiver AND day = flag.day) AS received FROM flag), \
    giving AS MATERIALIZED (SELECT flagged.day, flagged.receiver, giver FROM flagged CROSS JOIN gifts INDEXED BY gifts_by_receiver \
    WHERE site = ?1 AND gifts.receiver <> '' AND gifts.receiver = flagged.receiver AND gifts.day = flagged.day AND giver <> '' \
    AND gifts > 0 AND (MIN(gifts, gifts.burst) >= ?5 OR flagged.burst * 2 >= flagged.received)), \
    activity AS MATERIALIZED (SELECT listed.user AS giver, CAST(entry ->> 'at' AS INTEGER) AS at, {target} AS target, \
    IFNULL(entry ->> 'received', '') AS received, giving.receiver AS wanted FROM giving CROSS JOIN journal AS listed \
    WHERE listed.site = ?1 AND listed.user <> '' AND listed.user = giving.giver \
    AND CAST(COALESCE(entry ->> 'at', CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, \
    entry ->> 'now') AS INTEGER) BETWEEN (giving.day - 1) * 86400000 AND (giving.day + 2) * 86400000 \
    AND entry ->> 'did' = 'count' AND entry ->> 'date' = date(giving.day * 86400, 'unixepoch') \
    AND entry ->> 'kinds' IS NOT '' AND NOT EXISTS (SELECT 1 FROM journal AS later WHERE later.site = ?1 AND later.user <> '' \
    AND later.user = listed.user AND later.entry ->> 'did' = 'undo' AND later.entry ->> 'mark' = listed.entry ->> 'mark' \
    AND later.entry ->> 'applied' <> '' AND later.n > listed.n)), {gift}, \
    timed AS MATERIALIZED (SELECT IFNULL(givers.member, giver) AS giver, IFNULL(receivers.member, receiver) AS receiver, at FROM gift \
    LEFT JOIN link AS givers ON givers.user = giver LEFT JOIN link AS receivers ON receivers.user = receiver \
    WHERE receiver = wanted AND at % 86400000 <> 0), \
    near AS MATERIALIZED (SELECT *, COUNT(*) OVER (PARTITION BY receiver ORDER BY at RANGE BETWEEN ?6 PRECEDING AND CURRENT ROW) AS among, \
    COUNT(*) OVER (PARTITION BY giver, receiver ORDER BY at RANGE BETWEEN ?6 PRECEDING AND CURRENT ROW) AS alone \
    FROM timed WHERE giver <> receiver), \
    largest AS MATERIALIZED (SELECT receiver, at, MAX(among) AS among FROM near GROUP BY receiver), \
    bursts AS MATERIALIZED (SELECT * FROM (SELECT giver, near.receiver, MAX(alone) AS alone, largest.among AS among, \
    COUNT(*) FILTER (WHERE near.at BETWEEN largest.at - ?6 AND largest.at) AS joint \
    FROM near JOIN largest ON largest.receiver = near.receiver GROUP BY giver, near.receiver) \
    WHERE alone >= ?5 OR among >= ?5 AND joint > 0)";

/// The pairs that may be in a finding: `listed` with what both members gave and received, `edge` with enough gifts.
///
/// SQLite copies a table of `WITH` for each reference and parses what it refers to again, so each table has few.
const EDGES: &str = "total AS MATERIALIZED (SELECT SUM(gifts) AS gifts FROM received), \
    listed AS MATERIALIZED (SELECT pair.*, given.gifts AS given, IFNULL(taken.gifts, 0) AS taken, given.activities AS activities, \
    IFNULL(back.gifts, 0) AS back, received.gifts AS received, IFNULL(back.activities, 0) AS others, total.gifts AS total, \
    pair.gifts * total.gifts * 1.0 / (given.gifts * received.gifts) AS lift, alone, IFNULL(among, 0) AS among, IFNULL(joint, 0) AS joint \
    FROM pair CROSS JOIN total JOIN given ON given.user = pair.giver JOIN received ON received.user = pair.receiver \
    LEFT JOIN received AS taken ON taken.user = pair.giver LEFT JOIN given AS back ON back.user = pair.receiver \
    LEFT JOIN bursts ON bursts.giver = pair.giver AND bursts.receiver = pair.receiver \
    WHERE pair.gifts >= ?13 AND pair.gifts * total.gifts >= ?4 * given.gifts * received.gifts OR joint IS NOT NULL), \
    edge AS MATERIALIZED (SELECT * FROM listed WHERE gifts >= ?3 AND lift >= ?4), \
    mutual AS MATERIALIZED (SELECT one.* FROM listed AS one JOIN listed AS other ON other.giver = one.receiver \
    AND other.receiver = one.giver WHERE one.lift >= ?4 AND other.lift >= ?4)";

/// The members of `{edges}` who may be in a ring: they give and receive, and at least half of `ring_share`.
const ENDS: &str = "(SELECT user, SUM(gifts) AS exchanged, SUM(gifts) * 1.0 / MAX(whole) AS share FROM (SELECT gifts, gives, iif(gives, giver, receiver) AS user, \
    iif(gives, given + taken, back + received) AS whole FROM {edges} CROSS JOIN (SELECT 0 AS gives UNION ALL SELECT 1)) GROUP BY user \
    HAVING MAX(gives) > MIN(gives) AND SUM(gifts) * 200 >= ?7 * MAX(whole))";

/// The pairs to read of each kind in their order, so that no kind keeps another one out: fans of popular authors are many.
/// `placed` has the conditions of the search for farms and few givers.
const PLACES: &str = "first_end AS MATERIALIZED {first}, \
    inner_edge AS MATERIALIZED (SELECT edge.* FROM edge JOIN first_end AS giving ON giving.user = giver \
    JOIN first_end AS receiving ON receiving.user = receiver), last_end AS MATERIALIZED {last}, \
    side AS (SELECT edge.*, giving.share AS giving, receiving.share AS receiving, iif(giving.user IS NULL, giver, receiver) AS user, \
    iif(giving.user IS NULL, given + taken, back + received) AS whole FROM edge \
    LEFT JOIN last_end AS giving ON giving.user = giver LEFT JOIN last_end AS receiving ON receiving.user = receiver \
    WHERE giving.user IS NOT NULL OR receiving.user IS NOT NULL), \
    near_ring AS (SELECT giver, receiver, gifts, MIN(giving, receiving) AS share, iif(giving + receiving > 0, \
    iif(COUNT(*) OVER (PARTITION BY MIN(giver, receiver), MAX(giver, receiver)) > 1, 'ring', 'circle'), \
    iif(COUNT(*) OVER beside > 1 AND SUM(gifts) OVER beside * 100 >= ?7 * whole, 'beside', '')) AS kind FROM side \
    WINDOW beside AS (PARTITION BY giving + receiving IS NULL, user)), \
    group_end AS MATERIALIZED {group}, \
    farm AS (SELECT *, COUNT(*) OVER farm AS accounts, SUM(gifts) OVER farm AS sum FROM listed WHERE lift >= 2 * ?4 \
    AND gifts >= ?13 AND gifts * 100 >= ?12 * iif(gifts < ?3, activities, given) WINDOW farm AS (PARTITION BY receiver)), \
    few AS (SELECT *, SUM(gifts) OVER (PARTITION BY receiver) AS sum FROM \
    (SELECT *, ROW_NUMBER() OVER (PARTITION BY receiver ORDER BY gifts DESC) AS place FROM edge) WHERE place <= ?8), \
    placed AS MATERIALIZED (SELECT giver, receiver, kind, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY share DESC, gifts DESC) AS place \
    FROM near_ring WHERE kind <> '' \
    UNION ALL SELECT giver, receiver, 'group', ROW_NUMBER() OVER (ORDER BY MIN(giving.share, receiving.share) DESC, gifts DESC) \
    FROM mutual JOIN group_end AS giving ON giving.user = giver JOIN group_end AS receiving ON receiving.user = receiver \
    WHERE MIN(giving.exchanged, receiving.exchanged) >= ?14 * ?3 \
    UNION ALL SELECT giver, receiver, 'farm', ROW_NUMBER() OVER (ORDER BY accounts, receiver, gifts DESC) FROM farm \
    WHERE accounts >= ?10 AND sum >= ?10 * ?3 AND sum * 2 >= received \
    UNION ALL SELECT giver, receiver, 'few-givers', ROW_NUMBER() OVER (ORDER BY sum DESC, receiver, gifts DESC) FROM few \
    WHERE received >= 4 * ?3 AND sum * 100 >= ?9 * received \
    UNION ALL SELECT giver, receiver, 'burst', ROW_NUMBER() OVER (ORDER BY MAX(IFNULL(alone, 0), among) DESC, receiver, joint DESC) \
    FROM listed WHERE alone IS NOT NULL), \
    quoted AS (SELECT *, {quotas} AS quota FROM placed), \
    chosen AS MATERIALIZED (SELECT giver AS first_giver, receiver AS first_receiver, MAX(cut) AS cut FROM (SELECT *, \
    group_concat(iif(place = quota + 1, kind, NULL)) OVER () AS cut FROM quoted) WHERE place <= quota GROUP BY giver, receiver), \
    candidate AS MATERIALIZED (SELECT listed.*, IFNULL(cut, '') AS cut FROM chosen JOIN listed ON giver = first_giver AND receiver = first_receiver)";

/// Numbers of fairness. The Gini coefficient is that of the points of members by their own activity.
const FAIRNESS: &str = "own AS (SELECT points, ROW_NUMBER() OVER (ORDER BY points) AS place FROM pair WHERE receiver = ''), \
    gift AS (SELECT * FROM pair WHERE receiver <> ''), \
    top AS (SELECT SUM(points) AS points FROM gift GROUP BY giver ORDER BY 1 DESC LIMIT 10) \
    SELECT json_object('days', CAST(?3 AS INTEGER), 'gifts', (SELECT IFNULL(SUM(gifts), 0) FROM gift), \
    'top_givers_share', round((SELECT SUM(points) FROM top) * 1.0 / (SELECT SUM(points) FROM gift), 3), \
    'gini', (SELECT round(2.0 * SUM(place * points) / (COUNT(*) * SUM(points)) - (COUNT(*) + 1.0) / COUNT(*), 3) FROM own), \
    'mutual_share', round((SELECT IFNULL(SUM(MIN(gift.points, back.points)), 0) FROM gift JOIN gift AS back \
    ON back.giver = gift.receiver AND back.receiver = gift.giver) * 1.0 / (SELECT SUM(points) FROM gift), 3)) AS text";

/// An instant as responses have it.
macro_rules! instant {
    ($column:literal) => {
        concat!(
            "strftime('%Y-%m-%dT%H:%M:%SZ', ",
            $column,
            " / 1000, 'unixepoch')"
        )
    };
}

/// A case as lists have it, see [`view`].
const VIEW: &str = concat!(
    "json_object('id', id, 'kind', kind, 'state', state, 'score', score, 'gifts', gifts, 'days', facts ->> 'days', \
    'share', facts ->> 'share', 'members', json(members), 'found', ",
    instant!("found"),
    ", 'updated', ",
    instant!("updated"),
    ", 'decision', iif(decided IS NULL, NULL, json_object('reason', reason, 'actor', \
    iif(actor = '', NULL, json_object('key', actor)), 'at', ",
    instant!("decided"),
    ", 'public_reason', json(iif(public, 'true', 'false')), 'from', iif(state = 'excluded', ",
    instant!("since"),
    ", NULL), 'until', iif(state = 'excluded', ",
    instant!("until"),
    ", NULL), 'past', IFNULL((SELECT iif(MAX(n) > IFNULL({until}, 0) OR state = 'excluded' AND MAX(CAST(entry ->> 'now' AS INTEGER)) < decided, 'pending', 'counted') \
    FROM journal WHERE site = ?1 AND entry ->> 'did' = 'exclude' AND entry ->> 'case' = cases.id || '' HAVING COUNT(*) > 0), \
    iif(state = 'excluded', 'pending', NULL)))))"
);

/// Returns the expression of a case as lists have it.
fn view() -> String {
    VIEW.replace("{until}", UNTIL)
}

/// Returns the number of the day of UTC, in days since 1970-01-01.
fn day_of(now: Instant) -> i64 {
    now.0.div_euclid(DAY_MS)
}

/// Returns whether the search of the day is over.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn is_searched(journal: &Database, config: &Config, now: Instant) -> Result<bool, Error> {
    let sql = "SELECT day FROM gifts_read WHERE site = ?1";
    let days: Vec<i64> = journal
        .query(Statement::new(sql, vec![deployment_id(config).into()]))
        .await?;
    Ok(days.first() == Some(&day_of(now)))
}

/// Returns the longest time of a burst in milliseconds.
fn burst_length(thresholds: &FairPlay) -> i64 {
    i64::from(thresholds.burst_seconds) * 1000
}

/// Returns the statements that add the next rows of the journal.
fn additions(config: &Config, thresholds: &FairPlay, now: Instant) -> [Statement; 2] {
    let delay = if config.shards > 1 {
        SHARD_DELAY
    } else {
        -DAY_MS
    };
    // Gifts before the next rows count for bursts only.
    let gifts = format!(
        "WITH {NEXT}, earlier AS (SELECT n, user, entry FROM journal WHERE +site = ?1 AND n BETWEEN \
         (SELECT n FROM gifts_read WHERE site = ?1) - ?7 + 1 AND (SELECT n FROM gifts_read WHERE site = ?1)), \
         entries AS (SELECT user, entry, 1 AS is_next FROM next UNION ALL SELECT user, entry, 0 FROM earlier), \
         activity AS (SELECT user AS giver, CAST(julianday(entry ->> 'date') - 2440587.5 AS INTEGER) AS day, is_next, \
         CAST(entry ->> 'at' AS INTEGER) AS at, iif(entry ->> 'did' = 'undo', -1, 1) AS sign, \
         CAST(entry ->> 'points' AS INTEGER) AS points, {TARGET} AS target, \
         IFNULL(entry ->> 'received', '') AS received FROM entries WHERE user <> '' AND entry ->> 'did' IN ('count', 'undo') \
         AND entry ->> 'applied' IS NOT '' AND entry ->> 'kinds' IS NOT '' AND entry ->> 'action' <> 'adjust' AND entry ->> 'date' > date(?4 * 86400, 'unixepoch')), \
         {GIFT}, counted AS MATERIALIZED (SELECT *, COUNT(*) FILTER (WHERE sign > 0) OVER (PARTITION BY giver, receiver ORDER BY at \
         RANGE BETWEEN ?5 PRECEDING AND CURRENT ROW) AS burst, COUNT(*) FILTER (WHERE sign > 0 AND at % 86400000 <> 0) \
         OVER (PARTITION BY receiver ORDER BY at RANGE BETWEEN ?5 PRECEDING AND CURRENT ROW) AS among \
         FROM gift WHERE receiver <> '' AND receiver <> giver) \
         INSERT INTO gifts (site, day, giver, receiver, gifts, points, given, burst) \
         SELECT ?1, day, giver, receiver, SUM(sign), SUM(sign * steps), SUM(sign * points), MAX(iif(sign > 0, burst, 0)) \
         FROM counted WHERE is_next GROUP BY day, giver, receiver \
         UNION ALL SELECT ?1, day, giver, '', SUM(sign), SUM(sign * points), 0, 0 FROM activity WHERE is_next GROUP BY day, giver \
         UNION ALL SELECT ?1, day, '', receiver, 0, 0, 0, MAX(among) FROM counted WHERE sign > 0 GROUP BY day, receiver \
         HAVING MAX(among) >= ?6 \
         ON CONFLICT DO UPDATE SET gifts = gifts + excluded.gifts, points = points + excluded.points, given = given + excluded.given, \
         burst = MAX(burst, excluded.burst)"
    );
    let position = format!(
        "WITH {NEXT} INSERT INTO gifts_read (site, n, day, at, numbers, erased) \
         SELECT ?1, MAX(n), -1, 0, 'null', 0 FROM next HAVING COUNT(*) > 0 ON CONFLICT DO UPDATE SET n = excluded.n \
         RETURNING CAST((SELECT COUNT(*) FROM raw) = ?2 AS TEXT) AS text"
    );
    let values: Vec<Value> = vec![
        deployment_id(config).into(),
        ROWS.into(),
        (now.0 - delay).into(),
    ];
    let mut gift_values = values.clone();
    gift_values.extend([
        (day_of(now) - i64::from(KEPT_DAYS)).into(),
        burst_length(thresholds).into(),
        thresholds.burst_gifts.into(),
        BURST_ROWS.into(),
    ]);
    [
        Statement::new(&gifts, gift_values),
        Statement::new(&position, values),
    ]
}

/// Adds the next rows of the journal to the gifts. Returns whether there may be more.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then nothing was added.
pub async fn add(
    journal: &Database,
    config: &Config,
    thresholds: &FairPlay,
    now: Instant,
) -> Result<bool, Error> {
    let results = journal.run(&additions(config, thresholds, now)).await?;
    let more = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
    Ok(more.first().is_some_and(|more| more == "1"))
}

/// A pair that may be in a finding, and its members.
struct Candidate {
    pair: Pair,
    members: [Member; 2],
    gifts: u64,
    /// The kinds of pairs that were cut, with commas between them.
    cut: String,
}

impl FromRow for Candidate {
    fn from_row(mut columns: Columns) -> Option<Self> {
        let pair = Pair {
            giver: columns.text(0)?,
            receiver: columns.text(1)?,
            gifts: columns.integer(2)?,
            steps: columns.integer(3)?,
            days: columns.integer(4)?,
            dates: (columns.integer(5)?, columns.integer(6)?),
            burst: columns.integer(7)?,
            joint: columns.integer(16)?,
        };
        let member = |user: &String, first, column| {
            Some(Member {
                user: user.clone(),
                given: columns.integer(column)?,
                received: columns.integer(column + 1)?,
                activities: columns.integer(column + 2)?,
                first,
            })
        };
        let members = [
            member(&pair.giver, columns.integer(14), 8)?,
            member(&pair.receiver, None, 11)?,
        ];
        Some(Self {
            pair,
            members,
            gifts: columns.integer(15)?,
            cut: columns.text(17)?,
        })
    }
}

/// Returns the statement that reads the pairs of a window that may be in a finding.
fn candidates(config: &Config, thresholds: &FairPlay, (first, today): (i64, i64)) -> Statement {
    let bursts = BURSTS.replace("{target}", TARGET).replace("{gift}", GIFT);
    let ends = ["edge", "inner_edge", "mutual"].map(|name| ENDS.replace("{edges}", name));
    let [first_end, last_end, group_end] = ends;
    let places = PLACES.replace("{quotas}", QUOTAS);
    let places = places.replace("{first}", &first_end);
    let places = places.replace("{last}", &last_end);
    let places = places.replace("{group}", &group_end);
    let values = vec![
        deployment_id(config).into(),
        first.into(),
        thresholds.min_gifts.into(),
        thresholds.min_lift.into(),
        thresholds.burst_gifts.into(),
        burst_length(thresholds).into(),
        thresholds.ring_share.into(),
        thresholds.few_givers.into(),
        thresholds.few_share.into(),
        thresholds.farm_accounts.into(),
        today.into(),
        thresholds.farm_share.min(NEW_SHARE).into(),
        FARM_GIFTS.into(),
        RING_GIFTS.into(),
    ];
    // Only what the journal confirms is a burst.
    let burst = "IFNULL(alone, MIN(burst, ?5 - 1))";
    Statement::new(
        &pairs(&format!("{bursts}, {EDGES}, {places}"), burst),
        values,
    )
}

/// Returns the statement that reads the pairs between these members, a JSON array.
fn candidates_of(config: &Config, members: &str, first: i64) -> Statement {
    let candidate = "total AS (SELECT SUM(gifts) AS gifts FROM received), \
         candidate AS MATERIALIZED (SELECT pair.*, given.gifts AS given, IFNULL(taken.gifts, 0) AS taken, \
         given.activities AS activities, IFNULL(back.gifts, 0) AS back, received.gifts AS received, \
         IFNULL(back.activities, 0) AS others, total.gifts AS total, 0 AS joint, '' AS cut FROM pair CROSS JOIN total \
         JOIN given ON given.user = pair.giver JOIN received ON received.user = pair.receiver \
         LEFT JOIN received AS taken ON taken.user = pair.giver LEFT JOIN given AS back ON back.user = pair.receiver \
         WHERE pair.giver IN (SELECT value FROM json_each(?3)) \
         AND pair.receiver IN (SELECT value FROM json_each(?3)) ORDER BY pair.gifts DESC LIMIT ?4)";
    let values = vec![
        deployment_id(config).into(),
        first.into(),
        members.into(),
        MAX_PAIRS.into(),
    ];
    Statement::new(&pairs(candidate, "burst"), values)
}

/// Returns the text that reads the pairs in `candidate`.
fn pairs(candidate: &str, burst: &str) -> String {
    format!(
        "WITH {LINK}, {PAIRS}, {candidate} \
         SELECT giver, receiver, gifts, points, days, first, last, {burst}, given, taken, activities, back, received, others, \
         IFNULL({FIRST}, 0), total, joint, cut FROM candidate ORDER BY gifts DESC"
    )
}

/// Returns a window of candidates. A member whose first activity is not after the day `first` is not new.
fn window(days: u32, first: i64, candidates: Vec<Candidate>) -> Window {
    let mut window = Window {
        days,
        gifts: candidates.first().map_or(0, |candidate| candidate.gifts),
        ..Window::default()
    };
    for candidate in candidates {
        for mut member in candidate.members {
            member.first = member.first.filter(|day| i64::from(*day) > first);
            let members = &mut window.members;
            let found = members.binary_search_by(|known| known.user.cmp(&member.user));
            match found.map(|index| members.get_mut(index)) {
                Err(index) => members.insert(index, member),
                Ok(known) => known.into_iter().for_each(|known| {
                    known.first = known.first.or(member.first);
                }),
            }
        }
        window.pairs.push(candidate.pair);
    }
    window
}

impl FromRow for KnownCase {
    fn from_row(mut columns: Columns) -> Option<Self> {
        let state = match columns.text(1)?.as_str() {
            "excluded" => KnownState::Excluded(columns.integer(6)),
            "dismissed" => KnownState::Dismissed(DismissedFacts {
                days: columns.integer(4)?,
                gifts: columns.integer(3).unwrap_or_default(),
                pairs: columns.text(5)?.lines().filter_map(known_pair).collect(),
            }),
            _ => KnownState::Open,
        };
        Some(Self {
            id: columns.text(0)?,
            state,
            members: serde_json::from_str(&columns.text(2)?).ok()?,
        })
    }
}

/// Parses a pair of a dismissed case: giver, receiver, gifts and last day.
fn known_pair(line: &str) -> Option<(String, String, u32, i32)> {
    let mut words = line.split(' ');
    let mut next = || words.next();
    let (giver, receiver) = (next()?.to_owned(), next()?.to_owned());
    Some((
        giver,
        receiver,
        next()?.parse().ok()?,
        next()?.parse().ok()?,
    ))
}

/// Reads the cases, of dismissed ones the facts by which they were dismissed, and of exclusions the day of their end.
const KNOWN: &str = "SELECT id, state, members, decided_gifts, facts ->> 'days', iif(state = 'dismissed', \
    (SELECT IFNULL(group_concat(value ->> 'giver' || ' ' || (value ->> 'receiver') || ' ' || (value ->> 'gifts') || ' ' || \
    CAST(julianday(value ->> 'last') - 2440587.5 AS INTEGER), char(10)), '') FROM json_each(facts, '$.pairs')), NULL), \
    until / 86400000 FROM cases WHERE site = ?1";

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// The number of cases that it opened.
    pub opened: usize,
    /// The number of open cases that it found again.
    pub updated: usize,
    /// The kinds of pairs that it has not read all, with commas between them.
    pub cut: String,
}

/// Searches the gifts for cases, stores them, and deletes what is too old.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then nothing was stored.
pub async fn search(
    journal: &Database,
    config: &Config,
    thresholds: &FairPlay,
    now: Instant,
) -> Result<Searched, Error> {
    let today = day_of(now);
    let windows = WINDOWS.map(|days| (days, today - i64::from(days)));
    let mut statements: Vec<Statement> = Vec::new();
    for (_, first) in windows {
        statements.push(candidates(config, thresholds, (first, today)));
    }
    let site = || -> Value { deployment_id(config).into() };
    let [(days, first), _] = windows;
    let fairness = format!("WITH {LINK}, {PAIRS}, {FAIRNESS}");
    let values = vec![site(), first.into(), days.into()];
    statements.push(Statement::new(&fairness, values));
    statements.push(Statement::new(KNOWN, vec![site()]));
    let erased = "SELECT erased FROM gifts_read WHERE site = ?1";
    statements.push(Statement::new(erased, vec![site()]));
    let results = journal.run(&statements).await?;
    let mut results = results.iter();
    let mut next = || results.next();
    let (mut all, mut cut) = (Vec::new(), String::new());
    for (days, first) in windows {
        let candidates: Vec<Candidate> = next().map_or(Ok(Vec::new()), Rows::decode)?;
        // The longer window has the pairs of the shorter one.
        if let Some(candidate) = candidates.first().filter(|one| !one.cut.is_empty()) {
            cut.clone_from(&candidate.cut);
        }
        all.push(window(days, first, candidates));
    }
    let numbers = next().map_or(Ok(Vec::new()), Rows::texts)?;
    let known: Vec<KnownCase> = next().map_or(Ok(Vec::new()), Rows::decode)?;
    let erased: Vec<i64> = next().map_or(Ok(Vec::new()), Rows::decode)?;
    let erased = erased.first().copied().unwrap_or_default();
    let findings = detect(&all, thresholds);
    let changes = changes(&findings, &all, &known, thresholds, config.layout.decimals);
    let numbers = numbers.into_iter().next().unwrap_or_default();
    let statements = store(config, &changes, (numbers, erased), now);
    journal.run(&statements).await?;
    let opened = changes.iter().filter(|change| change.1).count();
    Ok(Searched {
        opened,
        updated: changes.len() - opened,
        cut,
    })
}

/// Searches for cases at once. Returns `None` if the journal has more rows than one request may read; the next one
/// continues.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; the next search continues.
pub async fn search_now(
    journal: &Database,
    config: &Config,
    thresholds: &FairPlay,
    now: Instant,
) -> Result<Option<Searched>, Error> {
    for _ in 0..STEPS {
        if !add(journal, config, thresholds, now).await? {
            return search(journal, config, thresholds, now).await.map(Some);
        }
    }
    Ok(None)
}

/// Returns the statements that store the cases and the numbers of fairness of a search, and delete what is too old.
pub(crate) fn store(
    config: &Config,
    changes: &[Change<'_>],
    (numbers, erased): (String, i64),
    now: Instant,
) -> Vec<Statement> {
    let (site, today) = (|| -> Value { deployment_id(config).into() }, day_of(now));
    let opened = changes.iter().filter(|change| change.1);
    let messages: Vec<Value> = opened.map(|change| message(change, now)).collect();
    let changes = serde_json::to_string(changes).unwrap_or_default();
    let mut statements = vec![insert(config, changes, erased, now)];
    if config.webhooks.want(CASE_OPENED) && !messages.is_empty() {
        let messages = Value::Array(messages).to_string();
        statements.push(webhooks::insert(config, messages, now));
    }
    let sql = "INSERT INTO gifts_read (site, n, day, at, numbers, erased) VALUES (?1, 0, ?2, ?3, ?4, 0) \
         ON CONFLICT DO UPDATE SET day = excluded.day, at = excluded.at, numbers = excluded.numbers";
    let values = vec![site(), today.into(), now.0.into(), numbers.into()];
    statements.push(Statement::new(sql, values));
    let sql = "DELETE FROM gifts WHERE site = ?1 AND day <= ?2";
    let values = vec![site(), (today - i64::from(KEPT_DAYS)).into()];
    statements.push(Statement::new(sql, values));
    let sql = "DELETE FROM cases WHERE site = ?1 AND state <> 'excluded' AND (updated < ?2 OR id IN (SELECT id FROM cases WHERE site = ?1 \
         ORDER BY updated DESC, score DESC LIMIT -1 OFFSET ?3))";
    let first = now.0 - CASE_DAYS * DAY_MS;
    let values = vec![site(), first.into(), MAX_CASES.into()];
    statements.push(Statement::new(sql, values));
    statements
}

/// Returns the message about a case that opens. The row of a message names no user, so it has their number.
fn message(change: &Change<'_>, now: Instant) -> Value {
    let (id, kind, members) = (&change.0, change.2.name(), change.5.len());
    let data =
        format!("{{\"case\":{{\"id\":\"{id}\",\"kind\":\"{kind}\",\"members\":{members}}}}}");
    let subject = format!("{id} {}", now.0);
    webhooks::message(CASE_OPENED, subject, now, data.into()).into()
}

/// Returns the statement that stores changed cases, unless a member was erased after they were read. A case that a moderator
/// has dismissed since stays dismissed.
fn insert(config: &Config, changes: String, erased: i64, now: Instant) -> Statement {
    let sql = "INSERT INTO cases (site, id, state, kind, score, gifts, members, facts, found, updated) \
         SELECT ?1, value ->> 0, 'open', value ->> 2, value ->> 3, value ->> 4, value -> 5, value -> 6, ?4, ?4 \
         FROM json_each(?2) WHERE IFNULL((SELECT erased FROM gifts_read WHERE site = ?1), 0) = ?3 \
         ON CONFLICT DO UPDATE SET state = 'open', kind = excluded.kind, score = excluded.score, gifts = excluded.gifts, \
         members = excluded.members, facts = excluded.facts, updated = excluded.updated WHERE state = 'open' \
         OR state = 'dismissed' AND EXISTS (SELECT 1 FROM json_each(?2) WHERE value ->> 0 = excluded.id AND value ->> 1)";
    let values = vec![
        deployment_id(config).into(),
        changes.into(),
        erased.into(),
        now.0.into(),
    ];
    Statement::new(sql, values)
}

/// Reads a page of cases as JSON, and the last search.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_page(
    journal: &Database,
    config: &Config,
    request: &CasesRequest,
) -> Result<(Vec<String>, String), Error> {
    let view = view();
    let sql = format!(
        "SELECT {view} AS text FROM cases WHERE site = ?1 AND (?2 = '' OR state = ?2) AND (?3 = '' OR (score, id) < \
         (SELECT score, id FROM cases WHERE site = ?1 AND id = ?3)) ORDER BY score DESC, id DESC LIMIT ?4"
    );
    let last = concat!(
        "SELECT json_object('at', ",
        instant!("at"),
        ", 'fairness', json(numbers)) AS text FROM gifts_read WHERE site = ?1 AND day >= 0"
    );
    let site = || -> Value { deployment_id(config).into() };
    let values = vec![
        site(),
        request.state.as_str().into(),
        request.after.as_str().into(),
        request.limit.into(),
    ];
    let statements = [
        Statement::new(&sql, values),
        Statement::new(last, vec![site()]),
    ];
    let results = journal.run(&statements).await?;
    let cases = results.first().map_or(Ok(Vec::new()), Rows::texts)?;
    let search = results.get(1).map_or(Ok(Vec::new()), Rows::texts)?;
    let search = search.into_iter().next();
    Ok((cases, search.unwrap_or_else(|| "null".to_owned())))
}

/// Reads a case with its pairs, and the latest 20 gifts of its first 20 pairs, from the last week of each; of a burst the closest
/// together. `None` if it is unknown.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_case(
    journal: &Database,
    config: &Config,
    thresholds: &FairPlay,
    id: &str,
) -> Result<Option<String>, Error> {
    let view = view();
    let sql = format!(
        "WITH {LINK}, pair AS MATERIALIZED (SELECT value ->> 'giver' AS giver, value ->> 'receiver' AS receiver, kind = 'burst' AS is_burst, \
         strftime('%s', value ->> 'first') * 1000 AS first, strftime('%s', value ->> 'last') * 1000 AS last FROM cases, \
         json_each(facts, '$.pairs') WHERE site = ?1 AND cases.id = ?2 ORDER BY key LIMIT 20), \
         sender AS (SELECT giver AS user, giver AS member FROM pair UNION SELECT link.user, member FROM link JOIN pair ON giver = member), \
         week AS (SELECT user, member, MIN(iif(is_burst, first, last - 5 * 86400000)) - 86400000 AS first, MAX(last) + 2 * 86400000 AS end \
         FROM pair JOIN sender ON member = giver GROUP BY user), \
         activity AS (SELECT week.member AS giver, CAST(entry ->> 'at' AS INTEGER) AS at, entry ->> 'action' AS action, \
         {TARGET} AS target, IFNULL(entry ->> 'received', '') AS received \
         FROM week CROSS JOIN journal WHERE site = ?1 AND journal.user <> '' AND journal.user = week.user \
         AND CAST(COALESCE(entry ->> 'at', CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, \
         entry ->> 'now') AS INTEGER) BETWEEN week.first AND week.end AND entry ->> 'did' = 'count'), {GIFT}, \
         found AS (SELECT gift.*, pair.receiver AS member, iif(is_burst, COUNT(*) OVER (PARTITION BY pair.receiver ORDER BY at \
         RANGE BETWEEN ?3 PRECEDING AND ?3 FOLLOWING), 0) AS near FROM gift LEFT JOIN link ON link.user = gift.receiver \
         JOIN pair ON pair.giver = gift.giver AND pair.receiver = IFNULL(link.member, gift.receiver)), \
         latest AS (SELECT * FROM (SELECT * FROM found ORDER BY near DESC, at DESC LIMIT 20) ORDER BY at DESC) \
         SELECT json_patch(json_patch({view}, facts), json_object('latest', (SELECT json_group_array(json_object('at', \
         strftime('%Y-%m-%dT%H:%M:%SZ', at / 1000, 'unixepoch'), 'action', action, 'target', target, 'giver', giver, \
         'receiver', member)) FROM latest))) AS text FROM cases WHERE site = ?1 AND id = ?2"
    );
    let values = vec![
        deployment_id(config).into(),
        id.into(),
        burst_length(thresholds).into(),
    ];
    let mut cases = journal.texts(Statement::new(&sql, values)).await?;
    Ok(cases.pop())
}

impl FromRow for DayGifts {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            giver: columns.text(0)?,
            receiver: columns.text(1)?,
            date: Date::numbered(columns.integer(2)?)?,
            given: columns.integer(3)?,
            received: columns.integer(4)?,
        })
    }
}

/// Reads the gifts of 90 days between the members of a case by day.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_gifts(
    journal: &Database,
    config: &Config,
    id: &str,
    now: Instant,
) -> Result<Vec<DayGifts>, Error> {
    let sql = format!(
        "WITH {LINK}, member AS MATERIALIZED (SELECT value AS user FROM cases, json_each(members) WHERE site = ?1 AND cases.id = ?3 LIMIT 20) \
         SELECT IFNULL(givers.member, giver), IFNULL(receivers.member, receiver), day, MAX(0, SUM(given)), MAX(0, SUM(points)) FROM gifts \
         LEFT JOIN link AS givers ON givers.user = giver LEFT JOIN link AS receivers ON receivers.user = receiver \
         WHERE site = ?1 AND day > ?2 AND receiver <> '' AND IFNULL(givers.member, giver) IN (SELECT user FROM member) \
         AND IFNULL(receivers.member, receiver) IN (SELECT user FROM member) GROUP BY 1, 2, 3 HAVING SUM(gifts) > 0"
    );
    let first = day_of(now) - i64::from(KEPT_DAYS);
    let values = vec![deployment_id(config).into(), first.into(), id.into()];
    journal.query(Statement::new(&sql, values)).await
}

/// The condition that no decision about a case was stored since it was read: `?10` to `?12` are what was read.
pub(crate) const IS_KNOWN: &str =
    "site = ?1 AND cases.id = ?2 AND (state, IFNULL(reason, ''), decided) IS (?10, ?11, ?12)";

/// Stores a moderator's decision, with the message about it, if the case is as it was read. A repeated one keeps its instant.
/// Returns the case as lists have it; `None` if another decision was stored meanwhile.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn decide(
    journal: &Database,
    config: &Config,
    known: &CaseMembers,
    (decision, actor): (&CaseDecision, Option<&Actor>),
    now: Instant,
) -> Result<Option<String>, Error> {
    let view = view();
    let sql = format!(
        "UPDATE cases SET state = ?3, reason = ?4, actor = ?5, decided_gifts = gifts, updated = ?6, \
         decided = iif((state, reason, since, until, public) IS (?3, ?4, ?7, ?8, ?9), decided, ?6), \
         since = ?7, until = ?8, public = ?9 WHERE {IS_KNOWN} RETURNING {view} AS text"
    );
    let values = vec![
        deployment_id(config).into(),
        decision.id.as_str().into(),
        decision.state.as_str().into(),
        decision.reason.as_str().into(),
        Actor::stored(actor).into(),
        now.0.into(),
        decision.span.map(|(from, _)| from.0).into(),
        decision
            .span
            .and_then(|(_, until)| until)
            .map(|until| until.0)
            .into(),
        decision.has_public_reason.into(),
        known.state.as_str().into(),
        known.reason.as_str().into(),
        known.decided.into(),
    ];
    let mut statements = vec![Statement::new(&sql, values.clone())];
    if config.webhooks.want(CASE_DECIDED) {
        statements.insert(0, webhooks::insert_decided(config, values));
    }
    let results = journal.run(&statements).await?;
    let mut cases = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
    Ok(cases.pop())
}

/// The decision about a case, and its members.
#[derive(Debug, PartialEq, Eq)]
pub struct CaseMembers {
    /// The state.
    pub state: String,
    /// The reason of the last decision; empty for none.
    pub reason: String,
    /// The instant of the last decision, Unix ms.
    pub decided: Option<i64>,
    /// In the state `excluded`, from when until when.
    pub span: Option<(Instant, Option<Instant>)>,
    /// Whether the members may read the reason.
    pub is_public: bool,
    /// The key that decided.
    pub actor: Option<Actor>,
    /// The users in alphabetical order.
    pub members: Vec<String>,
}

impl FromRow for CaseMembers {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            state: columns.text(0)?,
            reason: columns.text(2)?,
            members: serde_json::from_str(&columns.text(1)?).ok()?,
            decided: columns.integer(3),
            span: columns.integer(4).map(|from| {
                let until = columns.integer(5);
                (Instant(from), until.map(Instant))
            }),
            is_public: columns.integer(6) == Some(1),
            actor: Actor::parse(&columns.text(7)?),
        })
    }
}

/// Reads the state and the members of a case; `None` if it is unknown.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_members(
    journal: &Database,
    config: &Config,
    id: &str,
) -> Result<Option<CaseMembers>, Error> {
    let sql = "SELECT state, members, IFNULL(reason, ''), decided, iif(state = 'excluded', since, NULL), until, public, \
         IFNULL(actor, '') FROM cases WHERE site = ?1 AND id = ?2";
    let values = vec![deployment_id(config).into(), id.into()];
    let mut cases: Vec<CaseMembers> = journal.query(Statement::new(sql, values)).await?;
    Ok(cases.pop())
}

/// Opens the case of members whom a moderator has named, with what they gave each other in 90 days. A case that is open, or
/// excludes activity between its members, stays so. Returns the case as lists have it.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn open(
    journal: &Database,
    config: &Config,
    thresholds: &FairPlay,
    (case, actor): (&NewCase, Option<&Actor>),
    now: Instant,
) -> Result<Option<String>, Error> {
    let members = serde_json::to_string(&case.members).unwrap_or_default();
    let first = day_of(now) - i64::from(KEPT_DAYS);
    let found = journal
        .query(candidates_of(config, &members, first))
        .await?;
    let window = window(KEPT_DAYS, first, found);
    let finding = find_by_hand(&window, &case.members, thresholds);
    let change = Change::by_hand(&finding, config.layout.decimals);
    let statement = insert_by_hand(config, &change, (&case.reason, actor), now);
    Ok(journal.texts(statement).await?.pop())
}

/// Returns the statement that stores the case of a moderator. It changes a case only if that has exactly these members: a search
/// may have given others to the case with their id.
pub(crate) fn insert_by_hand(
    config: &Config,
    change: &Change<'_>,
    (reason, actor): (&str, Option<&Actor>),
    now: Instant,
) -> Statement {
    let view = view();
    let sql = format!(
        "INSERT INTO cases (site, id, state, kind, score, gifts, members, facts, found, updated, reason, actor, decided, decided_gifts) \
         SELECT ?1, COALESCE((SELECT id FROM cases WHERE site = ?1 AND members = value -> 5 ORDER BY state = 'open' DESC, updated DESC LIMIT 1), \
         (SELECT 'case_' || lower(hex(randomblob(8))) FROM cases WHERE site = ?1 AND id = value ->> 0), value ->> 0), \
         'open', value ->> 2, value ->> 3, value ->> 4, value -> 5, value -> 6, ?3, ?3, ?4, ?5, ?3, value ->> 4 \
         FROM json_each(?2) WHERE true ON CONFLICT DO UPDATE SET state = iif(state = 'dismissed', 'open', state), updated = excluded.updated, \
         gifts = excluded.gifts, facts = excluded.facts RETURNING {view} AS text"
    );
    let values = vec![
        deployment_id(config).into(),
        serde_json::to_string(&[change]).unwrap_or_default().into(),
        now.0.into(),
        reason.into(),
        Actor::stored(actor).into(),
    ];
    Statement::new(&sql, values)
}

/// Returns the statements that delete the gifts of erased members and the cases that name them. A search that has read them
/// stores no case.
pub(super) fn erase(config: &Config, users: &[&str]) -> Vec<Statement> {
    let users = serde_json::to_string(users).unwrap_or_default();
    let statement = |sql: &str| {
        let values = vec![deployment_id(config).into(), users.as_str().into()];
        Statement::new(sql, values)
    };
    vec![
        // Each day by the primary key.
        statement(
            "WITH RECURSIVE kept AS (SELECT MIN(day) AS day FROM gifts WHERE site = ?1 UNION ALL \
             SELECT (SELECT MIN(gifts.day) FROM gifts WHERE site = ?1 AND gifts.day > kept.day) FROM kept \
             WHERE day IS NOT NULL) DELETE FROM gifts WHERE site = ?1 AND day IN (SELECT day FROM kept) \
             AND giver IN (SELECT value FROM json_each(?2))",
        ),
        statement(
            "DELETE FROM gifts INDEXED BY gifts_by_receiver WHERE site = ?1 AND receiver <> '' \
             AND receiver IN (SELECT value FROM json_each(?2))",
        ),
        statement(
            "DELETE FROM cases WHERE site = ?1 AND state <> 'excluded' AND EXISTS (SELECT 1 FROM json_each(members) AS member \
             JOIN json_each(?2) AS erased ON erased.value = member.value)",
        ),
        // The others of a case stay excluded.
        statement(
            "UPDATE cases SET members = (SELECT json_group_array(value) FROM json_each(members) \
             WHERE value NOT IN (SELECT value FROM json_each(?2))), \
             facts = json_set(facts, '$.pairs', json((SELECT json_group_array(json(value)) FROM json_each(facts, '$.pairs') \
             WHERE value ->> 'giver' NOT IN (SELECT value FROM json_each(?2)) \
             AND value ->> 'receiver' NOT IN (SELECT value FROM json_each(?2))))) \
             WHERE site = ?1 AND state = 'excluded' AND EXISTS (SELECT 1 FROM json_each(members) AS member \
             JOIN json_each(?2) AS erased ON erased.value = member.value)",
        ),
        Statement::new(
            "UPDATE gifts_read SET erased = erased + 1 WHERE site = ?1",
            vec![deployment_id(config).into()],
        ),
    ]
}

#[cfg(test)]
mod tests;
