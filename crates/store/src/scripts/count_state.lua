-- Reads the data that count.lua counts in, and changes it in memory: boards, histories and
-- deduplication records. Follows count_call.lua.

local DAY = 86400000
local PERIODS = 'dwmya'
local PERIOD_BITS = { [100] = 1, [119] = 2, [109] = 4, [121] = 8, [97] = 16 } -- by the byte of the letter
local COUNTER = '#'
local ADJUST = 'adjust'
-- In the place of the letters of periods: the board of an event, whose id is in the place of the groups.
local EVENT = 'e'
-- Field of a history. It means that the key has an expiry. In the newest history of a user it is two
-- times the day of UTC on which the expiry of the active records was last renewed, and 1 more if they were
-- written on that day.
local MARKER = '\t'
-- Precedes the field of an undo record.
local UNDONE = '-'

local boards, boards_by_key = {}, {}

-- Returns the instant at which the user was erased, or -inf. Older activities stay erased, however
-- late they arrive.
local function erased_at(user)
  return tonumber(get(tombstones, redis.sha1hex(user.id)) or -math.huge)
end

-- Returns the board with this key. `wanted` lists ids of users, and contains each as a key; `changed` lists users, with
-- their former scores.
local function board_at(key, period)
  local board = boards_by_key[key]
  if not board then
    board = {
      key = key, lifetime = board_lifetime[period] or 0,
      wanted = {}, scores = false, changed = false, counter = 0, former_counter = 0, new = false, created = false,
      archived = false,
    }
    boards_by_key[key], boards[#boards + 1] = board, board
  end
  return board
end

-- Returns the boards of some periods, for all users or of a group, which has this row among those of the
-- targets. Returns false if the targets lack one of them.
local function boards_of_row(targets, periods, row)
  local found = {}
  for i = 1, #periods do
    local period = string.sub(periods, i, i)
    local column = string.find(targets.periods, period, 1, true)
    if not row or not column then
      return false
    end
    found[i] = board_at(KEYS[targets.first_key + row * #targets.periods + column - 1], period)
  end
  return found
end

-- Returns the boards of some periods and groups in the order of their keys: each period for all
-- users, then for each group. Returns false if the targets lack one of them. The board of an event is not among them.
local function boards_of(targets, periods, groups)
  if periods == EVENT then
    return {}
  end
  local name = periods .. ',' .. table.concat(groups, ',')
  local known = targets.boards[name]
  if known ~= nil then
    return known
  end
  local found = boards_of_row(targets, periods, 0)
  for _, group in ipairs(found and groups or {}) do
    local row
    for i, other in ipairs(targets.groups) do
      row = other == group and i or row
    end
    local of_group = found and boards_of_row(targets, periods, row)
    for _, board in ipairs(of_group or {}) do
      found[#found + 1] = board
    end
    found = of_group and found
  end
  targets.boards[name] = found
  return found
end

-- Names a user whose score will be read, so that one command reads all of a board.
local function want_scores(some, one)
  local id = one.id
  for _, board in ipairs(some) do
    local wanted = board.wanted
    if not wanted[id] then
      wanted[id], wanted[#wanted + 1] = true, id
    end
  end
end

-- Reads the order counter of a board and the scores of the users whose operations name it.
local function read_board(board)
  local replies = redis.call('ZMSCORE', board.key, COUNTER, unpack(board.wanted))
  local counter = tonumber(replies[1] or 0)
  board.counter, board.former_counter, board.new, board.created = counter, counter, not replies[1], false
  local scores = {}
  for i, id in ipairs(board.wanted) do
    scores[id] = tonumber(replies[i + 1] or 0)
  end
  board.scores, board.changed = scores, {}
  -- An archived board that has expired no longer changes.
  board.archived = board.new and redis.call('SISMEMBER', archived, board.key) == 1
end

local function read_boards(some, one)
  want_scores(some, one)
  for _, board in ipairs(some) do
    if not board.scores then
      read_board(board)
    end
    if not board.scores[one.id] then
      board.scores[one.id] = tonumber(redis.call('ZSCORE', board.key, one.id) or 0)
    end
  end
end

-- The events whose boards the call has, in the order of their definitions.
local events = {}
for id, rest in string.gmatch(definitions or '', '\n(%S+) ([^\n]+)') do
  if event_keys[id] then
    local from, to, expiry, actions, groups = string.match(rest, '^(%S+) (%S+) %S+ (%S+) (%S+) (%S+)$')
    local event = counted_event(from, to, actions, groups)
    event.id, event.board = id, board_at(event_keys[id], '')
    event.board.lifetime = math.max(1, tonumber(expiry) - math.floor(now / 1000))
    events[#events + 1] = event
  end
end

-- Returns the boards of the events in which an activity of an instant counts, its points on each, and the events.
-- `points` are the points of its rule.
local function events_of(at, action, groups, points)
  local found, amounts, counting = {}, {}, {}
  for _, event in ipairs(action ~= ADJUST and events or {}) do
    local amount = points_in(event, at, action, groups, points)
    if amount then
      local n = #found + 1
      found[n], amounts[n], counting[n] = event.board, amount, event
    end
  end
  return found, amounts, counting
end

-- Returns the event of an id whose board the call has, if it had begun at an instant; else nil.
local function find_event(id, at)
  for _, event in ipairs(events) do
    if event.id == id and event.from <= at then
      return event
    end
  end
end

-- Returns the boards of the events whose standings the reply has, and these events.
local function ranked_events(operation)
  local rule, event = operation.rule, operation.event
  if event then
    return { event.board }, { event }
  end
  local found, _, counting = events_of(operation.at, rule.action, operation.targets.groups, rule.points)
  return found, counting
end

-- Returns the points of a user on a board that has been read.
local function points_on(board, one)
  -- Scores of hidden ones are stored negated.
  return math.floor(math.abs(board.scores[one.id]) / ORDERS)
end

-- Sets the points of a user, with the next order number.
local function set_points(board, one, points)
  local scores, changed, score = board.scores, board.changed, 0
  if not changed[one] then
    changed[one], changed[#changed + 1] = scores[one.id], one
  end
  if points > 0 then
    score = points * ORDERS + (ORDERS - 1 - math.floor(board.counter))
    board.created, board.new = board.created or board.new, false
  end
  -- Also where the user leaves the board: the order counter shows every change.
  board.counter = next_counter(board.counter, false)
  scores[one.id] = one.hidden and -score or score
end

-- Returns the days of a daily record as bits of a number, and whether this day is one of them.
local function read_daily_record(day, field)
  local bits = tonumber(get(day.history, field) or 0)
  return bits, math.floor(bits / 2 ^ day.of_span) % 2 == 1
end

local function history_field(day, action)
  return day.digit .. (LETTERS[action] or action)
end

-- Returns the count and the points of an action on a day.
local function read_history(day, action)
  local stored = get(day.history, history_field(day, action)) or '0 0'
  local count, points = string.match(stored, '^(%d+) (-?%d+)$')
  if not count then
    error({ err = 'WRONGTYPE Invalid value in a history' })
  end
  return tonumber(count), tonumber(points)
end

-- Returns the points of all actions on a day.
local function points_of_day(day)
  local fields, values = redis.call('HGETALL', day.history.key), day.history.values
  for i = 1, #fields, 2 do
    if values[fields[i]] == nil then
      values[fields[i]] = fields[i + 1]
    end
  end
  local sum = 0
  for field, value in pairs(values) do
    -- A colon is in daily records only.
    if value and string.sub(field, 1, 1) == day.digit and not string.find(field, ':', 1, true) then
      sum = sum + tonumber(string.match(value, '-?%d+$') or 0)
    end
  end
  return sum
end

local function set_history(day, action, count, points)
  local stored = (count > 0 or points ~= 0) and digits(count) .. ' ' .. digits(points)
  set(day.history, history_field(day, action), stored)
end

-- Removes one activity from a day, unless the history of that day has expired.
local function remove_from_history(day, action, amount)
  local count, points = read_history(day, action)
  local adjustments, adjusted = read_history(day, ADJUST)
  if count == 0 then
    return
  end
  local left = points - amount
  if action == ADJUST then
    adjustments, adjusted = count - 1, left
  else
    left = count > 1 and math.max(0, left) or 0
  end
  -- A negative adjustment may have removed these points already: raise it until the day is not
  -- below zero. No other action has negative points.
  local sum = adjusted < 0 and points_of_day(day) - points + left or 0
  set_history(day, action, count - 1, left)
  if sum < 0 then
    set_history(day, ADJUST, adjustments, adjusted - sum)
  end
end

-- Formats the head of an active record: as one number if possible, because Redis stores an integer
-- in ten bytes.
local function record_head(changed, amounts, targets)
  local offset = targets.day - math.floor(changed / DAY)
  local short = string.find(amounts, '^%d+$') and changed >= 1e12 and changed < 1e13 and math.abs(offset) <= 1
  if not short then
    return string.format('%.0f %s %d %s', changed, amounts, targets.day, targets.periods)
  end
  local periods = 0
  for i = 1, #targets.periods do
    periods = periods + PERIOD_BITS[string.byte(targets.periods, i)]
  end
  return string.format('%s%02d%d', amounts, periods * 3 + offset + 1, changed)
end

-- Returns the instant of the last change, amounts, day and periods of the head of an active record.
local function parse_record_head(head)
  local changed, amounts, day, periods = string.match(head, '^(%S+) (%S+) (%S+) (%S+)$')
  if changed then
    return tonumber(changed), amounts, tonumber(day), periods
  end
  local at, code, letters = tonumber(string.sub(head, -13)), tonumber(string.sub(head, -15, -14)), ''
  for i = 1, #PERIODS do
    if math.floor(code / 3 / 2 ^ (i - 1)) % 2 == 1 then
      letters = letters .. string.sub(PERIODS, i, i)
    end
  end
  return at, string.sub(head, 1, -16), math.floor(at / DAY) + code % 3 - 1, letters
end

local function parse_active_record(text)
  local head, repeated, groups, received = string.match(text, '^([^:,;]+):?(-?%d*),?([^;]*);?(.*)$')
  local changed, amounts, day, periods = parse_record_head(head)
  local record = { text = text, changed = changed, day = day, periods = periods, amounts = {}, received = received }
  record.latest, record.groups = tonumber(repeated) or record.changed, split(groups)
  for amount in string.gmatch(amounts, '[^/]+') do
    table.insert(record.amounts, tonumber(amount))
  end
  return record
end

-- Returns the histories whose undo records an operation reads: without an instant of its own it can only
-- be newer, and reads the one at hand.
local function histories_of(operation)
  local user, day = operation.day.user, operation.day
  if operation.dated then
    return user.histories
  end
  return user.histories[1] == day.history and { day.history } or {}
end

-- Returns the active record or nil, and the instant of its last change or -inf. An undo record keeps
-- that instant for an activity that has been undone.
local function read_active_record(operation)
  local changed = -math.huge
  local record
  local text = get(operation.day.user.records, operation.field)
  if text then
    record = parse_active_record(text)
    changed = record.changed
    if not operation.dated then
      return record, changed
    end
  end
  for _, history in ipairs(histories_of(operation)) do
    changed = math.max(changed, tonumber(get(history, UNDONE .. operation.field) or -math.huge))
  end
  return record, changed
end

-- Returns the boards, day and targets of the active record of an operation; nothing if the call lacks their keys. The
-- adjustment of an event has no boards unless the event is open.
local function find_targets(record, operation)
  if record.periods == EVENT then
    operation.event = find_event(record.groups[1], record.changed)
    return ranked_events(operation), operation.day, operation.targets
  end
  local day = operation.day.user.days[record.day]
  for _, targets in ipairs(day and targets_by_day[record.day] or {}) do
    local boards = boards_of(targets, record.periods, record.groups)
    if boards then
      return boards, day, targets
    end
  end
end

-- Returns the amount that changed a board most. A negative adjustment stops at zero points, so its
-- amounts can differ between boards.
local function largest(amounts, boards)
  local found = 0
  for i = 1, #boards do
    local amount = amounts[i] or amounts[1]
    if math.abs(amount) > math.abs(found) then
      found = amount
    end
  end
  return found
end

-- Names what the operations read, so that one command for each key reads it.
for _, user in ipairs(users) do
  want(user.histories[1], MARKER)
end
for _, operation in ipairs(operations) do
  local user, day, rule, field = operation.day.user, operation.day, operation.rule, operation.field
  if operation.verb ~= 'own' then
    if rule.once == 'd' and operation.verb ~= 'undo' then
      want(day.history, field)
    else
      want(user.records, field)
      for _, history in ipairs(histories_of(operation)) do
        want(history, UNDONE .. field)
      end
    end
    if rule.cooldown > 0 then
      want(user.records, '~' .. rule.action)
    end
    want(day.history, history_field(day, rule.action))
    want(day.history, MARKER)
  end
  if operation.verb == 'undo' then
    want(day.history, history_field(day, ADJUST))
  end
  if operation.dated then
    want(tombstones, redis.sha1hex(user.id))
  end
  local targets, receiver = operation.targets, not has_shards and operation.receiver
  want_scores(boards_of(targets, targets.periods, targets.groups), user)
  if targets.periods == EVENT then
    operation.event = find_event(targets.groups[1], operation.at)
  end
  if operation.verb ~= 'undo' then
    want_scores(events_of(operation.at, rule.action, targets.groups, rule.points), user)
  end
  if receiver and not receiver.is_target and operation.verb ~= 'undo' then
    want_scores(boards_of(targets, string.sub(targets.periods, -1), {}), receiver)
  end
end
