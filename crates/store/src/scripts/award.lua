-- Awards steps of an achievement to a user, or withdraws them. Follows journal.lua and audit.lua. The journal's reader
-- applies the entry: Redis holds no achievements.
--
-- KEYS    1 users (hash)   2 outbox of the journal (stream)   3 audit log (stream)   4 subjects and reasons (hash)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 '1' to write to the journal
--         4 string: actor, or ''   5 'award' or 'withdraw'   6 string: user   7 string: achievement
--         8 string: steps, JSON array of integers as the journal has them
--         9 string: the same steps as responses have them   10 string: reason, or ''
-- Returns { schema fingerprint, {}, profile or nil, flags }; if the flags say that the user is an account, nothing was
--         changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   One entry of the audit log and one of the journal. Nothing expires.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}o {ar:0}l {ar:0}w 'v4 ...' 1795132800000 1 anna award 42 helper [1] [1] 'Moved house'

local verb, user, achievement, steps, values, reason = unpack(ARGV, 5, 10)
local audit = { log = KEYS[3], subjects = KEYS[4], now = ARGV[2], reason = reason, actor = ARGV[4] }
local outbox = ARGV[3] == '1' and KEYS[2] or nil
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
check_outbox(outbox)
check_audit(audit)

local id
local letters, _, accounts = read_flags(user)
if not string.find(accounts, '^,>') then
  id = write_outbox(outbox, verb, 'now', ARGV[2], 'user', user, 'achievement', achievement, 'steps', steps,
    'values', values, 'reason', reason, 'actor', ARGV[4])
  -- A store that refuses the entry of the audit log loses that of the journal again.
  write_after(outbox, id, function()
    redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
    write_audit(audit, user, { verb, 'achievement', achievement, 'steps', values })
  end)
end
return { ARGV[1], {}, redis.call('HGET', KEYS[1], user), letters .. ',' .. accounts }
