-- Hides a user from all boards or brings them back, freezes or unfreezes them.
--
-- KEYS  1 stamp   2 index (zset)   3 flags (hash: user -> 'flags,subject')   4 audit list (stream)
--       5 who and why (hash)   6 profiles (hash)   7 outbox of the journal (stream)   8.. boards (zset)
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms   3 user
--       4 '1' hidden, '0' not   5 '1' frozen, '0' not   6 reason   7 '1' to write what changes to the outbox
-- Call  EVALSHA sha 8 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o {ar:0}ba:all
--       'v2 ...' 1795132800000 42 1 0 spam 0
-- Reply { stamp held, boards, profile or nil, flags }
--       boards  none, or all that the index names because the call lacked one: nothing was
--               changed; call again with them
--       A stamp other than ARGV 1 comes back alone: nothing was changed.
-- State An entry of the audit list for each thing that is not as it was. Flags do not expire.

local held_stamp = redis.call('GET', KEYS[1])
if held_stamp and held_stamp ~= ARGV[1] then
  return { held_stamp }
end
local audit = { flags = KEYS[3], entries = KEYS[4], who = KEYS[5], now = ARGV[2], reason = ARGV[6] }
local outbox = ARGV[7] == '1' and KEYS[7] or nil
local user = ARGV[3]
local flags = read_flags(audit, user)
local self = string.match(flags, 's') or ''
local was = { hidden = string.find(flags, 'h') ~= nil, frozen = string.find(flags, 'f') ~= nil }
local is = { hidden = ARGV[4] == '1', frozen = ARGV[5] == '1' }
local profile = redis.call('HGET', KEYS[6], user)

local turns = {}
-- Who has hidden themself stays hidden either way.
if was.hidden ~= is.hidden and self == '' then
  local boards = missing_boards(KEYS[2], 8)
  if boards then
    return { ARGV[1], boards }
  end
  turns = turns_of({ [user] = is.hidden }, 8)
end
check_audit(audit)
check_outbox(outbox)

-- Nothing is refused from here on.
if was.hidden ~= is.hidden then
  write_audit(audit, user, { is.hidden and 'hide' or 'unhide' })
end
if was.frozen ~= is.frozen then
  write_audit(audit, user, { is.frozen and 'freeze' or 'unfreeze' })
end
local _, subject = read_flags(audit, user)
if subject ~= '' then
  if not held_stamp then
    redis.call('SET', KEYS[1], ARGV[1])
  end
  flags = (is.hidden and 'h' or '') .. self .. (is.frozen and 'f' or '')
  redis.call('HSET', KEYS[3], user, flags .. ',' .. subject)
end
turn(turns)
if was.hidden ~= is.hidden or was.frozen ~= is.frozen then
  write_outbox(outbox, 'moderate', 'now', audit.now, 'user', user, 'hidden', ARGV[4], 'frozen', ARGV[5],
    'reason', audit.reason)
end
return { ARGV[1], {}, profile, flags }
