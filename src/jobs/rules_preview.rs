//! Previews rules: decides the activity of a span by the rules in force and by changed ones, slice by slice.
//!
//! A slice is a number of rows of the journal. Its requests to Redis are steps, whose replies are stored there, and its figures
//! are stored in the database together with the position after it. A run that ends in between repeats the slice: the steps that
//! have run reply as before, so the slice takes effect once. After the last slice the boards of both sets are compared, page by
//! page, and the scratch keys are deleted.

use crate::app::{App, CronRun};
use crate::journal::rules_preview::{
    self as table, MAX_TIME, Preview, ROWS, SCANNED, rule_sets, run_rows,
};
use crate::platform::budget::Cost;
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::score::{Points, Score};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::keys::Keys;
use activity_rank_store::progress::{end_preview, wake_preview};
use activity_rank_store::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_store::rules_preview::report::{BoardPreview, Change, Figures, Move, Report};
use activity_rank_store::rules_preview::scratch::{self, Call, Replied, Scratch, Step, Wanted};
use activity_rank_store::rules_preview::walk::Walk;
use activity_rank_store::rules_preview::window::{Entry, StateChange};
use activity_rank_store::rules_preview::{JournalActivity, RuleSets};
use serde_json::{Map, Value, json};

/// A slice ends after so many steps: a repetition sends all of them again.
const MAX_STEPS: u64 = 10;
/// The cost of a slice: the steps up to the end of its last window, and two requests of the database.
const COST: Cost = Cost::new(20, 2);
/// Members in one page of a board.
const PAGE: u64 = 500;
/// Keys in one request that deletes them.
const DELETED_KEYS: i64 = 400;
/// Members who are listed of each board and of each limit.
const LISTED: usize = 50;

/// The scratch keys have expired, or a step has failed halfway.
const LOST: &str = "lost";
/// The preview takes too long.
const EXPIRED: &str = "expired";

