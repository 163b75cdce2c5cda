-- Writes profiles, and hides users who opt out of the boards. The boards follow in settle.lua.
--
-- KEYS    1 to 8 as pending.lua lists them
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write changes to the outbox   4 '1' if a member sends their own profile
--         5 integer: names of the index whose keys to return
--         6 string: actor, or ''
--         7.. for each profile: string: user; string: profile, JSON; '1' to opt out, '0' to opt in,
--         '' for no change
-- Returns { schema fingerprint, keys, opted out }
--         keys       the first ones that settle.lua needs; empty if no boards of these users are pending
--         opted out  1 or 0 for each profile; or 'frozen' for a member who is frozen, or '>2 9' for the only user of
--                    the call who is an account of member 9: nothing was changed
--         { schema fingerprint, keys } if an erasure of a user with an opt-out is pending: nothing was
--         changed, call again after it
--         { stored fingerprint } if it has other settings, or if a change is incomplete: nothing was changed
-- State   A profile replaces the previous one. The log of opt-outs gets an entry for each change of an
--         opt-out, and keeps the last 1,000. Profiles and flags do not expire.
-- Example EVALSHA sha 8 {ar:0}p {ar:0}1i {ar:0}l {ar:0}w {ar:0}o {ar:0}c {ar:0}n {ar:0}e
--         'v4 ...' 1795132800000 0 0 300 '' 42 '{"name":"Ada"}' ''

if not read_lines() or is_incomplete() then
  return { stored_fingerprint }
end
local outbox = ARGV[3] == '1' and KEYS[5] or nil
check_keys(outbox)
local _, _, accounts = read_flags(ARGV[7])
if #ARGV == 9 and string.find(accounts, '^,>') then
  return { ARGV[1], {}, string.sub(accounts, 2) }
end
if ARGV[4] == '1' and string.find(read_flags(ARGV[7]), 'f') then
  return { ARGV[1], {}, 'frozen' }
end
for i = 7, #ARGV, 3 do
  local pending = ARGV[i + 2] ~= '' and line_of(ARGV[i])
  if pending and pending.verb == 'e' then
    return { ARGV[1], next_keys(tonumber(ARGV[5])) }
  end
end
if not stored_fingerprint then
  write_lines()
end

-- Writes a profile without a change of the opt-out. The journal entry precedes it, and is deleted if
-- the store refuses the profile.
local function write_profile(user, json)
  if redis.call('HGET', KEYS[1], user) == json then
    return
  end
  local id = write_outbox(outbox, 'profile', 'now', ARGV[2], 'user', user, 'json', json, 'hidden', '')
  write_after(outbox, id, function()
    redis.call('HSET', KEYS[1], user, json)
  end)
end

local opted_out, pending = {}, false
for i = 7, #ARGV, 3 do
  local user, json, requested = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local flags = read_flags(user)
  local before = string.find(flags, 's') ~= nil
  local after = before
  if requested ~= '' then
    after = requested == '1'
  end
  if before == after then
    write_profile(user, json)
  else
    -- The letters are stored in the order h, s, f.
    local hidden, frozen = string.match(flags, 'h') or '', string.match(flags, 'f') or ''
    local change = {
      now = ARGV[2], reason = '', flags = hidden .. (after and 's' or '') .. frozen, profile = json,
      log = 7, last = last_id(KEYS[7]), entries = { add_actor({ after and 'opt-out' or 'opt-in' }, ARGV[6]) },
    }
    local journal_id = write_outbox(outbox, 'profile', 'now', ARGV[2], 'user', user, 'json', json,
      'hidden', requested, 'actor', ARGV[6])
    begin(user, hidden ~= '' and 'f' or after and 'h' or 'u', change, outbox, journal_id)
  end
  table.insert(opted_out, after and 1 or 0)
  pending = pending or line_of(user) ~= nil
end
return { ARGV[1], pending and next_keys(tonumber(ARGV[5])) or {}, opted_out }
