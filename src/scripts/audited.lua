-- Reads the audit list, the newest first.
--
-- KEYS  1 stamp   2 audit list (stream)   3 who and why (hash: 's7' -> user, entry id -> reason)   4 profiles (hash)
-- ARGV  1 where to begin: '+', or '(' and the id of the entry before   2 how many
-- Call  EVALSHA sha 4 {ar:0}s {ar:0}l {ar:0}w {ar:0}p + 30
-- Reply { stamp or nil, entries, reasons or nil, users or nil, profiles (JSON or nil) }
--       entries  { id, { 'at', Unix ms, 'subject', number or '', 'action', name, then more by name and value } }
--       users    nil where they have been erased
-- State unchanged.

local entries = redis.call('XREVRANGE', KEYS[2], ARGV[1], '-', 'COUNT', ARGV[2])
local reasons, users, profiles = {}, {}, {}
for i, entry in ipairs(entries) do
  reasons[i] = redis.call('HGET', KEYS[3], entry[1])
  users[i] = redis.call('HGET', KEYS[3], 's' .. entry[2][4])
  profiles[i] = users[i] and redis.call('HGET', KEYS[4], users[i])
end
return { redis.call('GET', KEYS[1]), entries, reasons, users, profiles }
