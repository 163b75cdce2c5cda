-- Reads and writes the data that count.lua counts in: boards, histories and deduplication records.
-- Follows count_call.lua.

local DAY = 86400000
local PERIODS = 'dwmya'
local ORDERS = 2 ^ 30
local MAX_POINTS = 2 ^ 23 - 1
local COUNTER = '#'
local ADJUST = 'adjust'

-- Sets the expiry of a key that has none. Returns whether it did.
local function set_missing_expiry(key, seconds)
  return redis.call('TTL', key) == -1 and redis.call('EXPIRE', key, seconds) == 1
end

-- Returns the instant at which the user was erased, or -inf. Older activities stay erased, however
-- late they arrive.
local function erased_at(user)
  user.erased = user.erased or tonumber(redis.call('HGET', tombstones, redis.sha1hex(user.id)) or -math.huge)
  return user.erased
end

local function write_fingerprint()
  if not stored_fingerprint then
    redis.call('SET', fingerprint, ARGV[1])
  end
end

-- Adds a board or a span to the index, in which an erasure finds all of them, and removes the
-- expired ones.
local function register(name, seconds)
  local second = math.floor(now / 1000)
  local expiry = seconds > 0 and digits(second + seconds + 86400) or 'inf'
  redis.call('ZADD', index, 'GT', expiry, name)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. digits(second))
end

local function expire_span(key, day)
  if set_missing_expiry(key, span_lifetime) then
    register(digits(math.floor(day.number / SPAN)), span_lifetime)
  end
end

-- Returns the boards of some periods and groups in the order of their keys: each period for all
-- users, then for each group. Returns false if the targets lack one of them.
local function boards_of(targets, periods, groups)
  local boards = {}
  local rows = { [''] = 0 }
  for i, group in ipairs(targets.groups) do
    rows[group] = i
  end
  local function add(group)
    for period in string.gmatch(periods, '%a') do
      local column = string.find(targets.periods, period, 1, true)
      if not rows[group] or not column then
        return false
      end
      local key = KEYS[targets.first_key + rows[group] * #targets.periods + column - 1]
      boards[#boards + 1] = { key = key, lifetime = board_lifetime[period] or 0 }
    end
    return true
  end
  local complete = add('')
  for _, group in ipairs(groups) do
    complete = complete and add(group)
  end
  return complete and boards
end

local function read_boards(boards, user_id)
  for _, board in ipairs(boards) do
    local score, counter = unpack(redis.call('ZMSCORE', board.key, user_id, COUNTER))
    board.score = tonumber(score or 0)
    -- Scores of hidden users are stored negated.
    board.points = math.floor(math.abs(board.score) / ORDERS)
    board.order = tonumber(counter or 0)
    board.new = not counter
    -- An archived board that has expired no longer changes.
    board.archived = board.new and redis.call('SISMEMBER', archived, board.key) == 1
  end
end

-- Sets the points of a user, with the next order number.
local function write_board(board, user, points)
  if points == 0 then
    redis.call('ZREM', board.key, user.id)
    return
  end
  local score = points * ORDERS + (ORDERS - 1 - board.order)
  if user.hidden then
    score = -score
  end
  redis.call('ZINCRBY', board.key, digits(score - board.score), user.id)
  if board.order < ORDERS - 1 then
    redis.call('ZINCRBY', board.key, 1, COUNTER)
  end
end

-- Returns the days of a daily record as bits of a number, and whether this day is one of them.
local function read_daily_record(day, field)
  local bits = tonumber(redis.call('HGET', day.records, field) or 0)
  return bits, math.floor(bits / 2 ^ day.of_span) % 2 == 1
end

local function history_field(day, action)
  return day.digit .. (LETTERS[action] or action)
end

-- Returns the count and the points of an action on a day.
local function read_history(day, action)
  local stored = redis.call('HGET', day.history, history_field(day, action)) or '0 0'
  local count, points = string.match(stored, '^(%d+) (-?%d+)$')
  return tonumber(count), tonumber(points)
end

-- Returns the points of all actions on a day.
local function points_of_day(day)
  local sum, fields = 0, redis.call('HGETALL', day.history)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 1) == day.digit then
      sum = sum + tonumber(string.match(fields[i + 1], '-?%d+$') or 0)
    end
  end
  return sum
end

local function write_history(day, action, count, points)
  local field = history_field(day, action)
  if count > 0 or points ~= 0 then
    redis.call('HSET', day.history, field, digits(count) .. ' ' .. digits(points))
  else
    redis.call('HDEL', day.history, field)
  end
end

-- Removes one activity from a day, unless the history of that day has expired.
local function remove_from_history(day, action, amount)
  local count, points = read_history(day, action)
  if count == 0 then
    return
  end
  local left = points - amount
  if action ~= ADJUST then
    left = count > 1 and math.max(0, left) or 0
  end
  write_history(day, action, count - 1, left)
  -- A negative adjustment may have removed these points already: raise it until the day is not
  -- below zero. No other action has negative points.
  local adjustments, adjusted = read_history(day, ADJUST)
  local sum = adjusted < 0 and points_of_day(day) or 0
  if sum < 0 then
    write_history(day, ADJUST, adjustments, adjusted - sum)
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
  for i = 1, #PERIODS do
    if string.find(targets.periods, string.sub(PERIODS, i, i), 1, true) then
      periods = periods + 2 ^ (i - 1)
    end
  end
  return string.format('%s%02d%.0f', amounts, periods * 3 + offset + 1, changed)
end

local function parse_active_record(text)
  local head, repeated, groups = string.match(text, '^([^:,]+):?(-?%d*),?(.*)$')
  local changed, amounts, day, periods = string.match(head, '^(%S+) (%S+) (%S+) (%S+)$')
  if not changed then
    changed, amounts = string.sub(head, -13), string.sub(head, 1, -16)
    local code = tonumber(string.sub(head, -15, -14))
    day, periods = math.floor(changed / DAY) + code % 3 - 1, ''
    for i = 1, #PERIODS do
      if math.floor(code / 3 / 2 ^ (i - 1)) % 2 == 1 then
        periods = periods .. string.sub(PERIODS, i, i)
      end
    end
  end
  local record = { text = text, changed = tonumber(changed), day = tonumber(day), periods = periods, amounts = {} }
  record.latest, record.groups = tonumber(repeated) or record.changed, split(groups)
  for amount in string.gmatch(amounts, '[^/]+') do
    table.insert(record.amounts, tonumber(amount))
  end
  return record
end

-- Returns the active record or nil, and the instant of its last change or -inf. An undo record keeps
-- that instant for an activity that has been undone.
local function read_active_record(user, field)
  local changed = -math.huge
  local record
  local text = redis.call('HGET', user.records, field)
  if text then
    record = parse_active_record(text)
    changed = record.changed
  end
  for _, key in ipairs(user.undo_records) do
    changed = math.max(changed, tonumber(redis.call('HGET', key, field) or -math.huge))
  end
  return record, changed
end

local function write_undo_record(user, field, changed)
  redis.call('HSET', user.undo_records[1], field, digits(changed))
  set_missing_expiry(user.undo_records[1], undo_lifetime)
end

-- Returns the boards, day and date of an active record; nothing if the call lacks their keys.
local function find_targets(record, user)
  local day = user.days[record.day]
  for _, targets in ipairs(day and targets_by_day[record.day] or {}) do
    local boards = boards_of(targets, record.periods, record.groups)
    if boards then
      return boards, day, targets.date
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

