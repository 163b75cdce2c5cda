// The package @upstash/ratelimit, unmodified, against the gateway. Every script of its versions
// since 2.1 asks for key locking, which no Redis knows.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";

import { start } from "./support.mjs";

let gateway;
let redis;

before(async () => {
  gateway = await start();
  redis = new Redis({ url: gateway.url, token: gateway.token });
});

after(() => gateway?.stop());

const limiters = {
  fixedWindow: () => Ratelimit.fixedWindow(3, "1 h"),
  slidingWindow: () => Ratelimit.slidingWindow(3, "1 h"),
  tokenBucket: () => Ratelimit.tokenBucket(3, "1 h", 3),
};

for (const [name, limiter] of Object.entries(limiters)) {
  describe(name, () => {
    const ratelimit = (options) =>
      new Ratelimit({ redis, limiter: limiter(), prefix: `ratelimit:${name}`, timeout: 0, ephemeralCache: false, ...options });

    it("allows as many as it may and refuses the next", async () => {
      const limit = ratelimit();
      const answers = [];
      for (let call = 0; call < 5; call += 1) {
        answers.push(await limit.limit("one"));
      }
      assert.deepEqual(answers.map(({ success }) => success), [true, true, true, false, false]);
      assert.deepEqual(answers.map(({ remaining }) => remaining), [2, 1, 0, 0, 0]);
      assert.ok(answers.every((answer) => answer.limit === 3));
    });

    it("never allows more to callers at the same time", async () => {
      const limit = ratelimit();
      const answers = await Promise.all(Array.from({ length: 25 }, () => limit.limit("crowd")));
      assert.equal(answers.filter(({ success }) => success).length, 3);
    });

    it("tells what remains and forgets when told to", async () => {
      const limit = ratelimit();
      await limit.limit("reset");
      assert.equal((await limit.getRemaining("reset")).remaining, 2);
      await limit.resetUsedTokens("reset");
      assert.equal((await limit.getRemaining("reset")).remaining, 3);
    });

    it("goes on after Redis has forgotten its scripts", async () => {
      const limit = ratelimit();
      await limit.limit("flush");
      await redis.scriptFlush();
      const { success, remaining } = await limit.limit("flush");
      assert.deepEqual({ success, remaining }, { success: true, remaining: 1 });
    });

    it("blocks whoever is on the deny list", async () => {
      const limit = ratelimit({ enableProtection: true });
      await redis.sadd(`ratelimit:${name}:denyList:all`, "villain");
      // Or else it would fetch a list of addresses from the internet.
      await redis.set(`ratelimit:${name}:ipDenyListStatus`, "valid", { ex: 100 });
      const { success, reason } = await limit.limit("villain");
      assert.deepEqual({ success, reason }, { success: false, reason: "denyList" });
    });
  });
}
