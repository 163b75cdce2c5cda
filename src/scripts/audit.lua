-- Writes the audit list. Precedes the text of every script that moderates.
--
-- The list is a stream that only grows. Who was meant and why lie apart, in a hash
-- ('s7' -> user, entry id -> reason), so that an erasure takes both away and leaves the entry,
-- which names its subject by a number. The flags (hash: user -> 'flags,subject') keep that number.
--
-- `audit` is { flags, entries, who, now, reason }: three keys, Unix ms, and a text or ''.

-- A number as digits: tostring would round above 1e14.
local function digits(n)
  -- Adding 0 makes 0 of -0.
  return string.format('%.0f', n + 0)
end

-- Which flags a user has, and their number in the audit list or ''.
local function read_flags(audit, user)
  local held, subject = string.match(redis.call('HGET', audit.flags, user) or '', '^(%a*),?(%d*)$')
  return held or '', subject or ''
end

-- Fails, before anything is written, where the keys hold something else.
local function check_audit(audit)
  if audit then
    redis.call('HLEN', audit.flags)
    redis.call('XLEN', audit.entries)
    redis.call('HLEN', audit.who)
  end
end

-- Adds an entry: what was done, then fields by name and value.
local function write_audit(audit, user, entry)
  if not audit then
    return
  end
  local held, subject = read_flags(audit, user)
  if subject == '' then
    subject = digits(redis.call('HINCRBY', audit.who, 'subjects', 1))
    redis.call('HSET', audit.flags, user, held .. ',' .. subject)
    redis.call('HSET', audit.who, 's' .. subject, user)
  end
  local id = redis.call('XADD', audit.entries, '*', 'at', audit.now, 'subject', subject, 'action', unpack(entry))
  if audit.reason ~= '' then
    redis.call('HSET', audit.who, id, audit.reason)
  end
end

