-- Appends entries to the audit log. Precedes every script that moderates users.
--
-- The log is an append-only stream. Users and reasons are stored in a separate hash
-- ('s7' -> user, entry id -> reason), so an erasure can delete them and keep the entries. An entry
-- refers to its user by a subject number, which is also stored with the flags. Entries about versions of the rules are
-- written by define.lua.
--
-- `audit` is { log, subjects, now, reason, actor }: two keys, Unix ms, and two texts or ''. An actor is the name of
-- a service key, or '@' for the user of the entry, whose id an erasure thereby removes.

-- Returns the flag letters of a user, the subject number or '', and the end: '' or a comma and the accounts.
local function read_flags(user)
  return string.match(redis.call('HGET', KEYS[1], FLAGS .. user) or '', '^(%a*),?(%d*)(.*)$')
end

-- Raises an error if a key holds another type. Scripts call it before their first write.
local function check_audit(audit)
  if audit then
    redis.call('XLEN', audit.log)
    redis.call('HLEN', audit.subjects)
  end
end

-- Appends an entry about a user. `entry` is the action, then names and values of further fields.
local function write_audit(audit, user, entry)
  if not audit then
    return
  end
  local letters, subject, accounts = read_flags(user)
  if subject == '' then
    subject = digits(redis.call('HINCRBY', audit.subjects, 'subjects', 1))
    redis.call('HSET', KEYS[1], FLAGS .. user, letters .. ',' .. subject .. accounts)
    redis.call('HSET', audit.subjects, 's' .. subject, user)
  end
  if audit.actor ~= '' then
    entry[#entry + 1], entry[#entry + 2] = 'actor', audit.actor
  end
  local id = redis.call('XADD', audit.log, '*', 'at', audit.now, 'subject', subject, 'action', unpack(entry))
  if audit.reason ~= '' then
    redis.call('HSET', audit.subjects, id, audit.reason)
  end
end

