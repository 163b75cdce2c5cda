-- Sets the moderation state of a user: hidden from all boards or not, frozen or not. The boards follow
-- in settle.lua.
--
-- KEYS    1 to 8 as pending.lua lists them
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 string: user
--         4 hidden: '1' or '0'   5 frozen: '1' or '0'   6 string: reason, or ''
--         7 string: actor, or ''                       8 '1' to write the change to the outbox
--         9 integer: names of the index whose keys to return
--         10 '1' if the user may read the reason in the journal; else '' or absent
-- Returns { schema fingerprint, keys, profile or nil, flags }
--         keys    the first ones that settle.lua needs; empty if no boards of this user are pending
--         { schema fingerprint, keys } if an erasure of the user is pending: nothing was changed, call
--         again after it
--         { schema fingerprint, {}, nil, flags } if the user is an account: nothing was changed
--         { stored fingerprint } if it has other settings, or if a change is incomplete: nothing was changed
-- State   The audit log gets an entry for each part of the state that changed. Flags do not expire.
-- Example EVALSHA sha 8 {ar:0}p {ar:0}1i {ar:0}l {ar:0}w {ar:0}o {ar:0}c {ar:0}n {ar:0}e
--         'v4 ...' 1795132800000 42 1 0 spam anna 0 300 1

if not read_lines() or is_incomplete() then
  return { stored_fingerprint }
end
local outbox = ARGV[8] == '1' and KEYS[5] or nil
check_keys(outbox)
local user, names = ARGV[3], tonumber(ARGV[9])
local pending = line_of(user)
if pending and pending.verb == 'e' then
  return { ARGV[1], next_keys(names) }
end
local flags, _, accounts = read_flags(user)
if string.find(accounts, '^,>') then
  return { ARGV[1], {}, false, flags .. ',' .. accounts }
end
local opted_out = string.match(flags, 's') or ''
local before = { hidden = string.find(flags, 'h') ~= nil, frozen = string.find(flags, 'f') ~= nil }
local after = { hidden = ARGV[4] == '1', frozen = ARGV[5] == '1' }
local entries = {}
if before.hidden ~= after.hidden then
  table.insert(entries, add_actor({ after.hidden and 'hide' or 'unhide' }, ARGV[7]))
end
if before.frozen ~= after.frozen then
  table.insert(entries, add_actor({ after.frozen and 'freeze' or 'unfreeze' }, ARGV[7]))
end
if #entries > 0 then
  flags = (after.hidden and 'h' or '') .. opted_out .. (after.frozen and 'f' or '')
  local change = {
    now = ARGV[2], reason = ARGV[6], flags = flags, log = 3, last = last_id(audit.log), entries = entries,
  }
  -- A user who opted out stays hidden in either case.
  local verb = 'f'
  if before.hidden ~= after.hidden and opted_out == '' then
    verb = after.hidden and 'h' or 'u'
  end
  local changed = table.concat({ entries[1][1], entries[2] and entries[2][1] }, ' ')
  local shown = ARGV[10] == '1' and { 'public', '1' } or {}
  local journal_id = write_outbox(outbox, 'moderate', 'now', ARGV[2], 'user', user, 'hidden', ARGV[4],
    'frozen', ARGV[5], 'reason', ARGV[6], 'changed', changed, 'actor', ARGV[7], unpack(shown))
  begin(user, verb, change, outbox, journal_id)
end
return { ARGV[1], line_of(user) and next_keys(names) or {}, redis.call('HGET', KEYS[1], user), flags }
