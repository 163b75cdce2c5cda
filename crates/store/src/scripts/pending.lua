-- Changes of visibility and erasures that take several steps. Follows journal.lua and audit.lua in
-- the scripts that begin or continue one. Their first keys are the same:
--
-- KEYS    1 users (hash)
--         2 index (sorted set: board or span of histories -> last expiry, Unix s)
--         3 audit log (stream)   4 subjects and reasons (hash: 's7' -> user, entry id -> reason)
--         5 changes (stream)
--         6 pending changes (hash: user or target -> change, JSON; 'sweep' and 'boards 42', 'keys 42': see below)
--         7 log of opt-outs (stream)
--         8 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
-- ARGV    1 string: schema fingerprint of the caller, or the stored one with its lines
--
-- A change begins with two writes: what it consists of goes to the pending changes, and a line with
-- its number and user is appended to the stored fingerprint. Every script returns or compares the
-- stored fingerprint, so from then on every caller knows of the change. A line is '!h 17 42': an
-- exclamation mark while anything but boards is incomplete, a verb, a number that is never used again,
-- the user, or the target as a tab and its member. Verbs: h hide on boards, u show on boards, e erase,
-- f flags alone, x log an erasure.
--
-- Redis does not roll a script back, and a store may refuse any write. A refused write leaves the line
-- with its exclamation mark: the next script of this kind completes it first, and no other script
-- writes before.
--
-- The boards follow: those that a caller is about to read or write at once, and all of them in a sweep
-- through the index, in steps. 'sweep' is the position of the sweep: 'number phase score name', where
-- the number is that of the last change that the sweep covers, and the phase 'b' (boards and spans
-- from the name on) or 'a' (audit log from the entry on). 'boards 42' and 'keys 42' count what the
-- sweep has removed of an erased user.
--
-- The score of a hidden user is stored negated: it sorts below the order counter '#' and appears in
-- no rank and no page. Negating it again restores the same score and order.

-- Entries of the log of opt-outs.
local OPT_OUTS = 1000
local CHANGES = KEYS[6]
-- Keys of this generation begin as that of the index.
local PREFIX = string.sub(KEYS[2], 1, -2)
local SETTINGS = string.match(ARGV[1], '^[^\n]*')

local audit = { log = KEYS[3], subjects = KEYS[4] }
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
local lines = {}

-- Returns whether the data belongs to the caller, and parses the lines.
local function read_lines()
  if not stored_fingerprint then
    return true
  end
  local settings, rest = string.match(stored_fingerprint, '^([^\n]*)(.*)$')
  for incomplete, verb, number, user in string.gmatch(rest, '\n(!?)(%a) (%d+) ([^\n]+)') do
    table.insert(lines, { incomplete = incomplete ~= '', verb = verb, number = tonumber(number), user = user })
  end
  return settings == SETTINGS
end

-- Returns whether a change is incomplete: settle.lua must complete it first, because only a caller that
-- knows the line can declare all keys.
local function is_incomplete()
  for _, line in ipairs(lines) do
    if line.incomplete then
      return true
    end
  end
  return false
end

local function write_lines()
  local parts = { SETTINGS }
  for _, line in ipairs(lines) do
    table.insert(parts, (line.incomplete and '!' or '') .. line.verb .. ' ' .. digits(line.number) .. ' ' .. line.user)
  end
  redis.call('HSET', KEYS[1], FINGERPRINT, table.concat(parts, '\n'))
end

-- Returns the member of a target, or nil for a user.
local function member_of(user)
  return string.match(user, '^\t(.*)$')
end

-- Returns the pending change of a user, or nil.
local function line_of(user)
  for _, line in ipairs(lines) do
    if line.user == user then
      return line
    end
  end
end

local function remove_line(removed)
  for i, line in ipairs(lines) do
    if line == removed then
      table.remove(lines, i)
    end
  end
end