/// Continues the preview, as far as the budget allows.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database or the store fails; the next run continues.
pub async fn run(app: &App, run: &CronRun) -> Result<(), Error> {
    let (Some(journal), config) = (&run.journal, &run.deployment.config) else {
        return Ok(());
    };
    let mut rows = run_rows(config);
    let mut is_first = true;
    while rows > 0 && run.budget.allows(COST) {
        let Some(preview) = table::read(journal, config, true).await? else {
            return end_preview(&run.deployment).await;
        };
        if is_first {
            // Before the work: the platform may end the run at any point.
            wake_preview(&run.deployment).await?;
            is_first = false;
        }
        let now = clock::now();
        if preview.state != "running" {
            clear(&run.deployment, journal, &preview).await?;
            rows -= ROWS as i64 / 4;
            continue;
        }
        if now.0 - preview.id > MAX_TIME {
            table::end(journal, config, "failed", Some(EXPIRED), now).await?;
            continue;
        }
        let job = Job {
            journal,
            deployment: &run.deployment,
            sets: rule_sets(app.parse_config()?, &preview),
            shard: preview
                .job
                .get("shard")
                .and_then(Value::as_u64)
                .unwrap_or(0) as u32,
            preview: &preview,
        };
        match job.advance(now).await {
            Ok(read) => rows -= read,
            Err(Stop::Past) => return Ok(()),
            Err(Stop::Lost) => {
                table::end(journal, config, "failed", Some(LOST), now).await?;
            }
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes some of the scratch keys of a preview.
async fn clear(
    deployment: &Deployment,
    journal: &Database,
    preview: &Preview,
) -> Result<(), Error> {
    let shard = preview.job.get("shard").and_then(Value::as_u64);
    let prefix = deployment.config.prefix.as_str();
    let shared = scratch::shared_keys(prefix, shard.unwrap_or(0) as u32);
    let [_, names, _] = &shared;
    let run = async |commands| deployment.store.run(&Pipeline::new(commands)).await;
    let random = Command::new("SRANDMEMBER").arg(names).number(DELETED_KEYS);
    let mut replies = run(vec![random]).await?;
    let mut keys = Vec::new();
    for key in replies.pop().unwrap_or_default().into_list()? {
        keys.extend(key.into_text()?);
    }
    if keys.is_empty() {
        run(vec![Command::new("UNLINK").args(&shared)]).await?;
        return table::clear(journal, &deployment.config, preview.id).await;
    }
    let unlink = Command::new("UNLINK").args(&keys);
    run(vec![unlink, Command::new("SREM").arg(names).args(&keys)]).await?;
    Ok(())
}

/// Why a slice ends early.
enum Stop {
    /// Another run has completed it.
    Past,
    /// The scratch keys have expired, or a step has failed halfway.
    Lost,
    /// The next run repeats it.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

/// A slice of a preview.
struct Job<'a> {
    journal: &'a Database,
    deployment: &'a Deployment,
    sets: RuleSets,
    shard: u32,
    preview: &'a Preview,
}

/// The fields of a row of the journal, and its number.
type Row = Map<String, Value>;

/// The fields of a row.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn text(&self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the number of the row.
    fn number(&self) -> i64 {
        self.0.get("n").and_then(Value::as_i64).unwrap_or_default()
    }

    fn owned(&self, name: &str) -> String {
        self.text(name).to_owned()
    }

    fn integer(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// Returns the activity of the row; `None` for another change.
    fn activity(&self) -> Option<JournalActivity<'a>> {
        let did = self.text("did");
        ["count", "undo", "refused"]
            .contains(&did)
            .then(|| JournalActivity {
                user: self.text("user"),
                action: self.text("action"),
                record: self.text("mark"),
                undo: did == "undo" || !self.text("undo").is_empty(),
                at: Instant(self.integer("at")),
                dated: self.text("dated") != "0",
                queued: self.text("dated") == "2",
                received: match did {
                    "refused" => self.text("gives"),
                    _ => self.text("received"),
                },
                on: self.text("on"),
                refusal: self.text("outcome"),
                account: self.text("account"),
            })
    }

    fn entry(&self) -> Entry<'a> {
        match (self.activity(), self.state_change()) {
            (Some(activity), _) => Entry::Activity(activity),
            (None, Some(change)) => Entry::Change(change),
            (None, None) => Entry::Other,
        }
    }

    /// Returns what the row changes that activity depends on.
    fn state_change(&self) -> Option<StateChange> {
        Some(match self.text("did") {
            "target" => StateChange::Target {
                member: self.owned("target"),
                author: self.owned("user"),
                text: ["number", "instant", "authorship", "user", "json"]
                    .map(|name| self.text(name))
                    .join(";"),
            },
            "moderate-target" if self.text("verb") == "e" => StateChange::Target {
                member: self.owned("target"),
                author: String::new(),
                text: String::new(),
            },
            "profile" => StateChange::Profile {
                user: self.owned("user"),
                json: self.owned("json"),
                hidden: self.owned("hidden"),
            },
            "moderate" => StateChange::Hidden {
                user: self.owned("user"),
                hidden: self.owned("hidden"),
            },
            "account" => StateChange::Account {
                user: self.owned("user"),
                of: self.owned("of"),
                number: self.owned("number"),
                former: String::new(),
            },
            "exclude" => StateChange::Excluded {
                user: self.owned("user"),
                case: self.owned("case"),
                excluded: self.owned("excluded"),
            },
            "erase" => StateChange::Erased {
                hash: self.owned("hash"),
                at: self.integer("now"),
            },
            _ => return None,
        })
    }

    /// Adds the names whose state is read before the slice.
    fn want(&self, wanted: &mut Wanted) {
        match self.activity() {
            Some(activity) => wanted.add_activity(&activity),
            None if self.text("did") == "account" => wanted.add_user(self.text("user")),
            None => {}
        }
    }
}

impl Job<'_> {
    /// Returns a number of the job or of the progress.
    fn number(values: &Map<String, Value>, name: &str) -> i64 {
        values.get(name).and_then(Value::as_i64).unwrap_or_default()
    }

    fn job(&self, name: &str) -> i64 {
        Self::number(&self.preview.job, name)
    }

    fn progress(&self, name: &str) -> i64 {
        Self::number(&self.preview.progress, name)
    }

    fn span(&self) -> [Instant; 2] {
        ["from", "until"].map(|name| Instant(self.job(name)))
    }

    fn figures(&self) -> Figures {
        let figures = self.preview.progress.get("figures");
        Figures::new(
            figures
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
        )
    }

    fn keys(&self) -> [Keys; 2] {
        scratch::keys(&self.deployment.config.prefix, self.shard)
    }

    /// Does the next slice of the preview. Returns the rows that it has cost.
    async fn advance(&self, now: Instant) -> Result<i64, Stop> {
        let phase = self.preview.progress.get("phase").and_then(Value::as_str);
        match phase.unwrap_or_default() {
            "read" => self.read(now).await,
            "hide" => self.hide(now).await,
            _ => self.rank(now).await,
        }
    }

    async fn store(
        &self,
        progress: Map<String, Value>,
        report: Option<(String, String)>,
        now: Instant,
    ) -> Result<(), Stop> {
        let config = &self.deployment.config;
        let progress = Value::Object(progress);
        let stored = (self.preview, &progress);
        match table::advance(self.journal, config, stored, report, now).await? {
            true => Ok(()),
            false => Err(Stop::Past),
        }
    }

    async fn send(&self, step: Step, calls: &[Call]) -> Result<Vec<Reply>, Stop> {
        let scratch = (self.deployment.config.prefix.as_str(), self.shard);
        let request = scratch::request(scratch, step, calls);
        let mut replies = self
            .deployment
            .store
            .run(&Pipeline::new(vec![request]))
            .await?;
        match Replied::decode(&replies.pop().unwrap_or_default(), calls.len())? {
            Replied::Results(results) => Ok(results),
            Replied::Past => Err(Stop::Past),
            Replied::Lost => Err(Stop::Lost),
        }
    }

    /// Decides the activity of the next rows.
    async fn read(&self, now: Instant) -> Result<i64, Stop> {
        let (config, after, last) = (
            &self.deployment.config,
            self.progress("n"),
            self.job("last"),
        );
        let end = last.min(after + SCANNED);
        let done = self.preview.progress.get("done").unwrap_or(&Value::Null);
        let position = (after, end, done);
        let read = table::read_rows(self.journal, config, position, self.span(), ROWS).await?;
        let is_full = read.len() == ROWS;
        let numbers: Vec<i64> = read.iter().map(|row| Fields(row).number()).collect();
        let rows = in_order(read, config.shards > 1);
        let mut slice = Slice::new(self, &rows).await?;
        // With several shards, later rows may precede the last ones.
        let count = match is_full && config.shards > 1 {
            true => ROWS * 3 / 4,
            false => rows.len(),
        };
        let mut index = 0;
        while index < count && (index == 0 || slice.step.number < MAX_STEPS) {
            index = slice
                .decide(rows.get(..count).unwrap_or_default(), index)
                .await?;
        }
        let (processed, left) = rows.split_at_checked(index).unwrap_or_default();
        let left = left.iter().map(|row| Fields(row).number()).min();
        let n = match (left, is_full) {
            (Some(left), _) => left - 1,
            (None, true) => numbers.last().copied().unwrap_or(end),
            (None, false) => end,
        };
        let known = done
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_i64);
        let done = known.chain(processed.iter().map(|row| Fields(row).number()));
        let done: Vec<i64> = done.filter(|number| *number > n).collect();
        let mut progress = self.preview.progress.clone();
        let mut set = |name: &str, value: Value| progress.insert(name.to_owned(), value);
        set("n", n.into());
        set("done", done.into());
        set("figures", slice.walk.figures.values().clone().into());
        if n >= last {
            set("phase", "hide".into());
        }
        self.store(progress, None, now).await?;
        // A slice without rows costs processor time too.
        Ok((index as i64).max(ROWS as i64 / 10))
    }

    /// Takes hidden users off the boards.
    async fn hide(&self, now: Instant) -> Result<i64, Stop> {
        let [_, _, hidden] = scratch::shared_keys(&self.deployment.config.prefix, self.shard);
        let call = scratch::hide_call(&hidden, &self.keys(), PAGE as usize);
        let results = self.send(Step::default(), &[call]).await?;
        let mut progress = self.preview.progress.clone();
        if results.first().unwrap_or(&Reply::Nil).integer()? == 0 {
            progress.insert("phase".to_owned(), "rank".into());
        }
        self.store(progress, None, now).await?;
        Ok(ROWS as i64 / 4)
    }

    /// Compares a page of a board by one set of rules with the other one.
    async fn rank(&self, now: Instant) -> Result<i64, Stop> {
        let mut kinds = vec![("members", BoardKind::Members)];
        if self.sets.config.has_content() {
            kinds.push(("authors", BoardKind::Authors));
        }
        let (index, first) = (self.progress("board"), self.progress("first"));
        let Some((_, kind)) = kinds.get(index.unsigned_abs() as usize / 2) else {
            return self.report(&kinds, now).await;
        };
        // The board by the changed rules, then by those in force, for members who leave it.
        let by_changed = index % 2 == 0;
        let [before, after] = self.keys().map(|keys| scratch::board(&keys, *kind));
        let sizes = scratch::size_call([before.clone(), after.clone()]);
        let compared = match by_changed {
            true => [after, before],
            false => [before, after],
        };
        let page = scratch::rank_call(compared, first.unsigned_abs(), PAGE);
        let results = self.send(Step::default(), &[sizes, page]).await?;
        let sizes = results.first().unwrap_or(&Reply::Nil);
        let last = 1 + sizes.at(0)?.unsigned()?.max(sizes.at(1)?.unsigned()?);
        let page = match results.get(1) {
            Some(Reply::List(page)) => page.as_slice(),
            _ => &[],
        };
        let mut progress = self.preview.progress.clone();
        let mut ranked = Ranked::parse(progress.get("ranked"), index.unsigned_abs() as usize / 2);
        let layout = self.sets.config.layout;
        let points = |score: &Reply| {
            let score = Score(score.unsigned()?);
            Ok::<_, StoreError>(kind.points(score, layout).steps)
        };
        for (rank, row) in (first.unsigned_abs() + 1..).zip(page.chunks(4)) {
            let [member, score, other_rank, other_score] = row else {
                continue;
            };
            let own = (Some(rank), points(score)?);
            let other = (other_rank.integer()?, points(other_score)?);
            let other = (u64::try_from(other.0).ok().map(|rank| rank + 1), other.1);
            let [old, new] = match by_changed {
                true => [other, own],
                false => [own, other],
            };
            ranked.add(member.text()?, by_changed, [old, new], last);
        }
        let is_last = page.len() < 4 * PAGE as usize;
        let mut set = |name: &str, value: Value| progress.insert(name.to_owned(), value);
        set(
            "ranked",
            ranked.render(
                self.preview.progress.get("ranked"),
                index.unsigned_abs() as usize / 2,
            ),
        );
        set("board", (index + i64::from(is_last)).into());
        set(
            "first",
            if is_last { 0 } else { first + PAGE as i64 }.into(),
        );
        self.store(progress, None, now).await?;
        Ok(ROWS as i64 / 4)
    }

    /// Stores the report.
    async fn report(&self, kinds: &[(&str, BoardKind)], now: Instant) -> Result<i64, Stop> {
        let (figures, sets) = (self.figures(), &self.sets);
        let calls = scratch::limit_calls(&self.keys(), sets, &figures, LISTED);
        let results = match calls.is_empty() {
            true => Vec::new(),
            false => self.send(Step::default(), &calls).await?,
        };
        let limits = figures.limits(sets, results)?;
        let (mut boards, mut members) = (Vec::new(), Vec::new());
        for (index, (name, _)) in kinds.iter().enumerate() {
            let ranked = Ranked::parse(self.preview.progress.get("ranked"), index);
            boards.push(ranked.preview(name, sets.config.layout.decimals));
        }
        for moved in boards.iter().flat_map(|board| &board.moves) {
            members.push(moved.id.clone());
        }
        for limit in &limits.0 {
            members.extend_from_slice(&limit.first);
        }
        let report = Report::new(sets, &figures, self.span(), boards, limits);
        let [report, members] = [
            serde_json::to_string(&report),
            serde_json::to_string(&members),
        ]
        .map(Result::unwrap_or_default);
        let progress = json!({"phase": "done", "n": self.progress("n")});
        let progress = progress.as_object().cloned().unwrap_or_default();
        self.store(progress, Some((report, members)), now).await?;
        Ok(ROWS as i64 / 4)
    }
}

