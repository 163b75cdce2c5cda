-- Deletes keys without a shadow, or renames shadows to their keys.
--
-- KEYS    1 rebuild state (hash)   2 index   3.. pairs of a key and its shadow
-- ARGV    1 string: id of this run   2 string: phase, 'delete' or 'rename'   3 integer: now, Unix s
--         4 integer: a longer TTL in ms marks a shadow as expired
--         5.. for each pair: 'board', 'tombstones', 'register' or ''
-- Returns 1, or 0 if another run owns the rebuild or the phase is another: then nothing is changed
-- State   idempotent. A key that exists keeps its expiry; a new one gets that of its shadow. Boards are
--         added to the index.
-- Example EVAL text 4 {ar:0}r {ar:0}1i {ar:0}1ba:all {ar:0}~1ba:all 7f3a rename 1795132800 3600000000000 board

local owner, phase = unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase'))
if owner ~= ARGV[1] or phase ~= ARGV[2] then
  return 0
end
local now, expired_ttl = tonumber(ARGV[3]), tonumber(ARGV[4])

-- Tombstones are merged: a user erased according to either source stays erased.
local function merge(key, shadow)
  local tombstones = redis.call('HGETALL', shadow)
  for i = 1, #tombstones, 2 do
    local stored = tonumber(redis.call('HGET', key, tombstones[i]) or -math.huge)
    if tonumber(tombstones[i + 1]) > stored then
      redis.call('HSET', key, tombstones[i], tombstones[i + 1])
    end
  end
  redis.call('UNLINK', shadow)
end

-- A number of a registration is never used again: the journal may lack the last ones.
local function keep_counter(key, shadow)
  local stored, expected = redis.call('HGET', key, '#') or 0, redis.call('HGET', shadow, '#') or 0
  if tonumber(stored) > tonumber(expected) then
    redis.call('HSET', shadow, '#', stored)
  end
end

local function register(board, ttl)
  local expiry = ttl < 0 and 'inf' or string.format('%.0f', now + math.ceil(ttl / 1000) + 86400)
  redis.call('ZADD', KEYS[2], expiry, string.sub(board, #KEYS[2] + 1))
end

local function rename(key, shadow, kind)
  local ttl, stored_ttl = redis.call('PTTL', shadow), redis.call('PTTL', key)
  if ttl == -2 then
    return
  elseif kind == 'tombstones' then
    return merge(key, shadow)
  elseif ttl > expired_ttl and stored_ttl == -2 then
    return redis.call('UNLINK', shadow)
  elseif stored_ttl > 0 then
    redis.call('PEXPIRE', shadow, stored_ttl)
    ttl = stored_ttl
  end
  -- First: an interrupted swap continues with the shadows that are left.
  if kind == 'board' then
    register(key, ttl)
  elseif kind == 'register' then
    keep_counter(key, shadow)
  end
  redis.call('RENAME', shadow, key)
end

for i = 3, #KEYS, 2 do
  local key, shadow = KEYS[i], KEYS[i + 1]
  if phase == 'rename' then
    rename(key, shadow, ARGV[4 + (i - 1) / 2])
  elseif redis.call('EXISTS', shadow) == 0 then
    redis.call('UNLINK', key)
  end
end
return 1
