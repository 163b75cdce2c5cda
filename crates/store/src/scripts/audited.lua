-- Reads a page of the audit log, newest entry first: moderation and opt-outs.
--
-- KEYS    1 users (hash)   2 audit log (stream)
--         3 subjects and reasons (hash: 's7' -> user or target, entry id -> reason)
--         4 log of opt-outs (stream)   5 register of targets (hash)
-- ARGV    1 string: upper bound of XREVRANGE: '+', or '(' and the id of the last entry already read
--         2 integer: limit, 1 or more
-- Returns { fingerprint or nil, entries, reasons or nil, users or nil, profiles (JSON or nil) }; a target is
--         a tab and its member, and has its registration in the place of a profile
--         entries  { id, { 'at', Unix ms, 'subject', number or '', 'action', name, further fields } }, see audit.lua
--         reasons  nil if the user has been erased; an entry about a version of the rules holds its reason itself
--         users    nil if the user has been erased, and for a version of the rules
-- State   read only.
-- Example EVALSHA sha 5 {ar:0}p {ar:0}l {ar:0}w {ar:0}n {ar:0}1t + 30

local function read_log(log)
  return redis.call('XREVRANGE', log, ARGV[1], '-', 'COUNT', ARGV[2])
end

-- Returns whether an entry is newer than another one.
local function is_newer(a, b)
  local millis, sequence = string.match(a[1], '^(%d+)%-(%d+)$')
  local other_millis, other_sequence = string.match(b[1], '^(%d+)%-(%d+)$')
  if millis == other_millis then
    return tonumber(sequence) > tonumber(other_sequence)
  end
  return tonumber(millis) > tonumber(other_millis)
end

local moderation, opt_outs, entries = read_log(KEYS[2]), read_log(KEYS[4]), {}
local m, o = 1, 1
while #entries < tonumber(ARGV[2]) and (moderation[m] or opt_outs[o]) do
  if not opt_outs[o] or moderation[m] and is_newer(moderation[m], opt_outs[o]) then
    entries[#entries + 1], m = moderation[m], m + 1
  else
    entries[#entries + 1], o = opt_outs[o], o + 1
  end
end
local reasons, users, members, fields = {}, {}, {}, { FINGERPRINT }
for i, entry in ipairs(entries) do
  local user = redis.call('HGET', KEYS[3], 's' .. entry[2][4])
  users[i] = user
  reasons[i] = user and redis.call('HGET', KEYS[3], entry[1])
  members[i] = string.match(user or '', '^\t(.*)$')
  -- No user has an empty id.
  fields[i + 1] = not members[i] and user or ''
end
local profiles = redis.call('HMGET', KEYS[1], unpack(fields))
local fingerprint = table.remove(profiles, 1)
for i, member in pairs(members) do
  profiles[i] = redis.call('HGET', KEYS[5], member)
end
return { fingerprint, entries, reasons, users, profiles }