/// Returns rows in the order of time, if they are of several shards. A registration precedes activity of the same instant on other
/// shards, as in a request.
fn in_order(rows: Vec<Row>, has_shards: bool) -> Vec<Row> {
    if !has_shards {
        return rows;
    }
    let order = |row: &Row| {
        let fields = Fields(row);
        (
            fields.integer("now"),
            fields.activity().is_some(),
            fields.number(),
        )
    };
    let mut ordered: Vec<Row> = Vec::new();
    for row in rows {
        // A sort would add 3 KB to the Worker.
        let index = ordered.partition_point(|other| order(other) < order(&row));
        ordered.insert(index, row);
    }
    ordered
}

/// The decisions of a slice.
struct Slice<'a> {
    job: &'a Job<'a>,
    keys: [Keys; 2],
    scratch: [Scratch; 2],
    walk: Walk<'a>,
    step: Step,
}

impl<'a> Slice<'a> {
    /// Reads the state that some rows depend on.
    async fn new(job: &'a Job<'a>, rows: &[Row]) -> Result<Self, Stop> {
        let mut wanted = Wanted::default();
        for row in rows {
            Fields(row).want(&mut wanted);
        }
        let (slice, keys) = (job.preview.slice + 1, job.keys());
        let has_content = job.sets.config.has_content();
        let new = |keys: &Keys| Scratch::new(keys.clone(), has_content, job.preview.id, slice);
        let scratch = keys.each_ref().map(new);
        // Also without names: each slice has a first step.
        let step = Step { slice, number: 1 };
        let [before, _] = &keys;
        let results = job.send(step, &wanted.calls(before)).await?;
        let (calendar, state) = (&job.deployment.calendar, wanted.state(&results)?);
        Ok(Self {
            job,
            keys,
            scratch,
            walk: Walk::new(&job.sets, calendar, job.span(), state, job.figures()),
            step,
        })
    }

