-- Sets the moderation state of a user: hidden from all boards or not, frozen or not.
--
-- KEYS    1 schema fingerprint (string)
--         2 index (sorted set: board key or span of histories -> last expiry, Unix s)
--         3 flags (hash: user -> 'flags,subject'; h hidden by a moderator, s opted out, f frozen)
--         4 audit log (stream)   5 subjects and reasons (hash: 's7' -> user, entry id -> reason)
--         6 profiles (hash: user -> JSON)   7 outbox of the journal (stream)   8.. boards (sorted set)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 string: user
--         4 hidden: '1' or '0'   5 frozen: '1' or '0'   6 string: reason, or ''
--         7 '1' to write the change to the outbox
-- Returns { stored fingerprint, boards, profile or nil, flags }
--         boards  empty; or, if the call lacks one, all boards of the index: nothing was changed, send
--                 the call again with them
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   The audit log gets an entry for each part of the state that changed. Flags do not expire.
-- Example EVALSHA sha 8 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o {ar:0}ba:all
--         'v2 ...' 1795132800000 42 1 0 spam 0

local stored_fingerprint = redis.call('GET', KEYS[1])
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local audit = { flags = KEYS[3], log = KEYS[4], subjects = KEYS[5], now = ARGV[2], reason = ARGV[6] }
local outbox = ARGV[7] == '1' and KEYS[7] or nil
local user = ARGV[3]
local flags = read_flags(audit, user)
local opted_out = string.match(flags, 's') or ''
local before = { hidden = string.find(flags, 'h') ~= nil, frozen = string.find(flags, 'f') ~= nil }
local after = { hidden = ARGV[4] == '1', frozen = ARGV[5] == '1' }
local profile = redis.call('HGET', KEYS[6], user)

local updates = {}
-- A user who opted out stays hidden in either case.
if before.hidden ~= after.hidden and opted_out == '' then
  local boards = missing_boards(KEYS[2], 8)
  if boards then
    return { ARGV[1], boards }
  end
  updates = score_updates({ [user] = after.hidden }, 8)
end
check_audit(audit)
check_outbox(outbox)

-- Every check has passed; writes begin.
if before.hidden ~= after.hidden then
  write_audit(audit, user, { after.hidden and 'hide' or 'unhide' })
end
if before.frozen ~= after.frozen then
  write_audit(audit, user, { after.frozen and 'freeze' or 'unfreeze' })
end
local _, subject = read_flags(audit, user)
if subject ~= '' then
  if not stored_fingerprint then
    redis.call('SET', KEYS[1], ARGV[1])
  end
  flags = (after.hidden and 'h' or '') .. opted_out .. (after.frozen and 'f' or '')
  redis.call('HSET', KEYS[3], user, flags .. ',' .. subject)
end
write_scores(updates)
if before.hidden ~= after.hidden or before.frozen ~= after.frozen then
  write_outbox(outbox, 'moderate', 'now', audit.now, 'user', user, 'hidden', ARGV[4], 'frozen', ARGV[5],
    'reason', audit.reason)
end
return { ARGV[1], {}, profile, flags }
