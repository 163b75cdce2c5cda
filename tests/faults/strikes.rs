//! Faults, at random: the same for the same seed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fastrand::Rng;
use test_support::Fault;

use crate::run::Run;
use crate::service::lock;
use crate::writes::send_again;

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    RedisKilled,
    GatewayKilled,
    GatewayHung,
    Garbage,
    HalfAnswer,
    WorkerdKilled,
}

const PARTS: [Part; 6] = [
    Part::RedisKilled,
    Part::GatewayKilled,
    Part::GatewayHung,
    Part::Garbage,
    Part::HalfAnswer,
    Part::WorkerdKilled,
];

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Self::RedisKilled => "redis-server killed",
            Self::GatewayKilled => "gateway killed",
            Self::GatewayHung => "gateway hung",
            Self::Garbage => "garbage answered",
            Self::HalfAnswer => "half an answer",
            Self::WorkerdKilled => "workerd killed",
        }
    }
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Strike {
    /// How long nothing fails before it.
    pub rest: Duration,
    pub part: Part,
    /// How long it lasts.
    pub lasts: Duration,
    /// Requests whose answers it spoils, where it is of that kind.
    pub answers: u32,
    /// Whether workerd is killed in the middle of it.
    pub and_workerd: bool,
    seed: u64,
}

/// All faults, without end: each part fails once before any fails again.
pub fn all(seed: u64) -> impl Iterator<Item = Strike> {
    let mut random = Rng::with_seed(seed);
    let rounds = std::iter::repeat_with(move || {
        let mut parts = PARTS;
        random.shuffle(&mut parts);
        let strike = |part| {
            let is_workerd = part == Part::WorkerdKilled;
            // What dies with workerd is what waits because of the fault before.
            let rest = if is_workerd { 0..2_000 } else { 300..5_000 };
            Strike {
                rest: Duration::from_millis(random.u64(rest)),
                part,
                lasts: Duration::from_millis(random.u64(100..2_500)),
                answers: random.u32(1..=30),
                and_workerd: !is_workerd && random.u8(..5) == 0,
                seed: random.u64(..),
            }
        };
        parts.map(strike)
    });
    rounds.flatten()
}

/// What struck; with the number of its hits.
pub type Struck = Vec<(Part, usize)>;

/// Strikes for so long, and until so many faults have hit something.
pub async fn strike(run: &Arc<Run>, seed: u64, lasts: Duration, least: usize) -> Struck {
    let begin = Instant::now();
    let mut struck = Struck::new();
    for strike in all(seed) {
        let hits = run
            .flights
            .strikes()
            .iter()
            .filter(|hits| hits.hurt > 0)
            .count();
        let late = begin.elapsed() > lasts * 2 + Duration::from_secs(60);
        if (begin.elapsed() >= lasts && hits >= least) || late {
            break;
        }
        tokio::time::sleep(strike.rest).await;
        one(run, &strike, &mut struck).await;
    }
    run.is_over.store(true, Ordering::Relaxed);
    struck
}

async fn one(run: &Arc<Run>, strike: &Strike, struck: &mut Struck) {
    let (service, part) = (&run.service, strike.part);
    if part != Part::WorkerdKilled {
        await_requests(run).await;
    }
    match part {
        Part::RedisKilled => {
            struck.push((part, run.flights.strike()));
            tokio::task::block_in_place(|| lock(&service.redis).kill());
            middle(run, strike, struck).await;
            tokio::task::block_in_place(|| lock(&service.redis).restart());
        }
        Part::GatewayKilled => {
            struck.push((part, run.flights.strike()));
            tokio::task::block_in_place(|| lock(&service.gateway).kill());
            middle(run, strike, struck).await;
            tokio::task::block_in_place(|| lock(&service.gateway).restart());
        }
        Part::GatewayHung => {
            struck.push((part, run.flights.strike()));
            lock(&service.gateway).pause();
            middle(run, strike, struck).await;
            lock(&service.gateway).resume();
        }
        Part::Garbage | Part::HalfAnswer => {
            let number = run.flights.begin_strike();
            struck.push((part, number));
            spoil(run, strike, number);
            middle(run, strike, struck).await;
            service.forwarder.heal();
        }
        Part::WorkerdKilled => kill_workerd(run, struck).await,
    }
}

/// Waits until the store is well and there are requests to hit on their way to it.
async fn await_requests(run: &Run) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let ready = || run.is_well() && run.service.forwarder.under_way() >= 2;
    while !ready() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The time that a fault lasts, and what else goes wrong in it.
async fn middle(run: &Arc<Run>, strike: &Strike, struck: &mut Struck) {
    tokio::time::sleep(strike.lasts / 2).await;
    if strike.and_workerd {
        kill_workerd(run, struck).await;
    }
    tokio::time::sleep(strike.lasts / 2).await;
}

async fn kill_workerd(run: &Arc<Run>, struck: &mut Struck) {
    let (mut strike, mut lost) = (None, Vec::new());
    let just_before = || {
        let deadline = Instant::now() + Duration::from_secs(2);
        while run.flights.count() < 3 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        strike = Some(run.flights.strike());
    };
    let meanwhile = || lost = run.ledger.died();
    run.service.kill_workerd(just_before, meanwhile).await;
    run.ledger.revived();
    struck.extend(strike.map(|strike| (Part::WorkerdKilled, strike)));
    send_again(run, lost);
}

/// Spoils the answers to so many requests to the store.
fn spoil(run: &Arc<Run>, strike: &Strike, number: usize) {
    let mut random = Rng::with_seed(strike.seed);
    let (mut left, part) = (strike.answers, strike.part);
    let run_of_plan = Arc::downgrade(run);
    run.service.forwarder.fail(move |_| {
        left = left.checked_sub(1)?;
        run_of_plan.upgrade()?.flights.spoil(number);
        let faults = match part {
            Part::Garbage => garbage(),
            _ => [Fault::HalfAnswer, Fault::HangInAnswer, Fault::CutAfter].to_vec(),
        };
        faults.get(random.usize(..faults.len())).cloned()
    });
}

/// What no store answers.
fn garbage() -> Vec<Fault> {
    let answer = |status, text: &str| Fault::Answer(status, text.to_owned());
    vec![
        answer(200, "no JSON"),
        answer(200, ""),
        answer(200, "[]"),
        answer(200, "{}"),
        answer(200, r#"[{"result":null}]"#),
        answer(200, r#"[{"result":[[["#),
        answer(200, r#"[{"error":"ERR what"}]"#),
        answer(404, "<html>Not found</html>"),
        answer(502, "<html>Bad gateway</html>"),
    ]
}
