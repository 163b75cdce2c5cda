// Starts a redis-server and the gateway for one test file; both end with it.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BINARY =
  process.env.REDIS_REST_BIN ??
  fileURLToPath(new URL("../../target/debug/redis-rest", import.meta.url));

const TOKEN = "a-token-of-the-tests";

// A shell waits for its standard input to close, so that nothing is left behind even when the
// test process is killed.
export function tied(command, args, env) {
  return spawn("sh", ["-c", '"$0" "$@" </dev/null & cat >/dev/null; kill $!; wait', command, ...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// The first line of a process's output that matches, or an error when it ends without one.
export async function line(process, pattern) {
  for await (const text of createInterface({ input: process.stdout })) {
    const found = text.match(pattern);
    if (found) {
      process.stdout.resume();
      return found;
    }
  }
  throw new Error(`${process.spawnargs.join(" ")} ended without saying ${pattern}`);
}

/** Ends a process that is tied to this one. */
export function ended(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve();
    child.on("exit", resolve);
    child.stdin.end();
  });
}

/** Where the gateway is, and how to end it and its Redis. */
export async function start() {
  const port = await freePort();
  const redis = tied("redis-server", ["--port", String(port), "--save", "", "--appendonly", "no"]);
  await line(redis, /Ready to accept connections/);
  const gateway = tied(BINARY, [], {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    LISTEN: "127.0.0.1:0",
    REDIS_REST_TOKEN: TOKEN,
  });
  const [, url] = await line(gateway, /^redis-rest listening on (http:.*)$/);
  return { url, token: TOKEN, stop: () => Promise.all([gateway, redis].map(ended)) };
}
