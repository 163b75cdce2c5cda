-- Parses KEYS and ARGV of count.lua, whose header specifies them. Follows hashes.lua, precedes
-- count_state.lua.

-- Days that share a key.
local SPAN = 31
-- Letters that replace actions in fields; build.rs inserts the table.
local LETTERS = { ACTION_CODES }

local index, archived, tombstones = KEYS[2], KEYS[3], hash_at(KEYS[5])
local outbox = ARGV[8] == '1' and KEYS[4] or nil
local now = tonumber(ARGV[2])
local span_lifetime = tonumber(ARGV[3])
local record_lifetime, today = ARGV[4], tonumber(ARGV[5])
local board_lifetime = {}
for period, seconds in string.gmatch(ARGV[6], '(%a)(%d+)') do
  board_lifetime[period] = tonumber(seconds)
end

local cursor = 8
local function take()
  cursor = cursor + 1
  return ARGV[cursor]
end
local function take_number()
  return tonumber(take())
end
-- Takes a length, and then that many items.
local function take_list(take_item)
  local items = {}
  for i = 1, take_number() do
    items[i] = take_item()
  end
  return items
end
local function split(text)
  local items = {}
  for item in string.gmatch(text, '[^,]+') do
    table.insert(items, item)
  end
  return items
end

local rules = take_list(function()
  return {
    action = take(), once = take(), points = take_number(), cap = take_number(), cooldown = take_number(),
  }
end)
local targets_by_day = {}
local all_targets = take_list(function()
  local targets = {
    date = take(), day = take_number(), periods = take(), groups = split(take()), first_key = take_number(),
  }
  targets_by_day[targets.day] = targets_by_day[targets.day] or {}
  table.insert(targets_by_day[targets.day], targets)
  return targets
end)
local users = take_list(function()
  local user = { id = take(), records = hash_at(KEYS[take_number()]), days = {} }
  local span = take_number()
  user.histories = take_list(function()
    return hash_at(KEYS[take_number()])
  end)
  user.histories[1].user, user.histories[1].span = user, span
  return user
end)
local fields, unfinished_logs = { FINGERPRINT, WATCHED }, {}
for i, user in ipairs(users) do
  fields[2 * i + 1], fields[2 * i + 2] = FLAGS .. user.id, UNDO_LOG .. user.id
end
local values = redis.call('HMGET', KEYS[1], unpack(fields))
local stored_fingerprint, watched = values[1], values[2]
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
for i, user in ipairs(users) do
  local flags, log = values[2 * i + 1] or '', values[2 * i + 2]
  user.hidden, user.frozen = is_hidden(flags), string.find(flags, 'f') ~= nil
  if log then
    table.insert(unfinished_logs, { user.id, log })
  end
end
if #unfinished_logs > 0 then
  return { ARGV[1], {}, {}, {}, unfinished_logs }
end
local days = take_list(function()
  local user, number = users[take_number()], take_number()
  local day = { user = user, number = number, history = hash_at(KEYS[take_number()]) }
  day.history.user, day.history.span = user, math.floor(number / SPAN)
  day.of_span = day.number % SPAN
  day.digit = string.sub('0123456789abcdefghijklmnopqrstu', day.of_span + 1, day.of_span + 1)
  user.days[day.number] = day
  return day
end)
local operations = take_list(function()
  local operation = {
    rule = rules[take_number()], targets = all_targets[take_number()], day = days[take_number()],
    verb = take(), record = take(), at = take_number(),
  }
  local action = operation.rule.action
  operation.field = LETTERS[action] and LETTERS[action] .. string.sub(operation.record, #action + 2)
    or operation.record
  local timestamp = take()
  operation.dated, operation.queued = timestamp ~= '0', timestamp == '2'
  return operation
end)
local audit = take_list(function()
  return {
    log = KEYS[take_number()], subjects = KEYS[take_number()], now = take(), reason = take(),
  }
end)[1]

