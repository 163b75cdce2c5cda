-- Parses KEYS and ARGV of count.lua, whose header specifies them. Follows hashes.lua, precedes
-- count_state.lua.

-- Days that share a key.
local SPAN = 31
-- Letters that replace actions in fields; build.rs inserts the table.
local LETTERS = { ACTION_CODES }

local index, archived, tombstones = KEYS[2], KEYS[3], hash_at(KEYS[5])
local outbox = ARGV[8] == '1' and KEYS[4] or nil
local register, deliveries = hash_at(KEYS[6]), KEYS[7]
local now = tonumber(ARGV[2])
local span_lifetime = tonumber(ARGV[3])
local record_lifetime, today = ARGV[4], tonumber(ARGV[5])
local board_lifetime = {}
for period, seconds in string.gmatch(ARGV[6], '(%a)(%d+)') do
  board_lifetime[period] = tonumber(seconds)
end

-- The number of this shard, if there are several: what others receive is delivered to their shards.
local shard = ARGV[9] ~= '' and ARGV[9] or nil

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
local all_targets = take_list(7, function(date, day, periods, groups, first_key, content, first_content_key)
  local targets = {
    date = date, day = tonumber(day), periods = periods, groups = split(groups), first_key = tonumber(first_key),
    content = content, first_content_key = tonumber(first_content_key), boards = {},
  }
  targets_by_day[targets.day] = targets_by_day[targets.day] or {}
  table.insert(targets_by_day[targets.day], targets)
  return targets
end)
-- The users and targets whose scores may change. `field` is unique: the field of the undo log.
local participants, participant_of = {}, {}
local function participant(field, id)
  local known = participant_of[field]
  if not known then
    known = { field = field, id = id, is_target = field ~= id }
    participant_of[field], participants[#participants + 1] = known, known
  end
  return known
end
-- Field of the register: the number of the last registration. No member equals it.
local REGISTRATIONS = '#'
local function target_at(member)
  return participant('\t' .. member, member)
end
local users = take_list(3, function(id, records, span)
  local user = participant(id, id)
  user.records, user.days = hash_at(KEYS[tonumber(records)]), {}
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
  return is_member and string.sub(target, 1, 1) == '#' and '#' .. target or target
end
local operations = take_list(11, function(rule, targets, day, verb, record, at, source, receiver, author, list, claim)
  local operation = {
    rule = rules[tonumber(rule)], targets = all_targets[tonumber(targets)], day = days[tonumber(day)], verb = verb,
    record = record, at = tonumber(at), dated = source ~= '0', queued = source == '2',
  }
  local action = operation.rule.action
  operation.field = LETTERS[action] and LETTERS[action] .. string.sub(record, #action + 2) or record
  local kind, id = string.sub(receiver, 1, 1), string.sub(receiver, 2)
  if kind == 'r' then
    operation.received = id
  elseif kind ~= '' then
    operation.receiver = { id = id, is_target = kind == 't' }
    operation.on = id ~= target_of(record, action, kind == 't') and id or nil
    local number, authorship = string.match(claim, '^([%d.]*);(%d*)$')
    operation.claim = { number = number or '', authorship = authorship or '' }
  end
  operation.author = author ~= '' and { id = author } or nil
  if shard or not operation.receiver then
    return operation
  end
  -- The receivers are on this shard.
  if kind == 'u' then
    operation.receiver = participant(id, id)
  else
    operation.receiver = target_at(id)
    want(register, id)
  end
  if operation.author then
    operation.author, operation.list = participant(author, author), KEYS[tonumber(list)]
    want(register, REGISTRATIONS)
  end
  return operation
end)
local audit = take_list(5, function(log, subjects, instant, reason, actor)
  log, subjects = KEYS[tonumber(log)], KEYS[tonumber(subjects)]
  return { log = log, subjects = subjects, now = instant, reason = reason, actor = actor }
end)[1]
local delivered = take_list(15, function(from, id, verb, receiver, points, periods, targets, ...)
  local number, authorship, author, listed, instant, at, action, list = ...
  local member = string.sub(receiver, 2)
  local one = string.sub(receiver, 1, 1) == 't' and target_at(member) or participant(member, member)
  if one.is_target then
    want(register, member)
  end
  return {
    from = from, id = id, cause = from .. ':' .. id, verb = verb, one = one, points = tonumber(points), periods = periods,
    targets = all_targets[tonumber(targets)], number = number, authorship = authorship, author = author,
    listed = listed, instant = instant, at = tonumber(at), action = action,
    list = KEYS[tonumber(list)],
  }
end)

-- The keys of the boards of events.
local event_keys = {}
take_list(2, function(event, key)
  event_keys[event] = KEYS[tonumber(key)]
end)

-- Returns the registration of a target, or nil.
local function read_target(target)
  local text = get(register, target.id)
  if not text then
    return
  end
  local number, instant, authorship, author, json = string.match(text, REGISTRATION)
  if not number then
    error({ err = 'WRONGTYPE Invalid value in the register' })
  end
  return { number = number, instant = instant, authorship = authorship, author = author, json = json }
end

for i, operation in ipairs(operations) do
  local receiver = not shard and operation.receiver
  local registered = receiver and receiver.is_target and read_target(receiver)
  if registered and registered.author ~= '' then
    participant(registered.author, registered.author)
  end
end

-- Reads the flags and undo logs of participants from one on. Returns the undo logs of earlier calls, the
-- fingerprint, the watched boards and the definitions of events.
local function read_participants(first)
  local fields, logs = { FINGERPRINT, WATCHED, DEFINITIONS }, {}
  for i = first, #participants do
    fields[#fields + 1] = FLAGS .. participants[i].field
    fields[#fields + 1] = UNDO_LOG .. participants[i].field
  end
  local values = redis.call('HMGET', KEYS[1], unpack(fields))
  for i = first, #participants do
    local one, flags, log = participants[i], values[2 * (i - first) + 4] or '', values[2 * (i - first) + 5]
    one.hidden, one.frozen = is_hidden(flags), string.find(flags, 'f') ~= nil
    -- A log that is empty is complete.
    if log and log ~= '' then
      logs[#logs + 1] = { one.field, log }
    end
  end
  return logs, values[1], values[2], values[3]
end
local unfinished_logs, stored_fingerprint, watched, definitions = read_participants(1)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
elseif #unfinished_logs > 0 then
  return { ARGV[1], {}, {}, {}, unfinished_logs }
elseif definitions_number(definitions) ~= ARGV[10] then
  return { ARGV[1], {}, {}, {}, '', definitions or '' }
end
local known_participants = #participants
