-- Parses KEYS and ARGV of count.lua, whose header specifies them. Follows hashes.lua, precedes
-- count_state.lua.

-- Days that share a key.
local SPAN = 31
-- Letters that replace actions in fields; build.rs inserts the table.
local LETTERS = { ACTION_CODES }

local index, archived, tombstones = KEYS[2], KEYS[3], hash_at(KEYS[5])
-- `outbox` is nil in a deployment without a journal. Entries that others receive points for go to the stream anyway.
local stream, register = KEYS[4], hash_at(KEYS[6])
local outbox = ARGV[8] == '1' and stream or nil
local now = tonumber(ARGV[2])
local span_lifetime = tonumber(ARGV[3])
local record_lifetime, today = ARGV[4], tonumber(ARGV[5])
local board_lifetime = {}
for period, seconds in string.gmatch(ARGV[6], '(%a)(%d+)') do
  board_lifetime[period] = tonumber(seconds)
end

-- Whether there are several shards: the receivers may be on others.
local has_shards = ARGV[9] == '1'

local cursor = 10
-- Takes some arguments.
local function take(width)
  cursor = cursor + width
  return unpack(ARGV, cursor - width + 1, cursor)
end
-- Takes a length, and then makes that many items of `width` arguments each.
local function take_list(width, make)
  local items = {}
  for i = 1, tonumber(take(1)) do
    items[i] = make(take(width))
  end
  return items
end

local rules = take_list(7, function(action, once, points, cap, cooldown, received, own)
  return {
    action = action, once = once, points = tonumber(points), cap = tonumber(cap), cooldown = tonumber(cooldown),
    received = tonumber(received), own = own == '1',
  }
end)
local targets_by_day = {}
local all_targets = take_list(6, function(date, day, periods, groups, first_key, content)
  local targets = {
    date = date, day = tonumber(day), periods = periods, groups = split(groups), first_key = tonumber(first_key),
    content = content, boards = {},
  }
  targets_by_day[targets.day] = targets_by_day[targets.day] or {}
  table.insert(targets_by_day[targets.day], targets)
  return targets
end)
local users = take_list(3, function(id, records, span)
  local user = { id = id, records = hash_at(KEYS[tonumber(records)]), days = {} }
  user.histories = take_list(1, function(key)
    return hash_at(KEYS[tonumber(key)])
  end)
  user.histories[1].user, user.histories[1].span = user, tonumber(span)
  return user
end)
local days = take_list(3, function(user, number, history)
  local day = { user = users[tonumber(user)], number = tonumber(number), history = hash_at(KEYS[tonumber(history)]) }
  day.history.user, day.history.span = day.user, math.floor(day.number / SPAN)
  day.of_span = day.number % SPAN
  day.digit = string.sub('0123456789abcdefghijklmnopqrstu', day.of_span + 1, day.of_span + 1)
  day.user.days[day.number] = day
  return day
end)
-- Returns the target that a deduplication record names, as a member or as it is.
local function target_of(record, action, is_member)
  local target = string.sub(record, #action + 2)
  if is_member and string.sub(target, 1, 1) == '#' then
    return '#' .. target
  end
  return target
end
local operations = take_list(10, function(rule, targets, day, verb, record, at, source, receiver, known, claim)
  local operation = {
    rule = rules[tonumber(rule)], targets = all_targets[tonumber(targets)], day = days[tonumber(day)], verb = verb,
    record = record, at = tonumber(at), dated = source ~= '0', queued = source == '2', claim = claim,
  }
  local action = operation.rule.action
  operation.field = LETTERS[action] and LETTERS[action] .. string.sub(record, #action + 2) or record
  local kind, id = string.sub(receiver, 1, 1), string.sub(receiver, 2)
  if kind == 'r' then
    operation.received = id
  elseif kind ~= '' then
    operation.receiver = { id = id, is_target = kind == 't', known = tonumber(known) }
    operation.on = id ~= target_of(record, action, kind == 't') and id or nil
  end
  if kind == 't' and not has_shards and verb ~= 'undo' then
    want(register, id)
  end
  return operation
end)
local audit = take_list(5, function(log, subjects, instant, reason, actor)
  log, subjects = KEYS[tonumber(log)], KEYS[tonumber(subjects)]
  return { log = log, subjects = subjects, now = instant, reason = reason, actor = actor }
end)[1]
-- The keys of the boards of events.
local event_keys = {}
take_list(2, function(event, key)
  event_keys[event] = KEYS[tonumber(key)]
end)

-- Reads the flags and undo logs of the users. Returns the undo logs of earlier calls, the fingerprint, the watched
-- boards and the definitions of events.
local function read_users()
  local fields, logs = { FINGERPRINT, WATCHED, DEFINITIONS }, {}
  for _, user in ipairs(users) do
    fields[#fields + 1] = FLAGS .. user.id
    fields[#fields + 1] = UNDO_LOG .. user.id
  end
  local values = redis.call('HMGET', KEYS[1], unpack(fields))
  for i, user in ipairs(users) do
    local flags, log = values[2 * i + 2] or '', values[2 * i + 3]
    user.hidden, user.frozen = is_hidden(flags), string.find(flags, 'f') ~= nil
    -- A log that is empty is complete.
    if log and log ~= '' then
      logs[#logs + 1] = { user.id, log }
    end
  end
  return logs, values[1], values[2], values[3]
end
local unfinished_logs, stored_fingerprint, watched, definitions = read_users()
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
elseif #unfinished_logs > 0 then
  return { ARGV[1], {}, {}, {}, unfinished_logs }
elseif definitions_number(definitions) ~= ARGV[10] then
  return { ARGV[1], {}, {}, {}, '', definitions or '' }
end
