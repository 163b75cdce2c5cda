-- Reads a page of the list of an author's targets, newest registration first.
--
-- KEYS    1 users (hash)   2 list of the author's targets (sorted set)
--         3 register (hash), if the targets are on this shard
--         4 board of content of all time (sorted set), if there is one and the targets are on this shard
-- ARGV    1 string: author   2 integer: limit, 1 or more
--         3 string: instant and member between which and the end the page lies: '1795132800000-post-7', or ''
-- Returns { fingerprint or nil, flags of the author, next, members, registrations, flags, points }
--         next           ARGV[3] of the next page, or nil at the end
--         registrations  with flags and points of the members; nil for keys that are not declared
-- State   read only. The list may contain targets that have been deleted since.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}1u:9 {ar:0}1t {ar:0}1bTa:all 9 30 ''

local author, limit = ARGV[1], tonumber(ARGV[2])

-- Returns the rank at which the page begins.
local function first_rank()
  local instant, member = string.match(ARGV[3], '^(%d+)%-(.*)$')
  if not instant then
    return 0
  end
  local rank = redis.call('ZREVRANK', KEYS[2], member)
  -- A target that has been deleted: targets of the same instant may repeat.
  return rank and rank + 1 or redis.call('ZCOUNT', KEYS[2], '(' .. instant, '+inf')
end

local first, last = first_rank(), nil
local rows = redis.call('ZREVRANGE', KEYS[2], first, first + limit, 'WITHSCORES')
local members, fields = {}, {}
for i = 1, math.min(#rows, 2 * limit), 2 do
  members[#members + 1], fields[#fields + 1] = rows[i], FLAGS .. '\t' .. rows[i]
  last = rows[i + 1] .. '-' .. rows[i]
end
local values = redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. author)
local reply = { values[1], values[2], #rows > 2 * limit and last, members }
if #members > 0 and KEYS[3] then
  reply[5] = redis.call('HMGET', KEYS[3], unpack(members))
  reply[6] = redis.call('HMGET', KEYS[1], unpack(fields))
  reply[7] = KEYS[4] and redis.call('ZMSCORE', KEYS[4], unpack(members))
end
return reply
