-- What a call of count.lua reads and changes: boards, histories, marks. Follows count_call.lua.

local DAY = 86400000
local KINDS = 'dwmya'
local ORDERS = 2 ^ 30
local MAX_POINTS = 2 ^ 23 - 1
local COUNTER = '#'
local ADJUST = 'adjust'

-- Sets an expiry where there is none, and says whether it did.
local function expire_once(name, seconds)
  return redis.call('TTL', name) == -1 and redis.call('EXPIRE', name, seconds) == 1
end

-- When this user was erased, if ever: what was done before stays gone, however late it comes.
local function erased_at(member)
  member.erased = member.erased or tonumber(redis.call('HGET', tombstones, redis.sha1hex(member.user)) or -math.huge)
  return member.erased
end

local function claim()
  if not held_stamp then
    redis.call('SET', stamp, ARGV[1])
  end
end

-- The index lets an erasure find every board and span; it forgets what has expired.
local function register(name, seconds)
  local second = math.floor(now / 1000)
  local expiry = seconds > 0 and digits(second + seconds + 86400) or 'inf'
  redis.call('ZADD', index, 'GT', expiry, name)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. digits(second))
end

local function keep_span(name, day)
  if expire_once(name, span_lifetime) then
    register(digits(math.floor(day.number / SPAN)), span_lifetime)
  end
end

-- The boards of a place in the order of its keys: each kind for everybody, then for each group.
local function boards_of(place, kinds, groups)
  local found = {}
  local rows = { [''] = 0 }
  for i, group in ipairs(place.groups) do
    rows[group] = i
  end
  local function add(group)
    for kind in string.gmatch(kinds, '%a') do
      local column = string.find(place.kinds, kind, 1, true)
      if not rows[group] or not column then
        return false
      end
      local name = KEYS[place.first + rows[group] * #place.kinds + column - 1]
      found[#found + 1] = { name = name, lifetime = board_lifetime[kind] or 0 }
    end
    return true
  end
  local complete = add('')
  for _, group in ipairs(groups) do
    complete = complete and add(group)
  end
  return complete and found
end

-- Who is hidden has their scores below zero, under the order counter, where no rank or page reaches.
local function read_boards(boards, user)
  for _, board in ipairs(boards) do
    local score, counter = unpack(redis.call('ZMSCORE', board.name, user, COUNTER))
    board.score = tonumber(score or 0)
    board.points = math.floor(math.abs(board.score) / ORDERS)
    board.order = tonumber(counter or 0)
    board.new = not counter
    -- Redis has forgotten it: what is kept elsewhere does not change any more.
    board.archived = board.new and redis.call('SISMEMBER', archived, board.name) == 1
  end
end

local function change_board(board, member, points)
  if points == 0 then
    redis.call('ZREM', board.name, member.user)
    return
  end
  local score = points * ORDERS + (ORDERS - 1 - board.order)
  if member.hidden then
    score = -score
  end
  redis.call('ZINCRBY', board.name, digits(score - board.score), member.user)
  if board.order < ORDERS - 1 then
    redis.call('ZINCRBY', board.name, 1, COUNTER)
  end
end

-- The days on which something was done that counts once a day are bits of a number.
local function read_days(day, field)
  local days = tonumber(redis.call('HGET', day.marks, field) or 0)
  return days, math.floor(days / 2 ^ day.of_span) % 2 == 1
end

local function field_of(day, action)
  return day.digit .. (LETTERS[action] or action)
end

local function read_history(day, action)
  local held = redis.call('HGET', day.history, field_of(day, action)) or '0 0'
  local count, points = string.match(held, '^(%d+) (-?%d+)$')
  return tonumber(count), tonumber(points)
end

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
  local field = field_of(day, action)
  if count > 0 or points ~= 0 then
    redis.call('HSET', day.history, field, digits(count) .. ' ' .. digits(points))
  else
    redis.call('HDEL', day.history, field)
  end
end

-- Takes one activity out of a day, as far as the day is still known.
local function take_from_day(day, action, amount)
  local count, points = read_history(day, action)
  if count == 0 then
    return
  end
  local left = points - amount
  if action ~= ADJUST then
    left = count > 1 and math.max(0, left) or 0
  end
  write_history(day, action, count - 1, left)
  -- What an adjustment had taken before cannot be taken twice. Nothing else is below zero.
  local adjustments, adjusted = read_history(day, ADJUST)
  local sum = adjusted < 0 and points_of_day(day) or 0
  if sum < 0 then
    write_history(day, ADJUST, adjustments, adjusted - sum)
  end
end

-- Writes a mark's head: as one number, which Redis keeps in ten bytes, where it is one.
local function mark_head(changed, amounts, place)
  local offset = place.day - math.floor(changed / DAY)
  local short = string.find(amounts, '^%d+$') and changed >= 1e12 and changed < 1e13 and math.abs(offset) <= 1
  if not short then
    return string.format('%.0f %s %d %s', changed, amounts, place.day, place.kinds)
  end
  local kinds = 0
  for i = 1, #KINDS do
    if string.find(place.kinds, string.sub(KINDS, i, i), 1, true) then
      kinds = kinds + 2 ^ (i - 1)
    end
  end
  return string.format('%s%02d%.0f', amounts, kinds * 3 + offset + 1, changed)
end

local function read_mark_text(text)
  local head, last, groups = string.match(text, '^([^:,]+):?(-?%d*),?(.*)$')
  local changed, amounts, day, kinds = string.match(head, '^(%S+) (%S+) (%S+) (%S+)$')
  if not changed then
    changed, amounts = string.sub(head, -13), string.sub(head, 1, -16)
    local code = tonumber(string.sub(head, -15, -14))
    day, kinds = math.floor(changed / DAY) + code % 3 - 1, ''
    for i = 1, #KINDS do
      if math.floor(code / 3 / 2 ^ (i - 1)) % 2 == 1 then
        kinds = kinds .. string.sub(KINDS, i, i)
      end
    end
  end
  local standing = { text = text, changed = tonumber(changed), day = tonumber(day), kinds = kinds, amounts = {} }
  standing.last, standing.groups = tonumber(last) or standing.changed, words(groups)
  for amount in string.gmatch(amounts, '[^/]+') do
    table.insert(standing.amounts, tonumber(amount))
  end
  return standing
end

-- The standing mark, if it stands, and the instant of its last change, if known.
local function read_mark(member, field)
  local changed = -math.huge
  local standing
  local text = redis.call('HGET', member.marks, field)
  if text then
    standing = read_mark_text(text)
    changed = standing.changed
  end
  for _, memory in ipairs(member.undone) do
    changed = math.max(changed, tonumber(redis.call('HGET', memory, field) or -math.huge))
  end
  return standing, changed
end

local function remember_undo(member, field, changed)
  redis.call('HSET', member.undone[1], field, digits(changed))
  expire_once(member.undone[1], undo_lifetime)
end

-- Where a mark's points lie, if that place is among those given: its boards, its day, its date.
local function place_of(standing, member)
  local day = member.days[standing.day]
  for _, place in ipairs(day and places_on[standing.day] or {}) do
    local boards = boards_of(place, standing.kinds, standing.groups)
    if boards then
      return boards, day, place.date
    end
  end
end

-- The amount that moved a board most: what an adjustment could take may differ between boards.
local function furthest(amounts, boards)
  local far = 0
  for i = 1, #boards do
    local amount = amounts[i] or amounts[1]
    if math.abs(amount) > math.abs(far) then
      far = amount
    end
  end
  return far
end

