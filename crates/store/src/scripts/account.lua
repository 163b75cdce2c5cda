-- Makes a user an account of a member, or takes that back: one half on the shard of each. Sets the exclusions of a member.
-- Follows journal.lua and audit.lua.
--
-- KEYS    1 users (hash)   2 changes (stream)   3 audit log (stream)   4 subjects and reasons (hash)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 '1' to write to the journal
--         4 string: actor, or ''   5 verb   6 string: user   7 string: the other one
--         8 integer: number of the account for 'join', or for 'add' in a rebuild; case of 'exclude', 'dismiss' and
--         'reopen'; else ''
--         9 string: reason of these   10 '1' if the user may read it   11 '1' if a member joins or detaches
--         verbs on the shard of a member: 'add' and 'remove', the other one is the account
--         on the shard of an account: 'join' and 'detach', the other one is the member; '' to detach it from any, in a
--         rebuild
--         'check' changes nothing; 'dismiss' and 'reopen' only write to the audit log and the journal
--         'exclude' replaces the exclusions of a case, the other one: 'id/from/until' for each, or '' for none; or
--         '=' and the exclusions of the case as they are stored
-- Returns { schema fingerprint, {}, accounts, result }
--         accounts  of the user, as users.lua stores them
--         result    'ok', also if nothing was to change; 'added' to the list; 'detached' from the member; 'full' if the member has 20 accounts, or 100 exclusions;
--                   'account' if the user is an account of another member, or the member is one; 'member' if the
--                   account has accounts; 'excluded' if it has exclusions; 'moderated' if a moderator has hidden or frozen the user,
--                   by ARGV[11]. The first three alone have changed anything.
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   Numbers of accounts are not given again: a member without accounts keeps the last one. 'join', 'detach',
--         'exclude', 'dismiss' and 'reopen' are in the audit log and the journal, the first two of the account. Nothing expires.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}o {ar:0}l {ar:0}w 'v4 ...' 1795132800000 0 '' join 42 9 2

local MOST = 20
local MOST_EXCLUSIONS = 100
local verb, user, other, given = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local audit = { log = KEYS[3], subjects = KEYS[4], now = ARGV[2], reason = ARGV[9] or '', actor = ARGV[4] }
local outbox = ARGV[3] == '1' and KEYS[2] or nil
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
check_outbox(outbox)
check_audit(audit)

local letters, subject, rest = read_flags(user)
local before = string.sub(rest, 2)
local _, member = string.match(before, '^>(%d+) (.+)$')
local last, listed, is_listed = tonumber(string.match(before, '^%d+') or 0), {}, false
for number, account in string.gmatch(before, ' (%d+)=(%S+)') do
  if account == other then
    is_listed = true
  end
  if account ~= other or verb ~= 'remove' then
    listed[#listed + 1] = ' ' .. number .. '=' .. account
  end
end

-- Exclusions of other cases, and of the case.
local excluded, added = {}, {}
for exclusion in string.gmatch(before, ' (%x+/%S+)') do
  if verb ~= 'exclude' or string.match(exclusion, '[^/]+$') ~= given then
    excluded[#excluded + 1] = ' ' .. exclusion
  end
end
if verb == 'exclude' then
  for exclusion in string.gmatch(string.match(other, '^=(.*)') or '', '%S+') do
    added[#added + 1] = ' ' .. exclusion
  end
  for receiver, span in string.gmatch(string.match(other, '^[^=].*') or '', '([^%s/]+)(/%S+)') do
    added[#added + 1] = ' ' .. string.sub(redis.sha1hex(receiver), 1, 12) .. span .. '/' .. given
  end
end

-- Returns the accounts of the user after the change, or why it is refused.
local function change()
  -- A join or its end would let what the moderator has stopped count again.
  -- A detach that ended after its first half has nothing left to remove: its repetition must end it.
  local is_removed = verb == 'remove' and not is_listed
  if ARGV[11] == '1' and not is_removed and string.find(letters, '[hf]') then
    return nil, 'moderated'
  elseif verb == 'check' or verb == 'dismiss' or verb == 'reopen' or verb == 'exclude' and member and #added == 0 then
    return before
  elseif verb == 'detach' then
    return (member == other or member and other == '') and '' or before
  elseif verb == 'join' then
    if last > 0 and #listed > 0 then
      return nil, 'member'
    elseif member and member ~= other then
      return nil, 'account'
    elseif #excluded > 0 then
      return nil, 'excluded'
    end
    return '>' .. given .. ' ' .. other
  elseif member then
    return nil, 'account'
  elseif verb == 'add' and not is_listed then
    if #listed >= MOST then
      return nil, 'full'
    end
    local number = given ~= '' and tonumber(given) or last + 1
    last = math.max(last, number)
    listed[#listed + 1] = ' ' .. digits(number) .. '=' .. other
  end
  if #excluded + #added > MOST_EXCLUSIONS then
    return nil, 'full'
  end
  local text = table.concat(listed) .. table.concat(excluded) .. table.concat(added)
  return (last > 0 or text ~= '') and digits(last) .. text or ''
end

local after, refusal = change()
local result = verb == 'add' and not is_listed and 'added' or verb == 'detach' and after ~= before and 'detached' or 'ok'
if after and after ~= before then
  local id
  if verb == 'join' then
    id = write_outbox(outbox, 'account', 'now', ARGV[2], 'user', user, 'of', other, 'number', given, 'actor', ARGV[4])
  elseif verb == 'detach' then
    id = write_outbox(outbox, 'account', 'now', ARGV[2], 'user', user, 'of', '', 'number', '',
      'actor', ARGV[4])
  elseif verb == 'exclude' then
    id = write_outbox(outbox, 'exclude', 'now', ARGV[2], 'user', user, 'case', given,
      'excluded', string.sub(table.concat(added), 2), 'reason', audit.reason, 'actor', ARGV[4], 'public', ARGV[10])
  end
  -- A store that refuses the flags loses the entry again.
  write_after(outbox, id, function()
    if verb == 'join' or verb == 'detach' then
      write_audit(audit, user, { verb })
    elseif verb == 'exclude' then
      write_audit(audit, user, { #added > 0 and 'exclude' or 'include', 'case', given })
    end
    if verb ~= 'add' and verb ~= 'remove' then
      letters, subject = read_flags(user)
    end
    local text = letters .. ',' .. subject .. (after ~= '' and ',' .. after or '')
    redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1], FLAGS .. user, text)
  end)
end
if verb == 'dismiss' or verb == 'reopen' then
  local id = write_outbox(outbox, verb, 'now', ARGV[2], 'user', user, 'case', given, 'reason', audit.reason, 'actor', ARGV[4])
  write_after(outbox, id, function()
    redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
    write_audit(audit, user, { verb, 'case', given })
  end)
end
return { ARGV[1], {}, after or before, refusal or result }
