//! Injects random faults; the same seed injects the same faults.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fastrand::Rng;
use test_support::{Fault, Refusal, Replica, scaled};

use crate::run::{Disconnects, Run, SLOW_STORE};
use crate::service::lock;
use crate::writes::send_again;

/// The time the replica has to copy the data of a Redis that was restarted.
const REPLICA_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    RedisKilled,
    GatewayKilled,
    GatewayHung,
    InvalidResponse,
    PartialResponse,
    RefusedWrites,
    LaggingReplica,
    DisconnectedClients,
    WorkerdKilled,
}

const FAULT_KINDS: [FaultKind; 9] = [
    FaultKind::RedisKilled,
    FaultKind::GatewayKilled,
    FaultKind::GatewayHung,
    FaultKind::InvalidResponse,
    FaultKind::PartialResponse,
    FaultKind::RefusedWrites,
    FaultKind::LaggingReplica,
    FaultKind::DisconnectedClients,
    FaultKind::WorkerdKilled,
];

/// One planned fault.
#[derive(Clone, Debug)]
pub struct PlannedFault {
    /// The time without faults before it.
    pub pause: Duration,
    pub kind: FaultKind,
    pub duration: Duration,
    /// The number of store responses to corrupt, for the kinds that do so.
    pub responses: u32,
    /// Whether workerd is also killed halfway through.
    pub and_workerd: bool,
    /// Whether clients also disconnect meanwhile.
    pub and_clients: bool,
    seed: u64,
}

/// Returns an endless sequence of faults. Every kind occurs once before any occurs again.
pub fn plan(seed: u64) -> impl Iterator<Item = PlannedFault> {
    let mut random = Rng::with_seed(seed);
    let rounds = std::iter::repeat_with(move || {
        let mut kinds = FAULT_KINDS;
        random.shuffle(&mut kinds);
        let fault = |kind| {
            let is_workerd = kind == FaultKind::WorkerdKilled;
            // Short, so that workerd dies with messages queued because of the previous fault.
            let pause = if is_workerd { 0..2_000 } else { 300..5_000 };
            PlannedFault {
                pause: Duration::from_millis(random.u64(pause)),
                kind,
                duration: Duration::from_millis(random.u64(100..2_500)),
                responses: random.u32(1..=30),
                and_workerd: !is_workerd && random.u8(..5) == 0,
                and_clients: !is_workerd && random.u8(..4) == 0,
                seed: random.u64(..),
            }
        };
        kinds.map(fault)
    });
    rounds.flatten()
}

/// The injected faults, each with its number.
pub type InjectedFaults = Vec<(FaultKind, usize)>;

/// Injects faults for `duration`, and longer if fewer than `min_faults` have affected a request.
pub async fn inject(
    run: &Arc<Run>,
    seed: u64,
    duration: Duration,
    min_faults: usize,
) -> InjectedFaults {
    let begin = Instant::now();
    let mut injected = InjectedFaults::new();
    for fault in plan(seed) {
        let faults = run.in_flight.faults();
        let effective = faults.iter().filter(|fault| fault.affected > 0).count();
        let is_overdue = begin.elapsed() > scaled(duration * 2 + Duration::from_secs(60));
        if (begin.elapsed() >= duration && effective >= min_faults) || is_overdue {
            break;
        }
        tokio::time::sleep(fault.pause).await;
        inject_one(run, &fault, &mut injected).await;
    }
    run.is_over.store(true, Ordering::Relaxed);
    injected
}

