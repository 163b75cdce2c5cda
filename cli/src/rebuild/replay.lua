-- Does steps of a rebuild, in order, and remembers how far it is: all of it in one step.
--
-- KEYS  1 how far the rebuild is (hash)   2 of whom something was counted again (set)
--       then the keys of each step in a row
-- ARGV  1 who does it   2 the entry it is at
--       then for each step: script, the entry it comes to or '', how many keys, how many arguments,
--       how many users, the arguments, the users: of each operation the one points are expected of, or ''
-- Call  EVAL text 3 {ar:0}r {ar:0}~r {ar:0}~p 7f3a 12 run 13 1 3 0 HSET 42 '{"name":"Ada"}'
-- Reply { entry it is at, steps done, reply of the one that was not or nil }
--       The first is nil where somebody else has gone on with it, or nobody has begun. No step is done
--       where the entry is not ARGV 2.
-- State A step that has to be told more, or could not be done, changes nothing but what it says, and no
--       later step is done.
--
-- `scripts` are functions of KEYS and ARGV with the text of the service's own; their reply has what
-- they have to be told second.

scripts.run = function(keys, args)
  redis.call(args[1], keys[1], unpack(args, 2))
  return { '', {} }
end

local owner, at = unpack(redis.call('HMGET', KEYS[1], 'owner', 'entry'))
if owner ~= ARGV[1] then
  return { false, 0 }
elseif at ~= ARGV[2] then
  return { at, 0 }
end

-- What went wrong inside a call: such an operation has changed nothing.
local function failure(results)
  for _, result in ipairs(results) do
    if result[1] == 'failed' then
      return result
    end
  end
end

local key, cursor, done = 2, 2, 0
local function take(from, after, count)
  local taken = {}
  for i = 1, count do
    taken[i] = from[after + i]
  end
  return taken
end

while ARGV[cursor + 1] do
  local name, entry = ARGV[cursor + 1], ARGV[cursor + 2]
  local keys, args, users = tonumber(ARGV[cursor + 3]), tonumber(ARGV[cursor + 4]), tonumber(ARGV[cursor + 5])
  cursor = cursor + 5
  local reply = scripts[name](take(KEYS, key, keys), take(ARGV, cursor, args))
  local results = name == 'count' and reply[3] or {}
  if not reply[2] or #reply[2] > 0 or failure(results) then
    return { at, done, reply }
  end
  key, cursor, done = key + keys, cursor + args, done + 1
  for i = 1, users do
    local user = ARGV[cursor + i]
    if user ~= '' and results[i][1] ~= 'counted' then
      redis.call('SADD', KEYS[2], user)
    end
  end
  cursor = cursor + users
  if entry ~= '' then
    at = entry
    redis.call('HSET', KEYS[1], 'entry', at)
  end
end
return { at, done }
