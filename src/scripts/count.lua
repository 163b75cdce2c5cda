-- Counts activities, or takes them back, in the order given.
--
-- Each operation changes its mark, the points on every board, the history and
-- the expiries together or not at all: it reads and checks everything it will
-- touch before its first write, because Redis does not roll a script back.
--
-- KEYS  1 stamp (string)       2 index (zset: board key or history date -> last expiry, Unix s)
--       the rest by number, as ARGV says: boards (zset), histories (hash),
--       per-day marks (set), standing marks (hash), undo memories (hash)
--
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms
--       3 lifetime of histories and per-day marks, s    4 of standing marks, s
--       5 of undo memories, s                           6 of boards, s: 'd2678400 w7862400 a0', 0 = for ever
--       7 '1' to reply with standings
--       then five lists, each led by its length:
--       rules    action, once ('d' per day or 's' standing), points, daily cap or 0, cooldown ms or 0
--       places   date, kinds ('dwmya'), groups ('eu,us'), number of the first board's key;
--                boards lie in a row: the kinds for everybody, then the kinds for each group
--       members  user, key of standing marks, first key of undo memories, how many; the first is written
--       days     member, date, key of history, key of per-day marks
--       ops      rule, place, day, verb ('do', 'undo', 'old': a day too far back to know its marks),
--                mark ('like:post-7'), instant ms, '1' if the caller dated it
--
-- Call  EVALSHA sha 9 {ar:0}s {ar:0}i {ar:0}bd:2026-11-20 {ar:0}ba:all {ar:0}m:42 {ar:0}u:659:42 {ar:0}u:658:42
--       {ar:0}h:2026-11-20:42 {ar:0}v:2026-11-20:42  'v1 ...' 1795132800000 2764800 34560000 5356800
--       'd2678400 a0' 1  1 like s 2 0 0  1 2026-11-20 da '' 3  1 42 5 6 2  1 1 2026-11-20 8 9
--       1 1 1 1 do like:post-7 1795132800000 0
--
-- Reply { stamp held, missing, results, standings }
--       missing    { op, mark } for each undo whose mark names a place not given here: nothing was
--                  changed; call again with that place added
--       results    { outcome, points } for each op, points signed; outcome is that of the API,
--                  or 'daily-cap', 'cooldown' (capped), 'score-overflow' (refused),
--                  'failed' with the words of Redis third: that op changed nothing, the others stand
--       standings  score (packed) or nil and rank (from 0) or nil, for each kind of op 1's place
--       A stamp other than ARGV 1 comes back alone: nothing was changed.
--
-- State A score is points * 2^30 + (2^30 - 1 - order): of equal points the earlier order is higher.
--       The order counter is the member '#' of the board itself, so both live and die together; it is
--       below 2^30, under every member. At 2^30 - 1 it stays: later equals tie by id.
--       A standing mark is 'changed,points,date,kinds[,group...]'; '~action' beside it is the instant
--       of the last counted one, kept for a cooldown. A history field is 'count points'.
--       An undo memory is the instant of a mark's last change while the mark does not stand.
--       Expiry is set where a key has none, and moved for standing marks alone.

local ORDERS = 2 ^ 30
local MAX_POINTS = 2 ^ 23 - 1
local COUNTER = '#'

-- A number as digits: tostring would round above 1e14.
local function digits(n)
  return string.format('%.0f', n)
end

-- Sets an expiry where there is none, and says whether it did.
local function expire_once(name, seconds)
  return redis.call('TTL', name) == -1 and redis.call('EXPIRE', name, seconds) == 1
end

local function claim()
  if not held_stamp then
    redis.call('SET', stamp, ARGV[1])
  end
end

-- The index lets an erasure find every board and history day; it forgets what has expired.
local function register(name, seconds)
  local second = math.floor(now / 1000)
  local expiry = seconds > 0 and digits(second + seconds + 86400) or 'inf'
  redis.call('ZADD', index, 'GT', expiry, name)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. digits(second))
end

local function keep_day(name, date)
  if expire_once(name, day_lifetime) then
    register(date, day_lifetime)
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

local function read_boards(boards, user)
  for _, board in ipairs(boards) do
    local score, counter = unpack(redis.call('ZMSCORE', board.name, user, COUNTER))
    board.score = tonumber(score or 0)
    board.points = math.floor(board.score / ORDERS)
    board.order = tonumber(counter or 0)
    board.new = not counter
  end
end

local function change_board(board, user, points)
  if points == 0 then
    redis.call('ZREM', board.name, user)
    return
  end
  local score = points * ORDERS + (ORDERS - 1 - board.order)
  redis.call('ZINCRBY', board.name, digits(score - board.score), user)
  if board.order < ORDERS - 1 then
    redis.call('ZINCRBY', board.name, 1, COUNTER)
  end
end

local function read_history(history, action)
  local count, points = string.match(redis.call('HGET', history, action) or '0 0', '^(%d+) (%d+)$')
  return tonumber(count), tonumber(points)
end

local function write_history(history, action, count, points)
  if count > 0 then
    redis.call('HSET', history, action, digits(count) .. ' ' .. digits(points))
  else
    redis.call('HDEL', history, action)
  end
end