    /// Decides a window of rows from an index on. Returns the index after it.
    async fn decide(&mut self, rows: &[Row], mut index: usize) -> Result<usize, Stop> {
        while let Some(row) = rows.get(index) {
            let fields = Fields(row);
            let (number, at) = (fields.number().unsigned_abs(), fields.integer("now"));
            if !self.walk.add(fields.entry(), number, at) {
                break;
            }
            index += 1;
        }
        let (mut window, items) = self.walk.take();
        let (job, step) = (self.job, &mut self.step);
        let mut send = async |calls: &[Call]| {
            step.number += 1;
            job.send(*step, calls).await
        };
        let mut decided = [Vec::new(), Vec::new()];
        for (set, (scratch, decisions)) in self.scratch.iter_mut().zip(&mut decided).enumerate() {
            let groups = window.take_groups(set);
            *decisions = scratch.run(&window, groups, &mut send).await?;
        }
        let tallies = self.walk.decide(&self.keys, &items, &mut decided);
        let [_, _, hidden] = scratch::shared_keys(&job.deployment.config.prefix, job.shard);
        let calls = tallies.calls(&hidden, &self.walk.state);
        if !calls.is_empty() {
            send(&calls).await?;
        }
        Ok(index)
    }
}

/// Rank, if the board has the member, and points in steps.
type Standing = (Option<u64>, i64);

