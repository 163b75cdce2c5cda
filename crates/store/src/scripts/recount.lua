-- Counts an event again, beside its board, from the journal's entries, and then puts the result in the place of the
-- board. The entries that are not in the journal's database yet are still in the outbox: the swap counts them.
--
-- KEYS    1 users (hash)   2 outbox of the journal (stream)   3 index   4 board of the event (sorted set)
--         5 the board to be (sorted set)   6 progress (hash)   7 rebuild state (hash)
--         8 events (hash: event -> definition, JSON); on the first shard only
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 step: 'begin', 'count', 'show' or 'swap'   4 string: event
--         5 string: what is counted, 'from to actions groups ...': words of its definition as in define.lua, then
--         any others; a recount of anything else begins anew
--         count: 6 integer: number of the last entry that is counted   7 integer: number of the last entry of this step
--         8.. for each entry: kind, user, points. 'count' gives the points of an activity or of an adjustment of this
--         event, as that was applied; 'undo' takes them back; 'erase' has the SHA-1 of the user
--         swap: 6 id of the entry of the outbox that `begin` has added   7 number of the definitions that the caller
--         has read, 8 all definitions, 9 definition, JSON, and 10 expiry of the board, as ARGV 4, 5, 7 and 8 of
--         define.lua
-- Returns { schema fingerprint, reply of the step }
--         begin  { id of an entry that it has added to the outbox, number of the last entry that is counted or '' }.
--                Everything up to that entry must be in the journal before the swap.
--         count  'counted'; 'stale' if another entry than ARGV[6] was the last; 'overflow' if a score would exceed its
--                maximum
--         show   'shown': scores of hidden users are negated as on a board
--         swap   'swapped'; 'stale' if the outbox lacks the entry ARGV[6], because the journal has later ones
--                too, or if it has too many later ones;
--                'changed' if the definitions have changed; 'rebuild' if a rebuild is in progress; 'overflow'
--         'other' if a recount of something else has begun meanwhile
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   Both keys of the recount expire an hour after its last step; until then the index has the board. Progress: 'counts' is ARGV[5]; 'entry' is the
--         number of the last entry. The board has scores as any other, see user.lua.
-- Example EVALSHA sha 8 {ar:0}p {ar:0}o {ar:0}1i {ar:0}1bE::hackathon '{ar:0}1bE::\thackathon' {ar:0}g:hackathon
--         {ar:0}r {ar:0}v 'v4 ...' 1795132800000 count hackathon '1795132800000 1795305600000 - -' 0 2 count 42 2

