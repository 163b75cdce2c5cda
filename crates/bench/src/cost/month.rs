//! Computes a month of a deployment from measured counts, a model of its members, and the prices.

use super::cron::{CronCosts, Sent};
use super::prices::{
    OBJECT_GB, Quota, UPSTASH_FIXED, UPSTASH_FREE, UPSTASH_PAY_AS_YOU_GO, WORKERS, WORKERS_PAID,
};
use super::{Cost, WATCHED_LIKE, WATCHED_MINUTE};
use std::fmt::Write;

/// Monthly members of the three deployments.
const MEMBERS: [f64; 3] = [1000.0, 10_000.0, 100_000.0];
/// A month of 30 days.
const MINUTES: f64 = 43_200.0;
const RUNS: f64 = MINUTES / 5.0;
const SECONDS: f64 = MINUTES * 60.0;
const MONTH_DAYS: f64 = 30.0;
/// Assumed: the use of the busiest day in days of the mean.
const BUSIEST_DAY: f64 = 2.0;
/// Memory of a counted activity in bytes, with its boards: `make memory`. Visits of a day share a record.
const STORED: f64 = 138.0;
/// Days for which a record is kept.
const RECORD_DAYS: f64 = 400.0;
/// Instants in a month at which a period ends or settles.
const ENDS: f64 = 60.0;

/// The activity of a member in a month in which they are active. Comments, bookmarks and days are the means of
/// `community.jsonl` over 853 months of members; it has no visits, likes and reads.
const COMMENTS: f64 = 4.0;
const BOOKMARKS: f64 = 0.83;
const DAYS: f64 = 2.88;
/// Assumed, for each day on which a member is active.
const VISITS_A_DAY: f64 = 4.0;
const BOARDS_A_DAY: f64 = 2.0;
const STANDINGS_A_DAY: f64 = 1.0;
const WATCHED_SECONDS_A_DAY: f64 = 120.0;
/// Assumed: as many likes as comments.
const LIKES: f64 = COMMENTS;

/// The use of a deployment in a month.
struct Month {
    /// Requests of clients, runs of cron, and requests that wake an object.
    requests: f64,
    /// Seconds in which an object is awake.
    object_seconds: f64,
    sent: Sent,
    /// Bytes that the store keeps of the month.
    stored: f64,
    /// Whether boards are archived and copied.
    archives: bool,
}

/// Returns the share of some intervals in which at least one of these events occurs, if they are
/// independent.
fn busy(events: f64, intervals: f64) -> f64 {
    1.0 - (-events / intervals).exp()
}

impl Month {
    /// Computes a month without live boards, or with one.
    fn new(members: f64, operations: &[Cost], cron: &CronCosts, live: bool) -> Self {
        let days = members * DAYS;
        let likes = members * (LIKES + BOOKMARKS + COMMENTS);
        let visits = days * VISITS_A_DAY;
        let activities = likes + visits;
        let mut month = Self {
            requests: MINUTES + RUNS,
            object_seconds: 0.0,
            sent: Sent::default(),
            stored: likes * STORED,
            archives: cron.bindings.archives,
        };
        for (operation, times) in [
            ("like", likes),
            ("visit, minimal", visits),
            ("top 30", days * BOARDS_A_DAY),
            ("standing with two neighbours", days * STANDINGS_A_DAY),
        ] {
            let found = operations.iter().find(|cost| cost.operation == operation);
            let journal = |cost: &Cost| match cron.bindings.journal {
                true => 0,
                false => cost.calls.get("XADD").copied().unwrap_or(0),
            };
            let commands = found.map_or(0.0, |cost| cost.commands - journal(cost) as f64);
            month.sent.commands += commands * times;
            month.sent.requests += times;
            month.requests += times;
        }
        month.add_cron(cron, activities);
        if live {
            let watched = SECONDS * busy(days * WATCHED_SECONDS_A_DAY, SECONDS);
            month.add_live_board(watched, activities * watched / SECONDS, operations);
        }
        month
    }

    /// Adds the object of a board that is watched for some seconds, and changes meanwhile.
    fn add_live_board(&mut self, watched: f64, changes: f64, operations: &[Cost]) {
        // The object is woken and reads at most once a second.
        let wakes = watched * busy(changes, watched);
        let commands = |operation: &str| {
            let found = operations.iter().find(|cost| cost.operation == operation);
            found.map_or(0.0, |cost| cost.commands)
        };
        self.object_seconds = watched;
        self.requests += wakes;
        self.sent.requests += watched / 60.0 + wakes;
        self.sent.commands += watched / 60.0 * commands(WATCHED_MINUTE);
        self.sent.commands += wakes * (commands(WATCHED_LIKE) - commands("like"));
    }

    fn add_cron(&mut self, cron: &CronCosts, activities: f64) {
        let (mut drains, mut changed, mut ends) = (0.0, 0.0, 0.0);
        if cron.bindings.journal {
            drains = MINUTES * busy(activities, MINUTES);
            changed = RUNS * busy(activities, RUNS);
            ends = if cron.bindings.archives { ENDS } else { 0.0 };
            self.sent.add(cron.entry, activities - drains);
        }
        self.sent.add(cron.drain, drains);
        self.sent.add(cron.idle_minute, MINUTES - drains);
        self.sent.add(cron.changed_run, changed);
        self.sent.add(cron.ended_run, ends);
        self.sent.add(cron.idle_run, RUNS - changed - ends);
    }