/// The comparison of a board so far.
#[derive(Default)]
struct Ranked {
    members: i64,
    changed: i64,
    points: [i64; 2],
    /// The first moves: places moved, points moved, member, and the standings before and after.
    moves: Vec<(u64, u64, String, [Standing; 2])>,
}

impl Ranked {
    /// Parses the comparison of the board with an index.
    fn parse(all: Option<&Value>, index: usize) -> Self {
        let value = all.and_then(|all| all.get(index)).unwrap_or(&Value::Null);
        let number = |index: usize| value.get(index).and_then(Value::as_i64).unwrap_or_default();
        let moves = value.get(4).and_then(Value::as_array);
        let moved = |value: &Value| {
            let number = |index: usize| value.get(index).and_then(Value::as_u64);
            let steps = |index: usize| value.get(index).and_then(Value::as_i64);
            let standing = |index| Some((number(index), steps(index + 1)?));
            let member = value.get(2)?.as_str()?.to_owned();
            Some((number(0)?, number(1)?, member, [standing(3)?, standing(5)?]))
        };
        Self {
            members: number(0),
            changed: number(1),
            points: [number(2), number(3)],
            moves: moves.into_iter().flatten().filter_map(moved).collect(),
        }
    }

    /// Returns all comparisons with this one at an index.
    fn render(&self, all: Option<&Value>, index: usize) -> Value {
        let moves = self
            .moves
            .iter()
            .map(|(places, points, member, [old, new])| {
                json!([places, points, member, old.0, old.1, new.0, new.1])
            });
        let [before, after] = self.points;
        let own = json!([
            self.members,
            self.changed,
            before,
            after,
            moves.collect::<Vec<_>>()
        ]);
        let mut all = all.and_then(Value::as_array).cloned().unwrap_or_default();
        all.truncate(index);
        all.push(own);
        all.into()
    }

