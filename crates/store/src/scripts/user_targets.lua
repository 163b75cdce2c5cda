-- Reads a page of the list of an author's targets, newest registration first. Follows bytes.lua.
--
-- KEYS    1 users (hash)   2 list of the author's targets (sorted set)
--         3 register (hash), if the targets are on this shard
--         4 board of content of all time (sorted set), if there is one and the targets are on this shard
-- ARGV    1 string: author   2 integer: number of targets, 1 or more
--         3 string: instant and member between which and the end the page lies: '1795132800000-post-7', or ''. The list
--         need not contain the member.
-- Returns { fingerprint or nil, flags of the author, rows, registrations, flags, points }
--         rows           of each target the member, then the instant
--         registrations  with flags and points of the members; nil for keys that are not declared
-- State   read only. The list may contain targets that have been deleted since.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}1u:9 {ar:0}1t {ar:0}1bTa:all 9 31 ''

-- Returns the rank at which the page begins.
local function first_rank()
  local instant, member = string.match(ARGV[3], '^(%d+)%-(.*)$')
  if not instant then
    return 0
  end
  local first = redis.call('ZCOUNT', KEYS[2], '(' .. instant, '+inf')
  local last = redis.call('ZCOUNT', KEYS[2], instant, '+inf')
  -- Of targets of one instant the greatest member is the first.
  while first < last do
    local middle = math.floor((first + last) / 2)
    if is_greater(member, redis.call('ZREVRANGE', KEYS[2], middle, middle)[1]) then
      last = middle
    else
      first = middle + 1
    end
  end
  return first
end

local first = first_rank()
local rows = redis.call('ZREVRANGE', KEYS[2], first, first + ARGV[2] - 1, 'WITHSCORES')
local members, fields = {}, {}
for i = 1, #rows, 2 do
  members[#members + 1], fields[#fields + 1] = rows[i], FLAGS .. '\t' .. rows[i]
end
local values = redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. ARGV[1])
local reply = { values[1], values[2], rows }
if #members > 0 and KEYS[3] then
  reply[4] = redis.call('HMGET', KEYS[3], unpack(members))
  reply[5] = redis.call('HMGET', KEYS[1], unpack(fields))
  reply[6] = KEYS[4] and redis.call('ZMSCORE', KEYS[4], unpack(members))
end
return reply
