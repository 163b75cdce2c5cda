// @ts-nocheck
// Made by scripts/recipes.mjs from recipes/receiver and sdk/js: change these.

// sdk/js/src/errors.js
var ApiError = class extends Error {
  name = "ApiError";
  /**
   * @param {string} operation
   * @param {Problem} problem
   * @param {{ requestId?: string, retryAfter?: number }} [details]
   */
  constructor(operation, problem, { requestId, retryAfter } = {}) {
    super(`${operation}: ${problem.status} ${problem.title}${problem.detail ? `: ${problem.detail}` : ""}`);
    this.operation = operation;
    this.status = problem.status;
    this.problem = problem;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
};
var ConnectionError = class extends Error {
  name = "ConnectionError";
  /**
   * @param {string} operation
   * @param {unknown} cause
   */
  constructor(operation, cause) {
    super(`${operation}: no response: ${reason(cause)}`, { cause });
    this.operation = operation;
  }
};
function reason(error) {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message ? `${error.message}: ${cause.message}` : error.message;
}

// sdk/js/src/activity.js
function userId(id, name = "user") {
  if (typeof id === "string") return id;
  if (Number.isSafeInteger(id) || typeof id === "bigint" && BigInt.asIntN(65, id) === id) return String(id);
  throw new TypeError(`\`${name}\` must be a string or an integer below 2^53.`);
}
var integersAsText = (name, value) => (name === "user" || name === "author") && (typeof value === "number" || typeof value === "bigint") ? userId(value, name) : value;

// sdk/js/src/operations.js
var OPERATIONS = (
  /** @type {const} */
  {
    countActivity: ["POST", "/v1/activity"],
    getBoard: ["GET", "/v1/ranking/{period}"],
    watchBoard: ["GET", "/v1/ranking/{period}/live"],
    getWinners: ["GET", "/v1/ranking/{period}/winners"],
    getStanding: ["GET", "/v1/ranking/{period}/users/{user}"],
    compareStandings: ["GET", "/v1/ranking/{period}/users"],
    listAchievements: ["GET", "/v1/achievements"],
    listEvents: ["GET", "/v1/events"],
    getEvent: ["GET", "/v1/events/{event}"],
    putEvent: ["PUT", "/v1/events/{event}"],
    deleteEvent: ["DELETE", "/v1/events/{event}"],
    recountEvent: ["POST", "/v1/events/{event}/recount"],
    getRules: ["GET", "/v1/rules"],
    publishRules: ["POST", "/v1/rules"],
    getRulesPreview: ["GET", "/v1/rules/preview"],
    previewRules: ["POST", "/v1/rules/preview"],
    cancelRulesPreview: ["DELETE", "/v1/rules/preview"],
    takeBackRules: ["DELETE", "/v1/rules/{version}"],
    getEventBoard: ["GET", "/v1/events/{event}/ranking"],
    watchEventBoard: ["GET", "/v1/events/{event}/live"],
    getEventStanding: ["GET", "/v1/events/{event}/ranking/users/{user}"],
    compareEventStandings: ["GET", "/v1/events/{event}/ranking/users"],
    getContentBoard: ["GET", "/v1/content/{period}"],
    getHotTargets: ["GET", "/v1/content/hot"],
    watchContentBoard: ["GET", "/v1/content/{period}/live"],
    getTargetStanding: ["GET", "/v1/content/{period}/targets/{target}"],
    getAuthorsBoard: ["GET", "/v1/authors/{period}"],
    watchAuthorsBoard: ["GET", "/v1/authors/{period}/live"],
    getAuthorStanding: ["GET", "/v1/authors/{period}/users/{user}"],
    getTarget: ["GET", "/v1/targets/{target}"],
    putTarget: ["PUT", "/v1/targets/{target}"],
    deleteTarget: ["DELETE", "/v1/targets/{target}"],
    getTargetModeration: ["GET", "/v1/targets/{target}/moderation"],
    putTargetModeration: ["PUT", "/v1/targets/{target}/moderation"],
    putTargets: ["PUT", "/v1/targets"],
    getHistory: ["GET", "/v1/users/{user}/activity"],
    listDone: ["GET", "/v1/users/{user}/done"],
    listStandings: ["GET", "/v1/users/{user}/standings"],
    getProfile: ["GET", "/v1/users/{user}"],
    putProfile: ["PUT", "/v1/users/{user}"],
    eraseUser: ["DELETE", "/v1/users/{user}"],
    putProfiles: ["PUT", "/v1/users"],
    listPoints: ["GET", "/v1/users/{user}/points"],
    getAchievements: ["GET", "/v1/users/{user}/achievements"],
    awardAchievement: ["PUT", "/v1/users/{user}/achievements/{achievement}"],
    withdrawAchievement: ["DELETE", "/v1/users/{user}/achievements/{achievement}"],
    getCredential: ["GET", "/v1/users/{user}/achievements/{achievement}/credential"],
    getIssuer: ["GET", "/v1/issuer"],
    getIssuerKeys: ["GET", "/v1/issuer/keys"],
    getIssuerKey: ["GET", "/v1/issuer/keys/{key}"],
    getCard: ["GET", "/v1/users/{user}/card"],
    getCardPicture: ["GET", "/v1/users/{user}/card.svg"],
    getBadge: ["GET", "/v1/users/{user}/badge.svg"],
    listUserTargets: ["GET", "/v1/users/{user}/targets"],
    listPauses: ["GET", "/v1/users/{user}/pause"],
    putPause: ["PUT", "/v1/users/{user}/pause"],
    deletePauses: ["DELETE", "/v1/users/{user}/pause"],
    getToken: ["GET", "/v1/token"],
    getAccount: ["GET", "/v1/users/{user}/account"],
    putAccount: ["PUT", "/v1/users/{user}/account"],
    deleteAccount: ["DELETE", "/v1/users/{user}/account"],
    getModeration: ["GET", "/v1/users/{user}/moderation"],
    putModeration: ["PUT", "/v1/users/{user}/moderation"],
    adjustPoints: ["POST", "/v1/users/{user}/adjustments"],
    getAudit: ["GET", "/v1/moderation"],
    listCases: ["GET", "/v1/cases"],
    openCase: ["POST", "/v1/cases"],
    searchCases: ["POST", "/v1/cases/search"],
    getCase: ["GET", "/v1/cases/{id}"],
    putCase: ["PUT", "/v1/cases/{id}"],
    getJournal: ["GET", "/v1/journal"],
    listDeliveries: ["GET", "/v1/webhooks/deliveries"],
    retryDelivery: ["POST", "/v1/webhooks/deliveries/{id}/retry"],
    getStats: ["GET", "/v1/stats"],
    getStatus: ["GET", "/v1/status"],
    getDigest: ["GET", "/v1/digest/{week}"],
    getAtomFeed: ["GET", "/v1/feed.atom"],
    getJsonFeed: ["GET", "/v1/feed.json"],
    getMetrics: ["GET", "/metrics"],
    getHealth: ["GET", "/healthz"],
    getOpenApi: ["GET", "/openapi.json"],
    getManifest: ["GET", "/site.webmanifest"],
    getPage: ["GET", "/"],
    getMemberPage: ["GET", "/u/{user}"],
    getRecapPage: ["GET", "/u/{user}/{period}"],
    getSharePicture: ["GET", "/u/{user}/share.svg"],
    getPlayground: ["GET", "/try"],
    getStatusPage: ["GET", "/status"],
    getAdminPage: ["GET", "/admin"],
    getGallery: ["GET", "/gallery"],
    getDocs: ["GET", "/docs"]
  }
);

// sdk/js/src/retry.js
var LONGEST_TIMER = 2 ** 31 - 1;
var RETRY_DEFAULTS = {
  attempts: 4,
  baseDelay: 250,
  maxDelay: 3e4,
  maxRetryAfter: 6e4,
  random: Math.random
};
function retryDelay(attempt, retryAfter, { baseDelay, maxDelay, random }) {
  return (retryAfter ?? 0) + random() * Math.min(maxDelay, baseDelay * 2 ** attempt);
}
function parseRetryAfter(headers) {
  const value = headers.get("retry-after")?.trim();
  if (!value) return void 0;
  if (/^\d+$/.test(value)) return Number(value) * 1e3;
  const date = Date.parse(value);
  if (Number.isNaN(date)) return void 0;
  return Math.max(0, date - (Date.parse(headers.get("date") ?? "") || Date.now()));
}
var isTemporaryStatus = (status) => status !== void 0 && (status === 408 || status === 429 || status >= 500);
var isTemporary = (error) => error instanceof ConnectionError || error instanceof ApiError && isTemporaryStatus(error.status);
function sleep(ms, signal) {
  return new Promise((resolve2, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", abort);
        resolve2();
      },
      Math.min(ms, LONGEST_TIMER)
    );
    signal?.addEventListener("abort", abort, { once: true });
  });
}
async function withTimeout(ms, signal, run) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const expire = () => controller.abort(new DOMException(`No response within ${ms} ms.`, "TimeoutError"));
  const timer = setTimeout(expire, Math.min(ms, LONGEST_TIMER));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