    /// Adds a member of the board by the changed rules or by those in force, where only members count who leave it. `last` is
    /// the rank of members who are not on the board.
    fn add(&mut self, member: &str, by_changed: bool, [old, new]: [Standing; 2], last: u64) {
        let [before, after] = &mut self.points;
        match by_changed {
            true => {
                self.members += 1;
                *after += new.1;
            }
            false => *before += old.1,
        }
        if old == new || !by_changed && new.0.is_some() {
            return;
        }
        self.changed += 1;
        let [places, other] = [old.0, new.0].map(|rank| rank.unwrap_or(last));
        let moved = (
            places.abs_diff(other),
            (old.1 - new.1).unsigned_abs(),
            member.to_owned(),
            [old, new],
        );
        type Moved = (u64, u64, String, [Standing; 2]);
        // The largest moves first, then by the rank before and by id.
        let precedes = |one: &Moved, other: &Moved| {
            let largest = (other.0, other.1).cmp(&(one.0, one.1));
            let order = largest.then_with(|| one.3[0].0.cmp(&other.3[0].0));
            order.then_with(|| one.2.cmp(&other.2)).is_lt()
        };
        let index = self.moves.partition_point(|known| precedes(known, &moved));
        self.moves.insert(index, moved);
        self.moves.truncate(LISTED);
    }

    fn preview(self, name: &str, decimals: u32) -> BoardPreview {
        let points = |[before, after]: [i64; 2]| Change {
            before: Points {
                steps: before,
                decimals,
            },
            after: Points {
                steps: after,
                decimals,
            },
        };
        let moves = self.moves.into_iter().map(|(_, _, id, [old, new])| Move {
            id,
            rank: Change {
                before: old.0,
                after: new.0,
            },
            points: points([old.1, new.1]),
        });
        BoardPreview {
            board: name.to_owned(),
            members: self.members.unsigned_abs() as usize,
            changed: self.changed.unsigned_abs() as usize,
            points: points(self.points),
            moves: moves.collect(),
        }
    }
}