    fn upstash(&self) -> [String; 3] {
        let commands = self.sent.commands;
        let free = match commands <= UPSTASH_FREE {
            true => "0".to_owned(),
            false => "beyond".to_owned(),
        };
        let pay = commands / 100_000.0 * UPSTASH_PAY_AS_YOU_GO;
        let (price, bytes) = UPSTASH_FIXED;
        let months = bytes / self.stored;
        let fixed = match months * MONTH_DAYS < RECORD_DAYS {
            true => format!("{price:.0}, full after {months:.0} months"),
            false => format!("{price:.0}"),
        };
        [free, format!("{pay:.2}"), fixed]
    }

    fn workers(&self) -> [String; 2] {
        let used = [
            self.requests,
            self.sent.rows_read,
            self.sent.rows_written,
            self.sent.kv_reads,
            self.sent.kv_writes,
            self.object_seconds * OBJECT_GB,
        ];
        let [free, paid] = WORKERS;
        // A quota of the free plan is that of a day.
        let busiest = BUSIEST_DAY / MONTH_DAYS;
        let fits = |(used, quota): (&f64, &Quota)| used * busiest <= quota.included;
        // Runs that archive boards and copy them take more processor time than the free plan gives them.
        let free = match !self.archives && used.iter().zip(&free).all(fits) {
            true => "0",
            false => "beyond",
        };
        let more = used.iter().zip(&paid).map(|(used, quota)| {
            let beyond = (used - quota.included).max(0.0);
            beyond / 1e6 * quota.million.unwrap_or(0.0)
        });
        let paid = WORKERS_PAID + more.sum::<f64>();
        [free.to_owned(), format!("{paid:.2}")]
    }
}

/// Returns the tables of `docs/costs.md` as Markdown.
pub fn tables(operations: &[Cost], crons: &[CronCosts]) -> String {
    let mut text = String::new();
    let heading = |title: &str, columns: &[&str]| {
        let rule: Vec<&str> = columns.iter().map(|_| "---:").collect();
        format!(
            "### {title}\n\n| {} |\n| --- | {} |\n",
            columns.join(" | "),
            rule[1..].join(" | ")
        )
    };
    let sent_columns = |first| {
        [
            first,
            "commands",
            "store requests",
            "D1 queries",
            "D1 rows read",
            "D1 rows written",
            "KV reads",
            "KV writes",
        ]
    };
    let cells = |sent: &Sent| {
        let numbers = [
            sent.commands,
            sent.requests,
            sent.queries,
            sent.rows_read,
            sent.rows_written,
            sent.kv_reads,
            sent.kv_writes,
        ];
        numbers.map(number).join(" | ")
    };
    for cron in crons {
        let title = format!("Cron, bindings: {}", cron.bindings.title());
        text += &heading(&title, &sent_columns("runs"));
        let rows = [
            (
                "an idle hour: 60 runs of every minute, 12 of every five",
                cron.idle_hour,
            ),
            ("every minute, nothing to do", cron.idle_minute),
            ("every five minutes, nothing to do", cron.idle_run),
            ("every minute, drains one entry", cron.drain),
            ("each further entry", cron.entry),
            ("every five minutes, after a change", cron.changed_run),
            ("every five minutes, after the end of a day", cron.ended_run),
            (
                "each of many boards archived in one run",
                cron.archived_board,
            ),
        ];
        for (name, sent) in rows {
            let _ = writeln!(text, "| {name} | {} |", cells(&sent));
        }
        text.push('\n');
    }
    for members in MEMBERS {
        let title = format!("{} members: use of a month", number(members));
        let mut columns = sent_columns("bindings").to_vec();
        columns.extend(["Workers requests", "object seconds"]);
        text += &heading(&title, &columns);
        let mut money = heading(
            &format!("{} members: dollars of a month", number(members)),
            &[
                "bindings",
                "Upstash free",
                "pay as you go",
                "fixed",
                "Workers free",
                "Workers paid",
            ],
        );
        for cron in crons {
            for live in [false, true] {
                let month = Month::new(members, operations, cron, live);
                let name = match live {
                    true => format!("{}, live", cron.bindings.title()),
                    false => cron.bindings.title().to_owned(),
                };
                let _ = writeln!(
                    text,
                    "| {name} | {} | {} | {} |",
                    cells(&month.sent),
                    number(month.requests),
                    number(month.object_seconds)
                );
                let [upstash, workers] = [month.upstash().join(" | "), month.workers().join(" | ")];
                let _ = writeln!(money, "| {name} | {upstash} | {workers} |");
            }
        }
        let _ = write!(text, "\n{money}\n");
    }
    text
}

/// Formats a number with separators; small ones with one decimal.
fn number(number: f64) -> String {
    if number < 100.0 && number.fract().abs() > 0.05 {
        return format!("{number:.1}");
    }
    let digits = format!("{:.0}", number.max(0.0));
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
