// A board for all who watch it. One reads it, once a second at most and only while somebody watches,
// and sends what has changed to each. Who reads slowly gets the newest board next, and not those in
// between: for each there is one text on its way and at most one that waits.

const SECOND = 1000; // milliseconds, as all here
const MOST_RESTS = 7; // seconds without a try, while the store does not answer
const SILENCE = 25 * SECOND; // then comments keep a stream open, and show who has gone
const PATIENCE = 30 * SECOND; // with who does not read what was sent
// A stream ends and its reader comes back: how often one invocation may ask for something has a limit.
const LIFE = 900 * SECOND;

const RETRY = 'retry: 3000\n';
const encoder = new TextEncoder();
const COMMENT = encoder.encode(':\n\n');

// One who reads.
class Watcher {
  #writer;
  #sent; // the version sent last
  #waiting = null; // what comes next
  #since = null; // when what is on its way was written
  #read; // when something was read last
  #again = false; // whether another comment follows
  #opened;

  constructor(limit, known) {
    const { readable, writable } = new IdentityTransformStream();
    this.limit = limit;
    this.readable = readable;
    this.gone = false;
    this.#writer = writable.getWriter();
    this.#sent = known;
    this.#opened = this.#read = Date.now();
  }

  begin(board) {
    const first = this.#sent === board.version ? '\n' : board.text;
    this.#sent = board.version;
    this.#send(encoder.encode(RETRY + first));
  }

  tell(board) {
    if (!board || board.version === this.#sent) return;
    this.#sent = board.version;
    this.#send((board.bytes ??= encoder.encode(board.text)));
  }

  // Sees to it that it stays open, or ends.
  attend(now) {
    if (now - this.#opened >= LIFE) return this.end();
    if (this.#since === null) {
      // Two: who has gone away is noticed by the second, because the first is taken by nobody.
      const silent = now - this.#read >= SILENCE;
      if (silent || this.#again) this.#send(COMMENT);
      this.#again = silent;
    } else if (now - this.#since >= PATIENCE) {
      this.#leave();
      this.#writer.abort('not read in time').catch(() => {});
    }
  }

  end() {
    this.#leave();
    this.#writer.close().catch(() => {});
  }

  #leave() {
    this.gone = true;
    this.#waiting = null;
  }

  async #send(bytes) {
    if (this.#since !== null) {
      this.#waiting = bytes;
      return;
    }
    try {
      while (bytes && !this.gone) {
        this.#since = Date.now();
        await this.#writer.write(bytes);
        bytes = this.#waiting;
        this.#waiting = null;
      }
      this.#since = null;
      this.#read = Date.now();
    } catch {
      // Nobody reads any more.
      this.#leave();
    }
  }
}

export class Hub {
  #look;
  #url;
  #watchers = new Set();
  #openings = []; // those who wait for their first board
  #boards = new Map(); // by how many entries
  #watching = false;
  #rested = 0; // seconds of rest after the last try, 0 where that was well
  #rests = 0; // how many are left

  // `look` reads the board at the URL of a request, for all numbers of entries that are wanted, and
  // tells lines: fresh, stale or failed; the variable that is wrong, or none; why it is not fresh;
  // then a number, a version and a board for each.
  constructor(look) {
    this.#look = look;
  }

  // A stream for who asks: by URL, the version known, and the method. 503 with the variable and why.
  async open(request) {
    this.#url = request.url;
    const limit = new URL(request.url).searchParams.get('limit');
    const board = await this.#first(limit);
    if (board.failure !== undefined) return new Response(board.failure, { status: 503 });
    if (request.method === 'HEAD') return new Response();
    const watcher = new Watcher(limit, request.headers.get('last-event-id'));
    this.#watchers.add(watcher);
    watcher.begin(board);
    return new Response(watcher.readable);
  }

  #first(limit) {
    const board = this.#boards.get(limit);
    if (board && this.#rested === 0) return board;
    const found = new Promise((resolve) => this.#openings.push({ limit, resolve }));
    if (!this.#watching) this.#watch();
    return found;
  }

  async #watch() {
    this.#watching = true;
    while (this.#openings.length || this.#watchers.size) {
      const begun = Date.now();
      if (this.#openings.length || this.#rests-- <= 0) await this.#ask();
      const now = Date.now();
      for (const watcher of this.#watchers) {
        watcher.attend(now);
        if (watcher.gone) this.#watchers.delete(watcher);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(begun + SECOND - now, 0)));
    }
    this.#watching = false;
    this.#boards.clear();
    this.#rests = this.#rested = 0;
  }

  async #ask() {
    const limits = new Set([...this.#openings, ...this.#watchers].map(({ limit }) => limit));
    let exhausted = false;
    const told = await this.#look(new Request(this.#url), [...limits].join()).catch((error) => {
      exhausted = true;
      return `failed\n\n${error?.message}`;
    });
    const [said, variable = '', cause = '', ...rows] = told.split('\n');
    this.#boards.clear();
    for (let at = 0; at + 2 < rows.length; at += 3) {
      const [limit, version, json] = rows.slice(at, at + 3);
      const text = `event: board\nid: ${version}\ndata: ${json}\n\n`;
      this.#boards.set(limit, { version, text });
    }
    this.#rested = said === 'fresh' ? 0 : Math.min(this.#rested * 2 + 1, MOST_RESTS);
    this.#rests = this.#rested;
    // Who came meanwhile too; who wants another number waits for the next.
    const failure = said === 'failed' ? { failure: `${variable}\n${cause}` } : undefined;
    for (const opening of this.#openings.splice(0)) {
      const found = this.#boards.get(opening.limit) ?? failure;
      if (found) opening.resolve(found);
      else this.#openings.push(opening);
    }
    // Of what an invocation may do nothing is left: who comes back brings another.
    exhausted ||= cause.includes('subrequests');
    for (const watcher of this.#watchers) {
      if (exhausted) watcher.end();
      else watcher.tell(this.#boards.get(watcher.limit));
    }
  }
}

// Streams that wait for the answer they are part of, null to a HEAD.
const streams = new Map();
let latest = 0;

// The number of the stream of an object, or why there is none: behind an empty line.
export async function watch(env, name, method, url, known) {
  const object = env.LIVE.get(env.LIVE.idFromName(name));
  const response = await object.fetch(url, { method, headers: { 'last-event-id': known } });
  if (!response.ok) return `\n${await response.text()}`;
  latest += 1;
  streams.set(String(latest), response.body);
  return String(latest);
}

export function streamOf(number) {
  const stream = streams.get(number);
  streams.delete(number);
  return stream;
}
