-- Applies steps of a replay in order and advances the position in the journal, atomically.
--
-- KEYS    1 rebuild state (hash)   2 users with repeated activity (set)
--         3.. the keys of each step, one step after the other
-- ARGV    1 string: id of this run   2 integer: number of the last applied journal entry
--         3.. for each step: script name; number of the entry it completes, or ''; number of keys, of
--         arguments and of users; the arguments; the users: of each operation the user that should
--         receive points, or ''
-- Returns { last applied entry, number of applied steps, reply of the step that was not applied or nil }:
--         the entry is nil if another run owns the rebuild or there is none. If it is not ARGV[2] and
--         no step was applied, an earlier copy of this request was.
-- State   a step that requests more data, or that cannot be applied, writes nothing but the reply, and
--         stops the batch. Keys expire as the service's scripts set them. The field 'partial' stays if the store has
--         refused a write of a step and may have kept others: the next run begins anew.
-- Example EVAL text 3 {ar:0}r {ar:0}~r {ar:0}~p 7f3a 12 run 13 1 3 0 HSET 42 '{"name":"Ada"}'
--
-- `scripts` maps names to functions of KEYS and ARGV with the text of the service's scripts. The
-- second element of their reply lists the data they request; that of a counting script is a text if it requests data.

local owner, position, rules = unpack(redis.call('HMGET', KEYS[1], 'owner', 'entry', 'rules'))
if owner ~= ARGV[1] then
  return { false, 0 }
elseif position ~= ARGV[2] then
  return { position, 0 }
end

-- Returns the first failed outcome of a call. The points of a recount may be too many.
local function failure(outcomes)
  for _, outcome in ipairs(outcomes) do
    if outcome[1] == 'failed' or outcome == 'score-overflow' and rules and rules ~= '' then
      return outcome
    end
  end
end

-- Keeps a board that was archived and deleted: it has expired. KEYS: index, board, kept board. ARGV: TTL in ms of an
-- expired key, name of the kept board. Later entries write another board.
scripts.keep = function(keys, args)
  local index, board, kept = unpack(keys)
  if redis.call('EXISTS', kept) == 1 then
    redis.call('UNLINK', board)
  elseif redis.call('EXISTS', board) == 1 then
    redis.call('RENAME', board, kept)
  end
  if redis.call('PEXPIRE', kept, args[1]) == 1 then
    redis.call('ZADD', index, 'inf', args[2])
  end
  return { '', {} }
end

local key, cursor, applied = 2, 2, 0

-- Allows the next run to continue.
local function complete()
  redis.call('HDEL', KEYS[1], 'partial')
end

redis.call('HSET', KEYS[1], 'partial', '1')
while ARGV[cursor + 1] do
  local name, entry = ARGV[cursor + 1], ARGV[cursor + 2]
  local keys, args, users = tonumber(ARGV[cursor + 3]), tonumber(ARGV[cursor + 4]), tonumber(ARGV[cursor + 5])
  cursor = cursor + 5
  local reply = scripts[name](take(KEYS, key, keys), take(ARGV, cursor, args))
  if reply[2] == 'failed' then
    if reply[4] == 1 then
      complete()
    end
    error(reply[3], 0)
  end
  local counts = name == 'count' or name == 'adjust'
  local outcomes = counts and type(reply[2]) == 'table' and reply[2] or {}
  local requests = counts and #outcomes == 0 or not counts and reply[2] and #reply[2] > 0
  local failed = failure(outcomes)
  if not reply[2] or requests or #outcomes ~= users or failed then
    if not failed or failed[1] ~= 'failed' or failed[3] then
      complete()
    end
    return { position, applied, reply }
  end
  key, cursor, applied = key + keys, cursor + args, applied + 1
  for i = 1, users do
    local user = ARGV[cursor + i]
    if user ~= '' and outcomes[i][1] ~= 'counted' then
      redis.call('SADD', KEYS[2], user)
    end
  end
  cursor = cursor + users
  if entry ~= '' then
    position = entry
    redis.call('HSET', KEYS[1], 'entry', position)
  end
end
complete()
return { position, applied }
