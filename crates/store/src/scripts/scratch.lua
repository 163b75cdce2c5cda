-- Runs calls of the service's scripts on scratch keys of a preview of rules, in their order.
--
-- KEYS    1 steps (hash)   2 names of the scratch keys (set)   3.. users, register and other keys without an expiry of their
--         own   then the keys of each call, one call after the other
-- ARGV    1 integer: lifetime of the keys before the ones of calls, s
--         2 integer: the slice, from 1; 0 if the request is not repeated   3 integer: the step in the slice, from 1
--         4 integer: the number of keys between KEYS[2] and the ones of calls
--         5.. for each call: name; number of keys and of arguments; the arguments
-- Returns a JSON array with a value for each call, never false or an empty array:
--         count    [ outcomes, receipts or 0 ], or [ 'records' or 'accounts', data ] if it requests data, or 0 if such a call
--                  of the same user precedes. A receipt has names and values of an entry of the stream of changes, without the
--                  fields in UNUSED
--         read     fields of a hash, '' for none
--         hide     the number of members that it has taken off boards
--         size     the number of members of each board
--         rank     member, score, rank on the other board from 0 or -1, score there or 0, for each member of a page; or 0
--         limit    the members of two counters, then the first ones of the second
--         days     the days on which members have reached a cap, and the points that another cap leaves, -1 for no cap
--         others   1
--         or 'past' if a later slice has begun, or 'lost' if the keys are not those after the step before, or that step has
--         failed halfway
-- State   A step that is sent again returns its first reply, and changes nothing. A call that requests data, and later ones of
--         its user, change nothing: the caller sends them again. An error ends the preview.
-- Example EVALSHA sha 5 {ar:70}s {ar:70}k {ar:70}1p {ar:70}1t {ar:70}1t 86400 1 1 2 run 1 3 HSET post-7 '1;5;1;42;{}'

-- The most days whose points are added up.
local MAX_DAYS = 5000
local UNUSED = {
  now = true, user = true, once = true, points = true, cooldown = true, kinds = true, groups = true, applied = true,
  skipped = true, reason = true, gave = true, account = true,
}

-- Returns the receipts of the added entries, each a key, an id, then names and values.
local function receipts()
  local all = {}
  for i, entry in ipairs(added) do
    local receipt = {}
    for j = 3, #entry, 2 do
      if not UNUSED[entry[j]] then
        local n = #receipt
        receipt[n + 1], receipt[n + 2] = entry[j], entry[j + 1]
      end
    end
    all[i] = receipt
  end
  return #all > 0 and all or 0
end

-- Returns the result of a call of the counting script.
local function count_result(reply)
  if type(reply[2]) ~= 'table' then
    return { reply[2] or 'fingerprint', reply[3] or '' }
  end
  for _, outcome in ipairs(reply[2]) do
    if outcome[1] == 'failed' then
      error(outcome[2], 0)
    end
  end
  return { reply[2], receipts() }
end

-- Calls that are no scripts of the service.
local commands = {}

-- Fields of a hash.
function commands.read(keys, args)
  local values = redis.call('HMGET', keys[1], unpack(args))
  for i, value in ipairs(values) do
    values[i] = value or ''
  end
  return values
end

-- Adds to counters: member, amount, member, ...
function commands.tally(keys, args)
  for i = 1, #args, 2 do
    redis.call('ZINCRBY', keys[1], args[i + 1], args[i])
  end
  return 1
end

-- Takes members of a set off boards, after a letter. `args` has the most members.
function commands.hide(keys, args)
  local members = redis.call('SRANDMEMBER', keys[1], args[1])
  for _, member in ipairs(members) do
    for i = 2, #keys do
      redis.call('ZREM', keys[i], string.sub(member, 2))
    end
    redis.call('SREM', keys[1], member)
  end
  return #members
end

-- Counts the members of boards.
function commands.size(keys)
  local sizes = {}
  for i, key in ipairs(keys) do
    sizes[i] = redis.call('ZCARD', key) - (redis.call('ZSCORE', key, '#') and 1 or 0)
  end
  return sizes
