-- Puts shadows in the place of keys, or takes away keys that have none.
--
-- KEYS  1 how far the rebuild is (hash)   2 index   then key and shadow of each pair
-- ARGV  1 who does it   2 phase: 'delete' or 'rename'   3 now, Unix s   4 what has run out has more left, ms
--       then for each pair 'board', 'tombstones' or ''
-- Call  EVAL text 4 {ar:0}r {ar:0}i {ar:0}ba:all {ar:0}~ba:all 7f3a rename 1795132800 3600000000000 board
-- Reply 1, or 0 where somebody else has gone on with it, or the phase is another
-- State sent twice it is as sent once. A key that is there keeps its expiry.

local owner, phase = unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase'))
if owner ~= ARGV[1] or phase ~= ARGV[2] then
  return 0
end
local now, run_out = tonumber(ARGV[3]), tonumber(ARGV[4])

-- Who was erased stays so, whoever tells of it.
local function join(key, shadow)
  local buried = redis.call('HGETALL', shadow)
  for i = 1, #buried, 2 do
    local held = tonumber(redis.call('HGET', key, buried[i]) or -math.huge)
    if tonumber(buried[i + 1]) > held then
      redis.call('HSET', key, buried[i], buried[i + 1])
    end
  end
  redis.call('UNLINK', shadow)
end

local function register(board)
  local left = redis.call('PTTL', board)
  local expiry = left < 0 and 'inf' or string.format('%.0f', now + math.ceil(left / 1000) + 86400)
  redis.call('ZADD', KEYS[2], expiry, board)
end

local function rename(key, shadow, kind)
  local left, held = redis.call('PTTL', shadow), redis.call('PTTL', key)
  if left == -2 then
    return
  elseif kind == 'tombstones' then
    return join(key, shadow)
  elseif left > run_out and held == -2 then
    return redis.call('UNLINK', shadow)
  elseif held > 0 then
    redis.call('PEXPIRE', shadow, held)
  end
  redis.call('RENAME', shadow, key)
  if kind == 'board' then
    register(key)
  end
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