-- The standing mark, if it stands, and the instant of its last change, if known.
local function read_mark(member, mark)
  local changed = -math.huge
  local standing
  local text = redis.call('HGET', member.marks, mark)
  if text then
    local parts = words(text)
    changed = tonumber(parts[1])
    standing = { text = text, points = tonumber(parts[2]), date = parts[3], kinds = parts[4] }
    standing.groups = { unpack(parts, 5) }
  end
  for _, memory in ipairs(member.undone) do
    changed = math.max(changed, tonumber(redis.call('HGET', memory, mark) or -math.huge))
  end
  return standing, changed
end

local function remember_undo(member, mark, changed)
  redis.call('HSET', member.undone[1], mark, digits(changed))
  expire_once(member.undone[1], undo_lifetime)
end

-- Where a mark's points lie, if that place is among those given.
local function place_of(standing, member)
  local day = member.days[standing.date]
  for _, place in ipairs(day and places_on[standing.date] or {}) do
    local boards = boards_of(place, standing.kinds, standing.groups)
    if boards then
      return boards, day
    end
  end
end

local function count(op)
  local rule, place, day, member = op.rule, op.place, op.day, op.day.member
  local changed = -math.huge
  if rule.once == 'd' then
    if redis.call('SISMEMBER', day.marks, op.mark) == 1 then
      return { 'duplicate', 0 }
    elseif op.verb == 'old' then
      return { 'stale', 0 }
    end
  else
    local standing
    standing, changed = read_mark(member, op.mark)
    if op.dated and op.at < changed then
      return { 'stale', 0 }
    elseif standing then
      return { 'duplicate', 0 }
    end
  end
  local cooling = '~' .. rule.action
  local last = rule.cooldown > 0 and tonumber(redis.call('HGET', member.marks, cooling) or -math.huge)
  if last and math.abs(op.at - last) < rule.cooldown then
    return { 'cooldown', 0 }
  end
  local times, earned = read_history(day.history, rule.action)
  if rule.cap > 0 and earned + rule.points > rule.cap then
    return { 'daily-cap', 0 }
  end
  local boards = boards_of(place, place.kinds, place.groups)
  read_boards(boards, member.user)
  for _, board in ipairs(boards) do
    if board.points + rule.points > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
  end
  redis.call('ZCARD', index)

  -- Nothing is refused from here on.
  claim()
  if rule.once == 'd' then
    redis.call('SADD', day.marks, op.mark)
    keep_day(day.marks, day.date)
  else
    local text = { digits(math.max(op.at, changed)), digits(rule.points), place.date, place.kinds, unpack(place.groups) }
    redis.call('HSET', member.marks, op.mark, table.concat(text, ','))
    if changed > -math.huge then
      for _, memory in ipairs(member.undone) do
        redis.call('HDEL', memory, op.mark)
      end
    end
  end
  if last then
    redis.call('HSET', member.marks, cooling, digits(math.max(op.at, last)))
  end
  redis.call('EXPIRE', member.marks, marks_lifetime)
  for _, board in ipairs(boards) do
    change_board(board, member.user, board.points + rule.points)
    if board.lifetime > 0 then
      expire_once(board.name, board.lifetime)
    end
    if board.new then
      register(board.name, board.lifetime)
    end
  end
  write_history(day.history, rule.action, times + 1, earned + rule.points)
  keep_day(day.history, day.date)
  return { 'counted', rule.points }
end

local function undo(op)
  local member = op.day.member
  if ARGV[7] == '1' then
    -- Its standings are read after the writes, from boards that may not be those of the mark.
    read_boards(boards_of(op.place, op.place.kinds, {}), member.user)
  end
  local standing, changed = read_mark(member, op.mark)
  if op.dated and op.at < changed then
    return { 'stale', 0 }
  end
  changed = math.max(changed, op.at)
  if not standing then
    claim()
    remember_undo(member, op.mark, changed)
    return { 'nothing-to-undo', 0 }
  end
  local boards, day = place_of(standing, member)
  read_boards(boards, member.user)
  local times, earned = read_history(day.history, op.rule.action)

  -- Nothing is refused from here on.
  redis.call('HDEL', member.marks, op.mark)
  remember_undo(member, op.mark, changed)
  for _, board in ipairs(boards) do
    if board.points > 0 then
      change_board(board, member.user, math.max(0, board.points - standing.points))
    end
  end
  if times > 0 then
    write_history(day.history, op.rule.action, times - 1, math.max(0, earned - standing.points))
  end
  return { 'undone', -standing.points }
end

-- An undo belongs where the points came from. A mark made by this very call names a place given.
local missing = {}
for i, op in ipairs(ops) do
  if op.verb == 'undo' then
    local readable, standing = pcall(read_mark, op.day.member, op.mark)
    if readable and standing and not place_of(standing, op.day.member) then
      missing[#missing + 1] = { i, standing.text }
    end
  end
end
if #missing > 0 then
  return { ARGV[1], missing, {}, {} }
end

local results = {}
for i, op in ipairs(ops) do
  local done, result = pcall(op.verb == 'undo' and undo or count, op)
  results[i] = done and result or { 'failed', 0, type(result) == 'table' and result.err or result }
end

local standings = {}
if ARGV[7] == '1' then
  local place, user = ops[1].place, ops[1].day.member.user
  for i = 1, #place.kinds do
    local board = KEYS[place.first + i - 1]
    local score = redis.call('ZSCORE', board, user)
    standings[#standings + 1] = score and tonumber(score)
    standings[#standings + 1] = redis.call('ZREVRANK', board, user)
  end
end
return { ARGV[1], missing, results, standings }
