// Subscriptions of the package @upstash/redis, unmodified, against the gateway.

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, it } from "node:test";

import { Redis } from "@upstash/redis";

import { start } from "./support.mjs";

let gateway;
let redis;

before(async () => {
  gateway = await start();
  redis = new Redis({ url: gateway.url, token: gateway.token });
});

after(() => gateway?.stop());

// Hands the subscriber's events on, so that one can be awaited.
function heard(subscriber, ...names) {
  const events = new EventEmitter();
  names.forEach((name) => subscriber.on(name, (event) => events.emit(name, event)));
  return (name) => once(events, name).then(([event]) => event);
}

it("messages of several channels arrive, objects as objects", { timeout: 10_000 }, async () => {
  const subscriber = redis.subscribe(["news", "weather"]);
  const next = heard(subscriber, "subscribe", "message");
  await next("subscribe");
  while ((await redis.exec(["PUBSUB", "NUMSUB", "news", "weather"])).filter((count) => count === 1).length < 2);
  const message = next("message");
  assert.equal(await redis.publish("weather", { sky: "clear, blue" }), 1);
  assert.deepEqual(await message, { channel: "weather", message: { sky: "clear, blue" } });
  await subscriber.unsubscribe();
});

it("messages of a pattern arrive with the channel they were sent to", { timeout: 10_000 }, async () => {
  const subscriber = redis.psubscribe("room:*");
  const next = heard(subscriber, "psubscribe", "pmessage");
  await next("psubscribe");
  const message = next("pmessage");
  await redis.publish("room:1", { text: "hello" });
  assert.deepEqual(await message, { pattern: "room:*", channel: "room:1", message: { text: "hello" } });
  await subscriber.unsubscribe();
});
