-- Writes profiles, and hides users who opt out of the boards.
--
-- KEYS    1 schema fingerprint (string)
--         2 index (sorted set: board key or span of histories -> last expiry, Unix s)
--         3 flags (hash: user -> 'flags,subject'; h hidden by a moderator, s opted out, f frozen)
--         4 audit log (stream)   5 subjects and reasons (hash: 's7' -> user, entry id -> reason)
--         6 profiles (hash: user -> JSON)   7 outbox of the journal (stream)   8.. boards (sorted set)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write changes to the outbox   4 '1' if a member sends their own profile
--         5.. for each profile: string: user; string: profile, JSON; '1' to opt out, '0' to opt in,
--         '' for no change
-- Returns { stored fingerprint, boards, opted out }
--         boards     empty; or, if the call lacks one, all boards of the index: nothing was changed,
--                    send the call again with them
--         opted out  1 or 0 for each profile; or 'frozen' for a member who is frozen: nothing was changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   A profile replaces the previous one. The audit log gets an entry for each user whose opt-out
--         changed. Profiles and flags do not expire.
-- Example EVALSHA sha 7 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o
--         'v2 ...' 1795132800000 0 0 42 '{"name":"Ada"}' ''

local stored_fingerprint = redis.call('GET', KEYS[1])
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local audit = { flags = KEYS[3], log = KEYS[4], subjects = KEYS[5], now = ARGV[2], reason = '' }
local outbox = ARGV[3] == '1' and KEYS[7] or nil
redis.call('HLEN', KEYS[6])
check_outbox(outbox)
if ARGV[4] == '1' and string.find(read_flags(audit, ARGV[5]), 'f') then
  return { ARGV[1], {}, 'frozen' }
end

-- Whether each user has opted out afterwards, whether that is a change, and whether boards hide users
-- whose visibility may change.
local opted_out, changed, hidden = {}, {}, {}
for i = 5, #ARGV, 3 do
  local user, requested = ARGV[i], ARGV[i + 2]
  if opted_out[user] == nil then
    opted_out[user] = string.find(read_flags(audit, user), 's') ~= nil
  end
  if requested ~= '' and (requested == '1') ~= opted_out[user] then
    opted_out[user] = requested == '1'
    changed[user] = not changed[user] or nil
    if not string.find(read_flags(audit, user), 'h') then
      hidden[user] = opted_out[user]
    end
  end
end
local updates = {}
if next(hidden) then
  local boards = missing_boards(KEYS[2], 8)
  if boards then
    return { ARGV[1], boards, {} }
  end
  updates = score_updates(hidden, 8)
end
if next(changed) then
  check_audit(audit)
end

-- Every check has passed; writes begin.
if not stored_fingerprint then
  redis.call('SET', KEYS[1], ARGV[1])
end
local replies = {}
for i = 5, #ARGV, 3 do
  local user, json, opt_out_change = ARGV[i], ARGV[i + 1], ''
  local same = outbox and redis.call('HGET', KEYS[6], user) == json
  redis.call('HSET', KEYS[6], user, json)
  replies[#replies + 1] = opted_out[user] and 1 or 0
  if changed[user] then
    changed[user] = nil
    write_audit(audit, user, { opted_out[user] and 'opt-out' or 'opt-in' })
    local flags, subject = read_flags(audit, user)
    -- The letters are stored in the order h, s, f.
    local has = function(flag)
      return string.find(flags, flag) and flag or ''
    end
    flags = has('h') .. (opted_out[user] and 's' or '') .. has('f')
    redis.call('HSET', KEYS[3], user, flags .. ',' .. subject)
    opt_out_change = opted_out[user] and '1' or '0'
  end
  if not same or opt_out_change ~= '' then
    write_outbox(outbox, 'profile', 'now', audit.now, 'user', user, 'json', json, 'hidden', opt_out_change)
  end
end
write_scores(updates)
return { ARGV[1], {}, replies }
