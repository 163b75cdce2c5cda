-- Reads the targets of an author, newest registration first.
--
-- KEYS    1 users (hash)   2 register (hash)   3 list of the author's targets (sorted set)
--         4 board of content of all time (sorted set), if there is one
-- ARGV    1 string: author   2 integer: limit, 1 or more
--         3 string: instant and member between which and the end the page lies: '1795132800000-post-7', or ''
-- Returns { fingerprint or nil, flags of the author, members, registrations, points or nil, next }
--         members  without hidden targets
--         next     ARGV[3] of the next page, or nil at the end
-- State   read only. The list may contain targets that have been deleted since.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}t {ar:0}u:9 {ar:0}bTa:all 9 30 ''

local author, limit = ARGV[1], tonumber(ARGV[2])

-- Returns the rank at which the page begins.
local function first_rank()
  local instant, member = string.match(ARGV[3], '^(%d+)%-(.*)$')
  if not instant then
    return 0
  end
  local rank = redis.call('ZREVRANK', KEYS[3], member)
  -- A target that has been deleted: targets of the same instant may repeat.
  return rank and rank + 1 or redis.call('ZCOUNT', KEYS[3], '(' .. instant, '+inf')
end

local first, last = first_rank(), nil
local rows = redis.call('ZREVRANGE', KEYS[3], first, first + limit, 'WITHSCORES')
local listed, fields = {}, { FINGERPRINT, FLAGS .. author }
for i = 1, math.min(#rows, 2 * limit), 2 do
  listed[#listed + 1], fields[#fields + 1] = rows[i], FLAGS .. '\t' .. rows[i]
  last = rows[i + 1] .. '-' .. rows[i]
end
local values = redis.call('HMGET', KEYS[1], unpack(fields))
local stored = #listed > 0 and redis.call('HMGET', KEYS[2], unpack(listed)) or {}
local members, registrations = {}, {}
for i, member in ipairs(listed) do
  local _, _, _, registered = string.match(stored[i] or '', REGISTRATION)
  if registered == author and not is_hidden(values[i + 2]) then
    members[#members + 1], registrations[#registrations + 1] = member, stored[i]
  end
end
local points = KEYS[4] and #members > 0 and redis.call('ZMSCORE', KEYS[4], unpack(members))
return { values[1], values[2], members, registrations, points, #rows > 2 * limit and last }