-- Adds the actor to an entry, if it is known, and returns the entry.
local function add_actor(entry, actor)
  if actor ~= '' then
    entry[#entry + 1], entry[#entry + 2] = 'actor', actor
  end
  return entry
end

-- Raises an error if a key holds another type. Scripts call it before their first write.
local function check_keys(outbox)
  check_audit(audit)
  check_outbox(outbox)
  redis.call('ZCARD', KEYS[2])
  redis.call('HLEN', CHANGES)
  redis.call('XLEN', KEYS[7])
  redis.call('HLEN', KEYS[8])
end

-- Returns the id of the last entry of a log.
local function last_id(log)
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  return last and last[1] or '0-0'
end

-- Returns the id of the next entry. The ids of opt-outs have sequence numbers that the audit log does
-- not reach, so no entry of one log has the id of one of the other.
local function next_id(log)
  if log ~= KEYS[7] then
    return '*'
  end
  local time, millis, sequence = redis.call('TIME'), string.match(last_id(log), '^(%d+)%-(%d+)$')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now > tonumber(millis) then
    return digits(now) .. '-1000000'
  end
  return millis .. '-' .. digits(sequence + 1)
end

-- Appends the entries of a change that the log does not contain yet.
local function log_change(change, subject)
  local log = KEYS[change.log]
  local written = redis.call('XRANGE', log, '(' .. change.last, '+', 'COUNT', #change.entries + 1)
  for i, entry in ipairs(change.entries) do
    local id = written[i] and written[i][1]
      or redis.call('XADD', log, next_id(log), 'at', change.now, 'subject', subject, 'action', unpack(entry))
    if change.reason ~= '' then
      redis.call('HSET', audit.subjects, id, change.reason)
    end
  end
  if log == KEYS[7] then
    redis.call('XTRIM', log, 'MAXLEN', OPT_OUTS)
  end
end

-- Removes an erased author from the registrations of their targets, where the script declares these keys: from the
-- register of this shard, or with several shards by entries of the stream that receive.lua follows to the shards of the
-- targets. The list loses each target at once: an entry is not repeated.
local function forget_author(user, now)
  local list, register = PREFIX .. 'u:' .. user, PREFIX .. 't'
  local declared = {}
  for i = 9, #KEYS do
    declared[KEYS[i]] = true
  end
  for _, member in ipairs(declared[list] and redis.call('ZRANGE', list, 0, -1) or {}) do
    local registration = declared[register] and redis.call('HGET', register, member)
    local number, instant, authorship, _, json = string.match(registration or '', REGISTRATION)
    if not declared[register] then
      redis.call('XADD', KEYS[5], '*', 'did', 'disown', 'now', now, 'author', user, 'target', member)
      redis.call('ZREM', list, member)
    elseif number then
      redis.call('HSET', register, member, table.concat({ number, instant, authorship, '', json }, ';'))
    end
  end
end

-- Deletes the registration of a target. The number of its subject may be new.
local function delete_target(target, change)
  local subjects = tonumber(redis.call('HGET', audit.subjects, 'subjects') or 0)
  if tonumber(change.subject) > subjects then
    redis.call('HSET', audit.subjects, 'subjects', change.subject, 's' .. change.subject, target)
  end
  redis.call('HDEL', KEYS[1], FLAGS .. target)
  redis.call('HDEL', PREFIX .. 't', member_of(target))
  log_change(change, change.subject)
end

-- Deletes everything of an erased user but scores and what the index names.
local function erase_own_keys(user, change)
  forget_author(user, change.now)
  if change.tombstone ~= '' then
    redis.call('HSET', KEYS[8], redis.sha1hex(user), change.tombstone)
  end
  redis.call('HDEL', KEYS[1], user, FLAGS .. user, PAUSES .. user)
  if change.subject ~= '' then
    redis.call('HDEL', audit.subjects, 's' .. change.subject)
  end
  if #change.keys > 0 then
    redis.call('UNLINK', unpack(change.keys))
  end
end

local function write_flags(user, change)
  local _, subject, accounts = read_flags(user)
  if subject == '' then
    subject = digits(redis.call('HINCRBY', audit.subjects, 'subjects', 1))
  end
  local fields = { FLAGS .. user, change.flags .. ',' .. subject .. accounts }
  if change.profile then
    fields[3], fields[4] = user, change.profile
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('HSET', audit.subjects, 's' .. subject, user)
  log_change(change, subject)
end

-- Writes everything of a change but boards, and removes the exclamation mark of its line. Every write
-- may have been made before.
local function complete(line)
  local change = cjson.decode(redis.call('HGET', CHANGES, line.user))
  if line.verb == 'e' and member_of(line.user) then
    delete_target(line.user, change)
  elseif line.verb == 'e' then
    erase_own_keys(line.user, change)
  elseif line.verb == 'x' then
    log_change(change, '')
  else
    write_flags(line.user, change)
  end
  line.incomplete = false
  if line.verb == 'f' or line.verb == 'x' then
    remove_line(line)
  end
  write_lines()
  if #lines == 0 then
    redis.call('UNLINK', CHANGES)
  elseif line.verb == 'x' then
    redis.call('HDEL', CHANGES, line.user, 'boards ' .. line.user, 'keys ' .. line.user)
  elseif line.verb ~= 'e' then
    redis.call('HDEL', CHANGES, line.user)
  end
end

-- Stores a change, appends its line and completes it. If the store refuses the first two writes, the
-- journal entry that announced the change is deleted again.
local function begin(user, verb, change, outbox, journal_id)
  local line, number = line_of(user), change.now * 1000
  local last = string.match(redis.call('HGET', CHANGES, 'sweep') or '', '^%d+')
  number = math.max(number, (tonumber(last) or 0) + 1)
  for _, other in ipairs(lines) do
    number = math.max(number, other.number + 1)
  end
  if verb == 'f' and line then
    -- The boards of an earlier change are still to be written.
    line.incomplete = true
  else
    remove_line(line)
    line = { incomplete = true, verb = verb, number = number, user = user }
    table.insert(lines, line)
  end
  write_after(outbox, journal_id, function()
    redis.call('HSET', CHANGES, user, cjson.encode(change))
    write_lines()
  end)
  complete(line)
end

-- Returns the name, score and rank in the index from which the sweep continues.
local function sweep_rank(score, name)
  if score == '-' then
    return 0
  elseif redis.call('ZSCORE', KEYS[2], name) == score then
    return redis.call('ZRANK', KEYS[2], name) + 1
  end
  -- The name expired, or is a new board now: continue with the first one of its score.
  return redis.call('ZCOUNT', KEYS[2], '-inf', '(' .. score)
end

-- Returns the position of the sweep: the number of the last change it covers, its phase, and the score
-- and name, or the id of the audit log entry, after which it continues.
local function sweep_position()
  local text = redis.call('HGET', CHANGES, 'sweep')
  if text then
    local number, phase, score, name = string.match(text, '^(%d+) (%a) (%S+) (.*)$')
    return tonumber(number), phase, score, name
  end
  local number = 0
  for _, line in ipairs(lines) do
    number = math.max(number, line.number)
  end
  return number, 'b', '-', ''
end

-- Returns the users whose histories the sweep deletes.
local function erased_users()
  local users = {}
  for _, line in ipairs(lines) do
    if line.verb == 'e' and not member_of(line.user) then
      table.insert(users, line.user)
    end
  end
  return users
end

-- Returns the key of a board of the index, or nothing for a span, which is a number.
local function board_key(name)
  return string.find(name, '^%a') and PREFIX .. 'b' .. name
end

-- Returns the key of a board of the index, or the histories of the erased users in a span.
local function keys_of_name(name, users)
  local keys = { board_key(name) }
  for _, user in ipairs(#keys == 0 and users or {}) do
    keys[#keys + 1] = PREFIX .. 'h:' .. name .. ':' .. user
  end
  return keys
end

-- Returns the keys that the next steps need: the keys of `names` names of the index, divided by the
-- number of pending changes.
local function next_keys(names)
  local keys = {}
  if #lines == 0 or names == 0 then
    return keys
  end
  local _, phase, score, name = sweep_position()
  if phase == 'b' then
    local first, users = sweep_rank(score, name), erased_users()
    local last = first + math.ceil(names / #lines) - 1
    for _, next_name in ipairs(redis.call('ZRANGE', KEYS[2], first, last)) do
      for _, key in ipairs(keys_of_name(next_name, users)) do
        keys[#keys + 1] = key
      end
    end
  end
  -- A step without names of the index still needs a call.
  return #keys > 0 and keys or { KEYS[3] }
end

