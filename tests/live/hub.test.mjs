// Who gets which board when, of src/http/live.js: what takes minutes, or nobody can make a real
// network do.

import assert from "node:assert/strict";
import { afterEach, beforeEach, it, mock } from "node:test";

const SECOND = 1000;

// As the platform has it: a write is done when it has been read.
globalThis.IdentityTransformStream = class extends TransformStream {
  constructor() {
    super({}, { highWaterMark: 1 }, { highWaterMark: 0 });
  }
};

const { Hub } = await import("../../src/http/live.js");

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "Date"] }));
afterEach(() => mock.timers.reset());

// Lets all that waits for nothing but promises go on.
async function settle() {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

async function pass(seconds) {
  for (let second = 0; second < seconds; second += 1) {
    mock.timers.tick(SECOND);
    await settle();
  }
}

// A hub over a board that is what `board.says` is, and how often it was asked.
function start() {
  const board = { says: "a", asked: [], failing: null };
  const hub = new Hub(async (request, limits) => {
    board.asked.push(limits);
    if (board.failing) return board.failing(limits);
    return `fresh\n\n\n${rows(limits, board.says)}`;
  });
  return { hub, board };
}

const rows = (limits, says) =>
  limits
    .split(",")
    .map((limit) => `${limit}\n${says}\n{"says":"${says}"}`)
    .join("\n");

const text = (says) => `event: board\nid: ${says}\ndata: {"says":"${says}"}\n\n`;

async function open(hub, { limit = 30, known = "", method = "GET" } = {}) {
  const url = `https://rank.example/v1/ranking/day/live?limit=${limit}`;
  const opening = hub.open(new Request(url, { method, headers: { "last-event-id": known } }));
  await settle();
  return opening;
}

// Reads on and on; `texts` is what came, `ended` how it ended.
function read(response) {
  const reading = { texts: [], ended: null, reader: response.body.getReader() };
  const decoder = new TextDecoder();
  (async () => {
    for (;;) {
      const { done, value } = await reading.reader.read();
      if (done) return "closed";
      reading.texts.push(decoder.decode(value));
    }
  })().then(
    (how) => (reading.ended = how),
    () => (reading.ended = "cut"),
  );
  return reading;
}

it("one question a second answers all, for each number of entries that is wanted", async () => {
  const { hub, board } = start();
  const openings = [30, 7, 30, 30].map((limit) => open(hub, { limit }));
  const first = await Promise.all(openings.filter((_, place) => place !== 1));
  // The other number was not asked for, and its reader waits for the next second.
  assert.deepEqual(board.asked, ["30"]);
  await pass(1);
  assert.deepEqual(board.asked, ["30", "7,30"]);
  const readers = [...first, await openings[1]].map(read);
  await settle();
  board.says = "b";
  await pass(3);
  assert.deepEqual(board.asked.slice(2), Array(3).fill("30,7"));
  for (const { texts } of readers) assert.deepEqual(texts, [`retry: 3000\n${text("a")}`, text("b")]);
});

it("who does not read gets the newest board next, and none of those in between", async () => {
  const { hub, board } = start();
  const [quick, slow] = [read(await open(hub)), await open(hub)];
  for (const says of ["b", "c", "d", "e"]) {
    board.says = says;
    await pass(1);
  }
  const first = `retry: 3000\n${text("a")}`;
  assert.deepEqual(quick.texts, [first, ...["b", "c", "d", "e"].map(text)]);
  const late = read(slow);
  await settle();
  assert.deepEqual(late.texts, [first, text("e")]);
});

it("who has not read anything for half a minute is cut off, and the others go on", async () => {
  const { hub, board } = start();
  const [quick, slow] = [read(await open(hub)), await open(hub)];
  await pass(29);
  board.says = "b";
  await pass(2);
  const late = read(slow);
  await settle();
  assert.equal(late.ended, "cut");
  assert.deepEqual(late.texts, []);
  assert.equal(quick.ended, null);
  assert.equal(quick.texts.at(-1), text("b"));
});

it("comments come after 25 seconds in which nothing else did, two, because the first to who has gone is lost", async () => {
  const { hub, board } = start();
  const { texts } = read(await open(hub, { known: "a" }));
  await settle();
  assert.deepEqual(texts, ["retry: 3000\n\n"]);
  await pass(24);
  assert.equal(texts.length, 1);
  await pass(3);
  assert.deepEqual(texts.slice(1), [":\n\n", ":\n\n"]);
  await pass(10);
  board.says = "b";
  await pass(25);
  assert.deepEqual(texts.slice(3), [text("b")]);
  await pass(3);
  assert.deepEqual(texts.slice(4), [":\n\n", ":\n\n"]);
});

it("nobody asks when nobody watches, and who goes away is no watcher", async () => {
  const { hub, board } = start();
  const { reader } = read(await open(hub));
  await pass(3);
  await reader.cancel();
  board.says = "b"; // What is written to them tells that they have gone.
  await pass(2);
  const asked = board.asked.length;
  await pass(60);
  assert.equal(board.asked.length, asked);
  const again = read(await open(hub, { known: "b" }));
  assert.equal(board.asked.length, asked + 1);
  await settle();
  assert.deepEqual(again.texts, ["retry: 3000\n\n"]);
});

it("HEAD asks and opens nothing", async () => {
  const { hub, board } = start();
  const response = await open(hub, { method: "HEAD" });
  assert.deepEqual([response.status, response.body], [200, null]);
  await pass(5);
  assert.equal(board.asked.length, 1);
});

it("while the store is away it is asked less and less, and by whoever comes", async () => {
  const { hub, board } = start();
  const { texts } = read(await open(hub));
  board.failing = (limits) => `stale\n\nNo answer.\n${rows(limits, "old")}`;
  await pass(1);
  assert.equal(texts.at(-1), text("old"));
  const [asked, when] = [board.asked.length, []];
  for (let second = 1; second <= 40; second += 1) {
    const before = board.asked.length;
    await pass(1);
    if (board.asked.length > before) when.push(second);
  }
  assert.deepEqual(when, [2, 6, 14, 22, 30, 38]);
  const said = texts.filter((one) => one.includes("old"));
  assert.deepEqual(said, [text("old")], "nothing is said twice");
  const opening = open(hub);
  await pass(1);
  assert.equal(board.asked.length, asked + when.length + 1);
  const late = read(await opening);
  await settle();
  assert.deepEqual(late.texts, [`retry: 3000\n${text("old")}`]);
  board.failing = null;
  await pass(8);
  assert.equal(texts.at(-1), text("a"));
  const now = board.asked.length;
  await pass(5);
  assert.equal(board.asked.length, now + 5);
});

it("where nothing is known who comes is told which variable and why, and who watches nothing", async () => {
  const { hub, board } = start();
  const { texts } = read(await open(hub));
  board.failing = () => "failed\nPREFIX\nchoose another";
  await pass(1);
  const opening = open(hub);
  await pass(1);
  const response = await opening;
  assert.deepEqual([response.status, await response.text()], [503, "PREFIX\nchoose another"]);
  assert.equal(texts.length, 1);
});

it("where the platform lets it ask no more, or it is broken, streams end and who comes back is served", async () => {
  for (const failing of [
    (limits) => `stale\n\nToo many subrequests by one invocation.\n${rows(limits, "old")}`,
    () => Promise.reject(new Error("broken")),
  ]) {
    const { hub, board } = start();
    const reading = read(await open(hub));
    board.failing = failing;
    await pass(1);
    assert.equal(reading.ended, "closed");
    board.failing = null;
    await pass(1);
    const opening = open(hub, { known: "a" });
    await pass(1);
    assert.deepEqual(read(await opening).ended, null);
  }
});

it("a stream ends after a quarter of an hour", async () => {
  const { hub } = start();
  const reading = read(await open(hub));
  await pass(899);
  assert.equal(reading.ended, null);
  await pass(2);
  assert.equal(reading.ended, "closed");
});