async fn inject_one(run: &Arc<Run>, fault: &PlannedFault, injected: &mut InjectedFaults) {
    let (service, kind) = (&run.service, fault.kind);
    if kind != FaultKind::WorkerdKilled {
        await_requests(run).await;
    }
    if fault.and_clients || kind == FaultKind::DisconnectedClients {
        let number = run.in_flight.record_selective_fault();
        injected.push((FaultKind::DisconnectedClients, number));
        let random = Rng::with_seed(fault.seed);
        *lock(&run.disconnects) = Some(Disconnects {
            fault: number,
            random,
        });
    }
    match kind {
        FaultKind::RedisKilled => {
            injected.push((kind, run.in_flight.record_fault()));
            tokio::task::block_in_place(|| lock(&service.redis).kill());
            wait(run, fault, injected).await;
            tokio::task::block_in_place(|| lock(&service.redis).restart());
        }
        FaultKind::GatewayKilled => {
            injected.push((kind, run.in_flight.record_fault()));
            tokio::task::block_in_place(|| lock(&service.gateway).kill());
            wait(run, fault, injected).await;
            tokio::task::block_in_place(|| lock(&service.gateway).restart());
        }
        FaultKind::GatewayHung => {
            injected.push((kind, run.in_flight.record_fault()));
            lock(&service.gateway).pause();
            wait(run, fault, injected).await;
            lock(&service.gateway).resume();
        }
        FaultKind::InvalidResponse | FaultKind::PartialResponse | FaultKind::RefusedWrites => {
            let number = run.in_flight.record_selective_fault();
            injected.push((kind, number));
            corrupt_responses(run, fault, number);
            wait(run, fault, injected).await;
            service.forwarder.heal();
        }
        FaultKind::LaggingReplica => {
            await_replica(&service.replica).await;
            let number = run.in_flight.record_selective_fault();
            injected.push((kind, number));
            let before = service.replica.stale_reads();
            service.replica.pause_replication();
            service.forwarder.fail(|_| Some(Fault::ReadReplica));
            wait(run, fault, injected).await;
            service.replica.resume_replication();
            // Reads that the replica serves while it catches up.
            await_replica(&service.replica).await;
            service.forwarder.heal();
            for _ in before..service.replica.stale_reads() {
                run.in_flight.record_affected(number, true);
            }
        }
        FaultKind::DisconnectedClients => {
            let mut random = Rng::with_seed(fault.seed);
            let mut delay = move || Fault::Delay(SLOW_STORE.mul_f64(random.f64()));
            service.forwarder.fail(move |_| Some(delay()));
            wait(run, fault, injected).await;
            service.forwarder.heal();
        }
        FaultKind::WorkerdKilled => kill_workerd(run, injected).await,
    }
    *lock(&run.disconnects) = None;
}

/// Waits until the replica has all writes. After a restart of Redis it copies all data.
async fn await_replica(replica: &Replica) {
    let deadline = Instant::now() + scaled(REPLICA_TIMEOUT);
    while !replica.is_current().await && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the store is healthy and at least two requests to it are in flight.
async fn await_requests(run: &Run) {
    let deadline = Instant::now() + scaled(Duration::from_secs(10));
    let is_ready = || run.is_store_healthy() && run.service.forwarder.under_way() >= 2;
    while !is_ready() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits for the duration of a fault, and kills workerd halfway if planned.
async fn wait(run: &Arc<Run>, fault: &PlannedFault, injected: &mut InjectedFaults) {
    tokio::time::sleep(fault.duration / 2).await;
    if fault.and_workerd {
        kill_workerd(run, injected).await;
    }
    tokio::time::sleep(fault.duration / 2).await;
}

async fn kill_workerd(run: &Arc<Run>, injected: &mut InjectedFaults) {
    let (mut fault, mut lost) = (None, Vec::new());
    let just_before = || {
        let deadline = Instant::now() + scaled(Duration::from_secs(2));
        while run.in_flight.count() < 3 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        fault = Some(run.in_flight.record_fault());
    };
    let meanwhile = || lost = run.tracker.workerd_died();
    run.service.kill_workerd(just_before, meanwhile).await;
    run.tracker.workerd_restarted();
    injected.extend(fault.map(|fault| (FaultKind::WorkerdKilled, fault)));
    send_again(run, lost);
}

/// Corrupts the planned number of store responses.
fn corrupt_responses(run: &Arc<Run>, fault: &PlannedFault, number: usize) {
    let mut random = Rng::with_seed(fault.seed);
    let (mut remaining, kind) = (fault.responses, fault.kind);
    let run_of_plan = Arc::downgrade(run);
    run.service.forwarder.fail(move |_| {
        remaining = remaining.checked_sub(1)?;
        let run = run_of_plan.upgrade()?;
        run.in_flight.record_affected(number, true);
        let faults = match kind {
            FaultKind::InvalidResponse => invalid_responses(),
            FaultKind::RefusedWrites => refused_writes(random.usize(1..30)),
            _ => [
                Fault::PartialResponse,
                Fault::HangInResponse,
                Fault::CutAfter,
            ]
            .to_vec(),
        };
        faults.get(random.usize(..faults.len())).cloned()
    });
}

/// Returns stores that refuse this write of each script, alone or with all later ones.
fn refused_writes(number: usize) -> Vec<Fault> {
    let refusals = [Refusal::Only(number), Refusal::From(number)];
    refusals.map(Fault::RefuseWrites).to_vec()
}

/// Returns responses that no store sends.
fn invalid_responses() -> Vec<Fault> {
    let response = |status, text: &str| Fault::Respond(status, text.to_owned());
    vec![
        response(200, "no JSON"),
        response(200, ""),
        response(200, "[]"),
        response(200, "{}"),
        response(200, r#"[{"result":null}]"#),
        response(200, r#"[{"result":[[["#),
        response(200, r#"[{"error":"ERR what"}]"#),
        response(404, "<html>Not found</html>"),
        response(502, "<html>Bad gateway</html>"),
    ]
}