// sdk/js/src/http.js
var TIMEOUT = 2e4;
var Transport = class {
  /** @type {Required<RetryOptions>} */
  retry;
  #base;
  #key;
  #fetch;
  #timeout;
  /** @param {Pick<ClientOptions, 'url' | 'key' | 'fetch' | 'timeout' | 'retry'>} options */
  constructor({ url, key, fetch = globalThis.fetch, timeout = TIMEOUT, retry = {} }) {
    const { origin, pathname } = new URL(url);
    this.#base = origin + pathname.replace(/\/+$/, "");
    if (typeof key === "string") checkCredentials(key);
    this.#key = key;
    this.#fetch = (url2, init) => fetch(url2, init);
    this.#timeout = timeout;
    this.retry = { ...RETRY_DEFAULTS, ...retry };
  }
  /**
   * Sends a request until it succeeds, fails for good, or the attempts are used up. Returns the decoded response.
   * @param {Operation} operation
   * @param {Record<string, unknown>} [args] parameters of path and query by name, and `body`
   * @param {CallOptions} [options]
   * @returns {Promise<Decoded<unknown>>}
   */
  async request(operation, args, options = {}) {
    const attempts = options.attempts ?? this.retry.attempts;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(operation, args, options);
      } catch (error) {
        options.signal?.throwIfAborted();
        const retryAfter = error instanceof ApiError ? error.retryAfter : void 0;
        const isPatient = (retryAfter ?? 0) <= this.retry.maxRetryAfter;
        if (!isTemporary(error) || attempt + 1 >= attempts || !isPatient) throw error;
        await sleep(retryDelay(attempt, retryAfter, this.retry), options.signal);
      }
    }
  }
  /**
   * Sends a request once. Throws unless the status is 2xx or 304.
   * @param {Operation} operation
   * @param {Record<string, unknown>} args
   * @param {CallOptions} options
   * @param {AbortSignal} signal
   */
  async open(operation, args = {}, { token, headers: extra }, signal) {
    const { url, body } = resolve(this.#base, operation, args);
    const headers = new Headers(extra);
    const credentials = token ?? (typeof this.#key === "function" ? await this.#key() : this.#key);
    if (credentials !== void 0) headers.set("authorization", `Bearer ${checkCredentials(credentials)}`);
    if (body !== void 0) headers.set("content-type", "application/json");
    const [method] = OPERATIONS[operation];
    let response;
    try {
      response = await this.#fetch(url, { method, headers, body, signal, redirect: "manual" });
    } catch (error) {
      throw new ConnectionError(operation, signal.aborted ? signal.reason : error);
    }
    if (response.ok || response.status === 304) return response;
    throw new ApiError(operation, await problemOf(response), {
      requestId: response.headers.get("x-request-id") ?? void 0,
      retryAfter: parseRetryAfter(response.headers)
    });
  }
  /**
   * @param {Operation} operation
   * @param {Record<string, unknown> | undefined} args
   * @param {CallOptions} options
   */
  #attempt(operation, args, options) {
    return withTimeout(options.timeout ?? this.#timeout, options.signal, async (signal) => {
      const response = await this.open(operation, args, options, signal);
      const { status, headers } = response;
      try {
        return { status, headers, body: await bodyOf(response) };
      } catch (error) {
        throw new ConnectionError(operation, signal.aborted ? signal.reason : error);
      }
    });
  }
};
function textOf(value) {
  if (!Array.isArray(value)) return String(value);
  return value.map((item) => String(item).replace(/[%,]/g, encodeURIComponent)).join();
}
function resolve(base, operation, { body, ...args }) {
  const [, template] = OPERATIONS[operation];
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(integersAsText(name, args[name]) ?? "");
    delete args[name];
    if (["", ".", ".."].includes(value)) throw new TypeError(`${operation}: \`${name}\` must not be "${value}".`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) if (value !== void 0) query.set(name, textOf(value));
  const url = base + path + (query.size ? `?${query}` : "");
  return { url, body: body === void 0 ? void 0 : JSON.stringify(body, integersAsText) };
}
function checkCredentials(text) {
  if (typeof text === "string" && /^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError("A service key or user token must be a string of visible ASCII characters, without white space.");
}
async function bodyOf(response) {
  const text = await response.text();
  if (response.status === 204 || response.status === 304) return void 0;
  return /^application\/([\w.-]+\+)?json\b/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text;
}
async function problemOf(response) {
  const { status, statusText } = response;
  const unknown = { type: "about:blank", title: statusText || "No problem document", status };
  try {
    const body = await bodyOf(response);
    return typeof body?.title === "string" ? { ...body, status } : unknown;
  } catch {
    return unknown;
  }
}

// recipes/receiver/problem.js
var TITLES = (
  /** @type {const} */
  {
    "invalid-request": [400, "The request is invalid"],
    unauthenticated: [401, "The signature is missing or invalid"],
    "method-not-allowed": [405, "The method is not allowed"],
    "too-large": [413, "The request is too large"],
    "unsupported-media-type": [415, "The media type is not supported"],
    misconfigured: [500, "The receiver is misconfigured"],
    "store-unavailable": [503, "The activity cannot be counted now"]
  }
);
var Problem = class extends Error {
  /**
   * @param {keyof typeof TITLES} slug
   * @param {string} detail
   * @param {Record<string, string>} [headers]
   */
  constructor(slug, detail, headers = {}) {
    super(detail);
    const [status, title] = TITLES[slug];
    this.document = { type: `/problems/${slug}`, title, status, detail };
    this.headers = headers;
  }
};
var problemResponse = (document, headers) => new Response(JSON.stringify(document), {
  status: document.status,
  headers: { ...headers, "content-type": "application/problem+json" }
});

// recipes/receiver/deployment.js
var RETRY_AFTER = 60;
function connect({ RANK, ACTIVITY_RANK_URL, ACTIVITY_RANK_KEY }) {
  if (!ACTIVITY_RANK_KEY) throw new Problem("misconfigured", "The secret ACTIVITY_RANK_KEY is not set.");
  const retry = { attempts: 1 };
  if (!RANK && !ACTIVITY_RANK_URL) throw new Problem("misconfigured", "Neither RANK nor ACTIVITY_RANK_URL is set.");
  const fetch = RANK && ((...request) => RANK.fetch(...request));
  const url = RANK ? "https://activity-rank" : String(ACTIVITY_RANK_URL);
  try {
    return new Transport({ url, key: ACTIVITY_RANK_KEY, fetch, retry });
  } catch {
    throw new Problem("misconfigured", "ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.");
  }
}
async function send(client, { activities, undos, profiles, targets }, timeout) {
  const options = { signal: AbortSignal.timeout(timeout) };
  try {
    await Promise.all([
      ...[...targets].map(([target, body]) => optional(client.request("putTarget", { target, body }, options))),
      ...[...profiles].map(([user, body]) => optional(putProfile(client, user, body, options)))
    ]);
    const results = activities.length ? await count(client, activities, options) : [];
    for (const undo of undos) results.push(...await undoForAll(client, undo, options));
    return results;
  } catch (error) {
    if (error instanceof ConnectionError || options.signal.aborted) throw unavailable();
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401 || error.status === 403) {
      throw new Problem("misconfigured", "The deployment refused ACTIVITY_RANK_KEY, or the key lacks a scope.");
    }
    if (error.status >= 500 || error.status === 429) throw unavailable(error.retryAfter);
    throw error;
  }
}
async function count(client, body, options) {
  const response = await client.request("countActivity", { body }, options);
  return (
    /** @type {{ results: ActivityResult[] }} */
    response.body.results
  );
}
async function undoForAll(client, { user, ...activity }, options) {
  const body = { ...activity, undo: true };
  const results = [];
  try {
    for (let isComplete = false; !isComplete; ) {
      const response = await client.request("countActivity", { body }, options);
      const page = (
        /** @type {{ results: ActivityResult[], more?: boolean }} */
        response.body
      );
      results.push(...page.results);
      isComplete = !page.more || !page.results.some(({ error }) => !error);
    }
  } catch (error) {
    const needsUser = error instanceof ApiError && error.problem.type === "/problems/not-undoable";
    if (!needsUser || user === void 0) throw error;
  }
  return results.length || user === void 0 ? results : count(client, [{ ...body, user }], options);
}
async function putProfile(client, user, profile, options) {
  const stored = await client.request("getProfile", { user }, options).then(
    ({ body }) => (
      /** @type {Record<string, unknown>} */
      body
    ),
    (error) => {
      if (error instanceof ApiError && error.status === 404) return {};
      throw error;
    }
  );
  const { id, level, hidden, ...kept } = stored;
  const isSame = Object.entries(profile).every(([name, value]) => stored[name] === value);
  if (!isSame) await client.request("putProfile", { user, body: { ...kept, ...profile } }, options);
}
async function optional(request) {
  try {
    await request;
  } catch (error) {
    if (error instanceof TypeError) return;
    const isRefused = error instanceof ApiError && [400, 404, 409, 422].includes(error.status);
    if (!isRefused) throw error;
    if (error.status !== 404) console.warn(error.message);
  }
}
function unavailable(retryAfter) {
  const seconds = retryAfter === void 0 ? RETRY_AFTER : Math.ceil(retryAfter / 1e3);
  return new Problem("store-unavailable", "The deployment did not count the activity. Send the delivery again.", {
    "retry-after": String(seconds)
  });
}

