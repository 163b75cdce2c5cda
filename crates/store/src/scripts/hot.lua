-- Ranks targets by what they received on some days: a point of the first day counts 1, of each day after it twice
-- as much.
--
-- KEYS    1 users (hash)   2 register (hash)
--         3.. boards of content (sorted set) of consecutive days, the last day first
-- ARGV    1 integer: limit, 1 or more
-- Returns { fingerprint or nil, members, scores, registrations or nil, authors }, best first: rows.lua
-- State   read only. This is the threshold algorithm of Fagin, Lotem and Naor: each day is read from its top
--         until no target further down can have a score among the first ones. It ends after PAGES pages, so a
--         target that is on none of them is not found.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}1t {ar:0}1bTd:2026-11-20 {ar:0}1bTd:2026-11-19 30

local PAGE, PAGES = 200, 5

local limit = tonumber(ARGV[1])
local hot, is_known = {}, {}

local function is_above(a, b)
  if a.score ~= b.score then
    return a.score > b.score
  end
  return is_greater(a.member, b.member)
end

-- Adds new targets, with the sum of their scores.
local function add(members)
  local scores = {}
  for i = 3, #members > 0 and #KEYS or 2 do
    for j, score in ipairs(redis.call('ZMSCORE', KEYS[i], unpack(members))) do
      scores[j] = (scores[j] or 0) + tonumber(score or 0) * 2 ^ (#KEYS - i)
    end
  end
  for j, member in ipairs(members) do
    hot[#hot + 1] = { member = member, score = scores[j] }
  end
  table.sort(hot, is_above)
end

for page = 0, PAGES - 1 do
  local members, threshold = {}, 0
  for i = 3, #KEYS do
    local rows = redis.call('ZREVRANGE', KEYS[i], page * PAGE, page * PAGE + PAGE - 1, 'WITHSCORES')
    local last = 0
    for j = 1, #rows, 2 do
      last = tonumber(rows[j + 1])
      -- The order counter, and below it hidden targets.
      if last < 1 then
        break
      elseif not is_known[rows[j]] then
        is_known[rows[j]], members[#members + 1] = true, rows[j]
      end
    end
    if #rows == 2 * PAGE and last >= 1 then
      threshold = threshold + last * 2 ^ (#KEYS - i)
    end
  end
  add(members)
  if threshold == 0 or hot[limit] and hot[limit].score > threshold then
    break
  end
end

local members, scores = {}, {}
for i = 1, math.min(limit, #hot) do
  members[i], scores[i] = hot[i].member, hot[i].score
end
local registrations = #members > 0 and redis.call('HMGET', KEYS[2], unpack(members)) or {}
local fingerprint, authors = read_authors(registrations)
return { fingerprint, members, scores, registrations, authors }
