-- Reads the standing of a user on a board, and the users around them.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3 register (hash), for a board of content: rows.lua
--         or 3.. other boards (sorted set): related.lua
-- ARGV    1 string: user   2 integer: neighbours to read on each side, 1 or more   3.. for other boards: related.lua
-- Returns { fingerprint or nil, total, profile or nil, rank, first rank of the page, users,
--         scores (packed), profiles (JSON or nil), authors, others, accounts }
--         total  visible users, or nil if the board does not exist
--         rank   from 0, as is the first rank. nil for a user who is hidden or not on the board; then only the
--                author of a target follows, or the others and the accounts. The third element is nil for all but these,
--                and for hidden users.
--         users  include the user
--         accounts  of the user, as users.lua stores them
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}1bd:2026-11-20 42 2

local board, user, register = KEYS[2], ARGV[1], not ARGV[3] and KEYS[3]
local total = redis.call('ZREVRANK', board, '#')
local rank = redis.call('ZREVRANK', board, user)
if not rank or rank > (total or -1) then
  if register then
    local flags = redis.call('HGET', KEYS[1], FLAGS .. '\t' .. user)
    local registration = not is_hidden(flags) and redis.call('HGET', register, user)
    local fingerprint, authors = read_authors({ registration })
    return { fingerprint, total, registration, false, authors[1] }
  end
  local values = redis.call('HMGET', KEYS[1], FINGERPRINT, user, FLAGS .. user)
  return { values[1], total, not is_hidden(values[3]) and values[2], false, read_related({ user }),
    accounts_of(values[3]) }
end

local first = math.max(rank - ARGV[2], 0)
local last = math.min(rank + ARGV[2], total - 1)
local fingerprint, users, scores, profiles, authors, flags = read_rows(board, first, last, register, user)
return { fingerprint, total, false, rank, first, users, scores, profiles, authors, not authors and read_related(users),
  accounts_of(flags or '') }