end

-- Compares members of a board with another one. `args` has the first and the last rank, from 0.
function commands.rank(keys, args)
  local ranked, page = {}, redis.call('ZREVRANGE', keys[1], args[1], args[2], 'WITHSCORES')
  for i = 1, #page, 2 do
    local member, n = page[i], #ranked
    if member ~= '#' then
      ranked[n + 1], ranked[n + 2] = member, page[i + 1]
      ranked[n + 3] = redis.call('ZREVRANK', keys[2], member) or -1
      ranked[n + 4] = ranked[n + 3] ~= -1 and redis.call('ZSCORE', keys[2], member) or '0'
    end
  end
  return #ranked > 0 and ranked or 0
end

-- Counts the members of two counters. `args` has the most members to name.
function commands.limit(keys, args)
  local first = redis.call('ZREVRANGE', keys[2], 0, args[1])
  return { redis.call('ZCARD', keys[1]), redis.call('ZCARD', keys[2]), unpack(first) }
end

-- Finds the days with more points than `args[1]`, and what `args[2]` leaves of the points of these days in another counter.
function commands.days(keys, args)
  local left, cap = 0, tonumber(args[2])
  local days = redis.call('ZCOUNT', keys[1], '(' .. args[1], '+inf')
  for _, day in ipairs(cap and redis.call('ZRANGEBYSCORE', keys[1], '(' .. args[1], '+inf', 'LIMIT', 0, MAX_DAYS) or {}) do
    left = left + math.max(0, cap - tonumber(redis.call('ZSCORE', keys[2], day) or 0))
  end
  return { days, cap and days <= MAX_DAYS and left or -1 }
end

local slice, step, first = tonumber(ARGV[2]), tonumber(ARGV[3]), 2 + tonumber(ARGV[4])
if slice > 0 then
  local stored, begun, reply = unpack(redis.call('HMGET', KEYS[1], 'slice', 'begun', ARGV[3]))
  stored, begun = tonumber(stored or 0), tonumber(begun or 0)
  if stored == slice and reply then
    return reply
  elseif stored > slice then
    return 'past'
  elseif not (stored == slice and begun == step - 1 or stored == slice - 1 and step == 1) then
    return 'lost'
  end
  if step == 1 then
    redis.call('DEL', KEYS[1])
  end
  redis.call('HSET', KEYS[1], 'slice', ARGV[2], 'begun', ARGV[3])
end

local key, cursor, results, waiting = first, 4, {}, {}
while ARGV[cursor + 1] do
  local name, keys, args = ARGV[cursor + 1], tonumber(ARGV[cursor + 2]), tonumber(ARGV[cursor + 3])
  cursor = cursor + 3
  local arguments, result = take(ARGV, cursor, args), 1
  local user = name == 'count' and arguments[2]
  if commands[name] then
    result = commands[name](take(KEYS, key, keys), arguments)
  elseif user and waiting[user] then
    result = 0
  else
    added = {}
    local reply = scripts[name](take(KEYS, key, keys), arguments)
    if user then
      result = count_result(reply)
      waiting[user] = type(result[1]) == 'string'
    elseif reply[2] == 'failed' then
      error(reply[3], 0)
    elseif not reply[2] then
      error('another fingerprint', 0)
    end
  end
  key, cursor, results[#results + 1] = key + keys, cursor + args, result
end

local text = #results > 0 and cjson.encode(results) or '[]'
if slice > 0 then
  redis.call('HSET', KEYS[1], ARGV[3], text)
  -- In parts: gopher-lua has a stack of 5,120 values.
  for i = 3, #KEYS, 1000 do
    redis.call('SADD', KEYS[2], unpack(KEYS, i, math.min(i + 999, #KEYS)))
  end
end
for i = 1, first do
  redis.call('EXPIRE', KEYS[i], ARGV[1])
end
return text
