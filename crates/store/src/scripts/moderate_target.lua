-- Hides a target from all boards, shows it again, or deletes it. The boards follow in settle.lua.
--
-- KEYS    1 to 8 as pending.lua lists them   9 register (hash)
--         10 list of the targets of its author (sorted set), for a target that is deleted and has an author on
--         this shard
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 string: member
--         4 'h' to hide, 'u' to show, 'e' to delete    5 string: reason, or ''
--         6 string: actor, or ''                       7 '1' to write the change to the outbox
--         8 integer: names of the index whose keys to return
-- Returns { schema fingerprint, keys, registration or nil }
--         keys          the first ones that settle.lua needs; empty if no boards of this target are pending
--         registration  before the change; nil if there is none: nothing was changed
--         { schema fingerprint, keys } if a deletion of the target is pending: nothing was changed, call
--         again after it
--         { stored fingerprint } if it has other settings, or if a change is incomplete: nothing was changed
-- State   The audit log gets an entry if anything changed. The subject of its entries outlives the target.
--         The author keeps what they received for a target that is deleted. With several shards the entry of
--         the stream names them: receive.lua takes the target off their list.
-- Example EVALSHA sha 9 {ar:0}p {ar:0}1i {ar:0}l {ar:0}w {ar:0}o {ar:0}c {ar:0}n {ar:0}e {ar:0}1t
--         'v4 ...' 1795132800000 post-7 h spam anna 0 300

local ACTIONS = { h = 'hide', u = 'unhide', e = 'delete' }

if not read_lines() or is_incomplete() then
  return { stored_fingerprint }
end
local outbox = ARGV[7] == '1' and KEYS[5] or nil
check_keys(outbox)
local register, member, verb, names = KEYS[9], ARGV[3], ARGV[4], tonumber(ARGV[8])
local target = '\t' .. member
local pending = line_of(target)
if pending and pending.verb == 'e' then
  return { ARGV[1], next_keys(names) }
end
local registration = redis.call('HGET', register, member)
local flags, subject = read_flags(target)
if registration and (verb == 'e' or (flags == 'h') ~= (verb == 'h')) then
  local change = {
    now = ARGV[2], reason = ARGV[5], flags = verb == 'h' and 'h' or '', log = 3, last = last_id(audit.log),
    entries = { add_actor({ ACTIONS[verb] }, ARGV[6]) }, subject = subject, removed_keys = 0, profiles = 0,
  }
  if verb == 'e' and subject == '' then
    change.subject = digits((tonumber(redis.call('HGET', audit.subjects, 'subjects')) or 0) + 1)
  end
  local number, _, _, author = string.match(registration, REGISTRATION)
  if verb ~= 'e' or not author or not string.find(number, '.', 1, true) then
    author = ''
  end
  if author ~= '' then
    outbox = KEYS[5]
  end
  -- Without the key of the list, the target has gained its author since it was read: the list keeps it.
  if verb == 'e' and KEYS[10] then
    redis.call('ZREM', KEYS[10], member)
  end
  local journal_id = write_outbox(outbox, 'moderate-target', 'now', ARGV[2], 'target', member, 'verb', verb,
    'reason', ARGV[5], 'actor', ARGV[6], 'author', author)
  begin(target, verb, change, outbox, journal_id)
end
return { ARGV[1], line_of(target) and next_keys(names) or {}, registration }