// recipes/receiver/mapping.js
var RULE_FIELDS = [
  "if",
  "unless",
  "action",
  "user",
  "target",
  "on",
  "author",
  "at",
  "undo",
  "source_gone",
  "groups",
  "profile",
  "about"
];
var NAME_LENGTH = 80;
var TITLE_LENGTH = 200;
function checkMapping({ events, users = {}, private: isPrivate = false, categories = [] }) {
  if (typeof events !== "object") throw new Error("mapping.json: `events` must be an object of rules by event.");
  for (const [event, rules] of Object.entries(events)) {
    for (const rule of [rules].flat()) {
      if (![void 0, true, false, "all"].includes(rule.undo)) {
        throw new Error(`mapping.json: ${event}: \`undo\` must be true, false or "all".`);
      }
      const unknown = Object.keys(rule).find((name) => !RULE_FIELDS.includes(name));
      if (unknown) throw new Error(`mapping.json: ${event}: unknown field \`${unknown}\`.`);
      for (
        const name of
        /** @type {const} */
        ["action", "user", "target"]
      ) {
        if (!rule[name] && !(name === "user" && rule.undo === "all"))
          throw new Error(`mapping.json: ${event}: \`${name}\` is missing.`);
      }
    }
  }
  if (typeof isPrivate !== "boolean") throw new Error("mapping.json: `private` must be true or false.");
  if (!Array.isArray(categories) || !categories.every(Number.isInteger)) {
    throw new Error("mapping.json: `categories` must be a list of integers.");
  }
  const invalid = Object.entries(users).find(([, user]) => typeof user !== "string");
  if (invalid) throw new Error(`mapping.json: users: the value of \`${invalid[0]}\` must be a string.`);
}
function changesOf(mapping, event, payload, { isPrivate = false, isBot = false } = {}) {
  const changes = { activities: [], undos: [], profiles: /* @__PURE__ */ new Map(), targets: /* @__PURE__ */ new Map() };
  const rules = event !== void 0 && Object.hasOwn(mapping.events, event) ? [mapping.events[event]].flat() : [];
  const isLeftOut = isBot || isPrivate && !mapping.private;
  for (const rule of rules) {
    if ((rule.undo || !isLeftOut) && applies(rule, payload)) addChanges(changes, rule, mapping, payload);
  }
  return changes;
}
function applies(rule, payload) {
  const holds = ([path, values]) => [values].flat().includes(
    /** @type {any} */
    field(payload, path) ?? null
  );
  return Object.entries(rule.if ?? {}).every(holds) && !Object.entries(rule.unless ?? {}).some(holds);
}
function addChanges(changes, rule, mapping, payload) {
  const fill = (template) => filled(template, payload);
  const required = (name) => {
    const text = fill(rule[name]);
    if (text === void 0)
      throw new Problem("invalid-request", `The payload has no \`${[rule[name]].flat().join("` or `")}\`.`);
    return text;
  };
  const own = (id) => {
    const { users = {} } = mapping;
    return id !== void 0 && Object.hasOwn(users, id) ? users[id] : id;
  };
  if (rule.undo === "all") {
    const undo = {
      action: rule.action,
      target: required("target"),
      source_gone: rule.source_gone,
      at: fill(rule.at),
      user: own(fill(rule.user))
    };
    changes.undos.push(
      /** @type {typeof undo & { target: string }} */
      present(undo)
    );
    return;
  }
  const sender = required("user");
  const user = own(sender) ?? sender;
  const target = required("target");
  const on = fill(rule.on);
  changes.activities.push(
    /** @type {Activity} */
    present({
      user,
      action: rule.action,
      target,
      undo: rule.undo,
      source_gone: rule.undo && rule.source_gone,
      on: rule.undo ? void 0 : on,
      author: rule.undo ? void 0 : own(fill(rule.author)),
      at: fill(rule.at),
      groups: rule.groups
    })
  );
  if (rule.undo) return;
  if (rule.profile && user === sender) {
    const { name, avatar, url } = rule.profile;
    changes.profiles.set(
      user,
      present({ name: clipped(fill(name), NAME_LENGTH), avatar: link(fill(avatar)), url: link(fill(url)) })
    );
  }
  if (rule.about) {
    const { title, url, image, author } = rule.about;
    changes.targets.set(
      on ?? target,
      present({
        title: clipped(fill(title), TITLE_LENGTH),
        url: link(fill(url)),
        image: link(fill(image)),
        author: own(fill(author))
      })
    );
  }
}
function filled(template, payload) {
  for (const text of template === void 0 ? [] : [template].flat()) {
    let isComplete = true;
    const result = text.replace(/\{([^{}]+)\}/g, (_, path) => {
      const value = field(payload, path);
      isComplete &&= typeof value === "string" && value !== "" || typeof value === "number";
      return String(value);
    });
    if (isComplete) return result;
  }
  return void 0;
}
function field(value, path) {
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return void 0;
    value = /** @type {Record<string, Json>} */
    value[name];
  }
  return value;
}
var clipped = (text, length) => text && [...text.replace(/\s+/g, " ").trim()].slice(0, length).join("");
var link = (url) => url?.startsWith("https://") ? url : void 0;
var present = (object) => (
  /** @type {{ [Name in keyof T]?: Exclude<T[Name], undefined> }} */
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== void 0))
);

