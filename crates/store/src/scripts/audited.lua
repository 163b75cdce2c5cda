-- Reads a page of the audit log, newest entry first.
--
-- KEYS    1 schema fingerprint (string)   2 audit log (stream)
--         3 subjects and reasons (hash: 's7' -> user, entry id -> reason)   4 profiles (hash: user -> JSON)
-- ARGV    1 string: upper bound of XREVRANGE: '+', or '(' and the id of the last entry already read
--         2 integer: limit, 1 or more
-- Returns { fingerprint or nil, entries, reasons or nil, users or nil, profiles (JSON or nil) }
--         entries  { id, { 'at', Unix ms, 'subject', number or '', 'action', name, further fields } }
--         users    nil if the user has been erased
-- State   read only.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}l {ar:0}w {ar:0}p + 30

local entries = redis.call('XREVRANGE', KEYS[2], ARGV[1], '-', 'COUNT', ARGV[2])
local reasons, users, profiles = {}, {}, {}
for i, entry in ipairs(entries) do
  reasons[i] = redis.call('HGET', KEYS[3], entry[1])
  users[i] = redis.call('HGET', KEYS[3], 's' .. entry[2][4])
  profiles[i] = users[i] and redis.call('HGET', KEYS[4], users[i])
end
return { redis.call('GET', KEYS[1]), entries, reasons, users, profiles }