local COUNTER, LIFETIME, CHUNK, MAX_ENTRIES = '#', 3600, 1000, 20000
local outbox, board, shadow, progress = KEYS[2], KEYS[4], KEYS[5], KEYS[6]
local step, event, counts = ARGV[3], ARGV[4], ARGV[5]
-- Their names, after the beginning that all keys share.
local name, shadow_name = string.sub(board, #KEYS[3] + 1), string.sub(shadow, #KEYS[3] + 1)

local function reply(value)
  return { ARGV[1], value }
end

-- The board to be, as it is read: members and their scores, and the order counter.
local scores, counter

local function read_shadow()
  scores, counter = {}, 0
  local rows = redis.call('ZRANGE', shadow, 0, -1, 'WITHSCORES')
  for i = 1, #rows, 2 do
    if rows[i] == COUNTER then
      counter = tonumber(rows[i + 1])
    else
      scores[rows[i]] = tonumber(rows[i + 1])
    end
  end
end

-- Reads the scores of some users.
local function read_scores(users)
  scores, counter = {}, tonumber(redis.call('ZSCORE', shadow, COUNTER) or 0)
  for first = 1, #users, CHUNK do
    local chunk = { unpack(users, first, math.min(#users, first + CHUNK - 1)) }
    for i, score in ipairs(redis.call('ZMSCORE', shadow, unpack(chunk))) do
      scores[chunk[i]] = tonumber(score or 0)
    end
  end
end

-- Members whose scores have changed.
local changed, is_changed = {}, {}
-- Users by the SHA-1 of their ids, from the first erasure of a step on.
local users_by_hash
local function set_score(user, score)
  if users_by_hash and not scores[user] then
    users_by_hash[redis.sha1hex(user)] = user
  end
  if not is_changed[user] then
    is_changed[user], changed[#changed + 1] = true, user
  end
  scores[user] = score
end

local function points_of(user)
  return math.floor(math.abs(scores[user] or 0) / ORDERS)
end

-- Changes the points of a user, with the next order number. Points never go below zero.
local function add(user, points)
  local before = points_of(user)
  local after = math.max(0, before + points)
  if after > MAX_POINTS then
    error('overflow', 0)
  elseif after ~= before then
    set_score(user, after > 0 and after * ORDERS + (ORDERS - 1 - math.floor(counter)) or 0)
    counter = tonumber(next_counter(counter))
  end
end

-- Removes an erased user, whose entries of the journal may have been counted before the erasure or with the hash.
local function erase(hash)
  if not users_by_hash then
    users_by_hash = {}
    for user in pairs(scores) do
      users_by_hash[redis.sha1hex(user)] = user
    end
  end
  for _, user in ipairs({ hash, users_by_hash[hash] }) do
    if scores[user] then
      set_score(user, 0)
    end
  end
end

-- Counts an entry.
local function count(kind, user, points)
  if kind == 'erase' then
    erase(user)
  else
    add(user, kind == 'undo' and -points or points)
  end
end

-- Writes the changed scores. If the store refuses one of them, the recount begins anew.
local function write_shadow()
  -- The index first: by it an erasure reaches the board to be as any other board.
  redis.call('ZADD', KEYS[3], digits(math.floor(tonumber(ARGV[2]) / 1000) + LIFETIME), shadow_name)
  redis.call('HDEL', progress, 'counts')
  for first = 1, #changed, CHUNK do
    local written, removed = {}, {}
    for i = first, math.min(#changed, first + CHUNK - 1) do
      local user = changed[i]
      if scores[user] == 0 then
        removed[#removed + 1] = user
      else
        written[#written + 1], written[#written + 2] = digits(scores[user]), user
      end
    end
    if #written > 0 then
      redis.call('ZADD', shadow, unpack(written))
    end
    if #removed > 0 then
      redis.call('ZREM', shadow, unpack(removed))
    end
  end
  if #changed > 0 then
    redis.call('ZADD', shadow, string.format('%.17g', counter), COUNTER)
  end
  redis.call('HSET', progress, 'counts', counts)
  redis.call('EXPIRE', progress, LIFETIME)
  redis.call('EXPIRE', shadow, LIFETIME)
end

-- Negates the scores of hidden users.
local function hide()
  local users = {}
  for user in pairs(scores) do
    users[#users + 1] = user
  end
  for first = 1, #users, CHUNK do
    local fields = {}
    for i = first, math.min(#users, first + CHUNK - 1) do
      fields[#fields + 1] = FLAGS .. users[i]
    end
    for i, flags in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
      local user = users[first + i - 1]
      local score = math.abs(scores[user])
      local stored = is_hidden(flags) and -score or score
      if stored ~= scores[user] then
        set_score(user, stored)
      end
    end
  end
end

-- Returns what counts of an entry of the outbox, as arguments of `count`; nothing if it does not count.
local function decode(entry)
  local fields = {}
  for i = 1, #entry, 2 do
    fields[entry[i]] = entry[i + 1]
  end
  local did, user = fields.did, fields.user
  local undoes, adjusts = did == 'undo' and fields.counted ~= '', did == 'adjust'
  if did == 'rules' then
    error('stale', 0)
  elseif did == 'erase' then
    return did, user, 0
  elseif did ~= 'count' and not adjusts and not undoes then
    return
  end
  local at = tonumber(undoes and fields.counted or fields.at)
  local points = tonumber(undoes and fields.gave or fields.kinds == 'e' and fields.applied or fields.points)
  local counted = counted_event(string.match(counts, '^(%S+) (%S+) (%S+) (%S+)'))
  if fields.kinds == 'e' then
    points = fields.groups == event and counted.from <= at and points
  elseif fields.action == 'adjust' then
    return
  else
    points = points_in(counted, at, fields.action, split(fields.groups), points)
  end
  return points and (undoes and 'undo' or 'count'), user, points
end

if step == 'begin' then
  check_outbox(outbox)
  if redis.call('HGET', progress, 'counts') ~= counts then
    redis.call('UNLINK', progress, shadow)
  end
  redis.call('HSET', progress, 'counts', counts)
  redis.call('EXPIRE', progress, LIFETIME)
  local id = redis.call('XADD', outbox, '*', 'did', 'recount', 'now', ARGV[2], 'event', event)
  return reply({ id, redis.call('HGET', progress, 'entry') or '' })
elseif redis.call('HGET', progress, 'counts') ~= counts then
  return reply('other')
end

if step == 'count' then
  if (redis.call('HGET', progress, 'entry') or ARGV[6]) ~= ARGV[6] then
    return reply('stale')
  end
  local users, erases = {}, false
  for i = 8, #ARGV, 3 do
    users[#users + 1], erases = ARGV[i + 1], erases or ARGV[i] == 'erase'
  end
  if erases then
    read_shadow()
  else
    read_scores(users)
  end
  local counted, reason = pcall(function()
    for i = 8, #ARGV, 3 do
      count(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]))
    end
  end)
  if not counted then
    return (reason == 'overflow' or reason == 'stale') and reply(reason) or error(reason, 0)
  end
  redis.call('HSET', progress, 'entry', ARGV[7])
  write_shadow()
  return reply('counted')
elseif step == 'show' then
  read_shadow()
  hide()
  write_shadow()
  return reply('shown')
end

local begun, number, definitions, json, expiry = unpack(ARGV, 6)
local known = definitions_number(former)
local is_newer = tonumber(definitions_number(definitions)) > tonumber(known ~= '' and known or 0)
if redis.call('EXISTS', KEYS[7]) == 1 then
  return reply('rebuild')
elseif number ~= known and number ~= '*' then
  return reply('changed')
end
local entries = redis.call('XRANGE', outbox, begun, '+', 'COUNT', MAX_ENTRIES)
if #entries == 0 or entries[1][1] ~= begun or #entries == MAX_ENTRIES then
  return reply('stale')
end
read_shadow()
local counted, reason = pcall(function()
  for _, entry in ipairs(entries) do
    local kind, user, points = decode(entry[2])
    if kind then
      count(kind, user, points)
    end
  end
end)
if not counted then
  return (reason == 'overflow' or reason == 'stale') and reply(reason) or error(reason, 0)
end
hide()
write_shadow()

-- If the store refuses one of the writes, the recount begins anew.
redis.call('HDEL', progress, 'counts')
write_event(outbox, KEYS[8], event, json, is_newer and definitions or former, '1', function()
  redis.call('ZADD', KEYS[3], 'GT', digits(expiry + 86400), name)
end)
if redis.call('EXISTS', shadow) == 1 then
  redis.call('RENAME', shadow, board)
  redis.call('EXPIREAT', board, expiry)
else
  redis.call('UNLINK', board)
  redis.call('ZREM', KEYS[3], name)
end
redis.call('ZREM', KEYS[3], shadow_name)
redis.call('UNLINK', progress)
return reply('swapped')