// recipes/receiver/receiver.js
var MAX_BODY = 5 * 1024 * 1024;
function receiver(source, mapping) {
  checkMapping(mapping);
  return {
    /**
     * @param {Request} request
     * @param {Env} env
     */
    async fetch(request, env) {
      try {
        return await receive(request, env, source, mapping);
      } catch (error) {
        if (error instanceof Problem) return problemResponse(error.document, error.headers);
        if (error instanceof ApiError) return problemResponse(error.problem);
        throw error;
      }
    }
  };
}
async function receive(request, env, source, mapping) {
  const { headers, method } = request;
  if (method !== "POST") throw new Problem("method-not-allowed", "Send deliveries with POST.", { allow: "POST" });
  const body = await readBody(request);
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
    throw new Problem("unsupported-media-type", "Set the content type of the webhook to application/json.");
  }
  const secret = env[source.secret];
  if (typeof secret !== "string" || secret === "") {
    throw new Problem("misconfigured", `The secret ${source.secret} is not set.`);
  }
  if (!await source.verify({ headers, body, secret, now: Date.now() })) {
    throw new Problem(
      "unauthenticated",
      `The signature is not that of ${source.secret} over the body, or it is too old.`
    );
  }
  const payload = parse(body);
  const { event, facts, ...options } = source.read(headers, payload, mapping);
  const changes = changesOf(mapping, event, { ...payload, ...facts }, options);
  if (changes.activities.length + changes.undos.length === 0) return new Response(null, { status: 204 });
  const results = await send(connect(env), changes, source.timeout);
  for (const result of results) if (result.error) return problemResponse(result.error);
  return Response.json({ results });
}
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (
    const chunk of
    /** @type {AsyncIterable<Uint8Array>} */
    /** @type {unknown} */
    request.body ?? []
  ) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Problem("too-large", `A delivery has at most ${MAX_BODY} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(
    /** @type {BlobPart[]} */
    chunks
  ).arrayBuffer());
}
function parse(body) {
  let payload;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new Problem("invalid-request", "The body is not JSON in UTF-8.");
  }
  if (typeof payload === "object" && payload !== null && !Array.isArray(payload)) return payload;
  throw new Problem("invalid-request", "The body must be a JSON object.");
}

// recipes/receiver/signature.js
var encoder = new TextEncoder();
async function isHmac(secret, signature, message) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, signature, message);
}
async function isHexSignature(secret, header, message) {
  const [, hex] = header?.match(/^sha256=([0-9a-f]{64})$/i) ?? [];
  if (!hex) return false;
  const signature = new Uint8Array(32);
  for (let index = 0; index < 32; index++) signature[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  return isHmac(encoder.encode(secret), signature, message);
}
function concatenate(first, second) {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
export {
  concatenate,
  isHexSignature,
  isHmac,
  receiver
};
