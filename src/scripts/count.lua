-- Counts activities, or takes them back, in the order given.
--
-- Each operation changes its mark, the points on every board, the history and
-- the expiries together or not at all: it reads and checks everything it will
-- touch before its first write, because Redis does not roll a script back.
--
-- KEYS  1 stamp (string)       2 index (zset: board key or span of histories -> last expiry, Unix s)
--       3 flags (hash: user -> 'flags,subject'; h hidden by moderators, s by themself, f frozen)
--       4 archived (set: board keys)   5 outbox of the journal (stream)
--       6 tombstones (hash: SHA-1 of a user -> when they were erased, Unix ms)
--       the rest by number, as ARGV says: boards (zset), histories, per-day marks,
--       standing marks, undo memories (hashes)
--
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms
--       3 lifetime of histories and per-day marks, s    4 of standing marks, s
--       5 of undo memories, s                           6 of boards, s: 'd2678400 w7862400 a0', 0 = for ever
--       7 '1' to reply with standings                   8 '1' to write what changes to the outbox
--       then six lists, each led by its length:
--       rules    action, once ('d' per day or 's' standing), points, daily cap or 0, cooldown ms or 0
--       places   date, its number in days since 1970, kinds ('dwmya'), groups ('eu,us'), number of the
--                first board's key; boards lie in a row: the kinds for everybody, then the kinds for each group
--       members  user, key of standing marks, first key of undo memories, how many; the first is written
--       days     member, number of the date, key of history, key of per-day marks; both of its span of 31 days
--       ops      rule, place, day, verb ('do', 'undo', 'old': a day too far back to know its marks,
--                'adjust': points that may be below zero, by a moderator), mark ('like:post-7'),
--                instant ms, '1' if the caller dated it, '2' if it was held back since then
--       audit    none, or one: key of the audit list, key of who and why, instant ms, reason; for adjustments
--
-- Call  EVALSHA sha 13 {ar:0}s {ar:0}i {ar:0}f {ar:0}a {ar:0}o {ar:0}e {ar:0}bd:2026-11-20 {ar:0}ba:all
--       {ar:0}m:42 {ar:0}u:670:42 {ar:0}u:669:42 {ar:0}h:670:42 {ar:0}v:670:42
--       'v2 ...' 1795132800000 5356800 34560000 5356800 'd2678400 a0' 1 0  1 like s 2 0 0
--       1 2026-11-20 20777 da '' 7  1 42 9 10 2  1 1 20777 12 13  1 1 1 1 do like:post-7 1795132800000 0  0
--
-- Reply { stamp held, missing, results, standings }
--       missing    { op, mark } for each undo whose mark names a place not given here: nothing was
--                  changed; call again with that place added
--       results    { outcome, points } for each op, points signed; outcome is that of the API,
--                  or 'daily-cap', 'cooldown' (capped), 'score-overflow', 'frozen' (refused),
--                  'failed' with the words of Redis third: that op changed nothing, the others stand
--       standings  score (packed) or nil and rank (from 0) or nil, for each kind of op 1's place;
--                  who is hidden has a score and no rank
--       A stamp other than ARGV 1 comes back alone: nothing was changed.
--
-- State A score is points * 2^30 + (2^30 - 1 - order): of equal points the earlier order is higher.
--       The order counter is the member '#' of the board itself, so both live and die together; it is
--       below 2^30, under every member. At 2^30 - 1 it stays: later equals tie by id.
--       Scores of who is hidden are kept below zero: no rank or page reaches them.
--       Marks are fields by action and target: 'wave:w', and of actions that have a letter (those of the
--       default rules, and adjustments) 'Lpost-7'; no action's name has such a letter.
--       A standing mark is 'head[:repeated][,group...]', repeated the latest instant at which it was
--       done again. Its head is, as one number, the points, two digits and 13 of when it changed: the
--       two are kinds * 3 + 1, kinds as bits from 'd' on, and more or less by how many days its date
--       is off that instant's in UTC. What does not fit so is 'changed points day kinds', the points of
--       an adjustment what it gave each board, in their order, and the day, joined by '/'.
--       '~action' beside marks is the instant of the last counted one, kept for a cooldown.
--       A history has 'count points' by day and action, 'kL' or 'kwave': the day of the span from 0 as
--       one digit of base 36. A per-day mark has its days as bits of a number.
--       An undo memory is the instant of a mark's last change while the mark does not stand.
--       Expiry is set where a key has none, and moved for standing marks alone.
--       A board that is archived and gone is not written anew; what counts for it counts elsewhere.

-- Writes points to boards and sees to their lifetime.
local function give(boards, member, amounts)
  for i, board in ipairs(boards) do
    local amount = amounts[i] or amounts[1]
    if amount ~= 0 and not board.archived then
      change_board(board, member, board.points + amount)
      if board.lifetime > 0 then
        expire_once(board.name, board.lifetime)
      end
      if board.new then
        register(board.name, board.lifetime)
      end
    end
  end
end

local function keep_mark(op, changed, amounts)
  local place, member = op.place, op.day.member
  local text = { mark_head(math.max(op.at, changed), amounts, place), unpack(place.groups) }
  redis.call('HSET', member.marks, op.field, table.concat(text, ','))
  if changed > -math.huge then
    for _, memory in ipairs(member.undone) do
      redis.call('HDEL', memory, op.field)
    end
  end
end

-- Done again: an undo of before that was held back until now must not take it back.
local function repeat_mark(op, standing)
  if op.at > standing.last then
    local text = string.gsub(standing.text, '^([^:,]+)[^,]*', '%1:' .. digits(op.at))
    redis.call('HSET', op.day.member.marks, op.field, text)
  end
end

-- `place` is { date, kinds, groups }, `boards` those of it that were read.
local function journal(did, op, place, boards)
  if not outbox then
    return
  end
  local rule, skipped = op.rule, {}
  for i, board in ipairs(boards) do
    if board.archived then
      table.insert(skipped, i)
    end
  end
  write_outbox(outbox, did, 'now', ARGV[2], 'user', op.day.member.user, 'action', rule.action, 'once', rule.once,
    'points', digits(rule.points), 'cooldown', rule.cooldown > 0 and '1' or '0', 'mark', op.mark,
    'at', digits(op.at), 'dated', op.held and '2' or op.dated and '1' or '0', 'date', place.date,
    'kinds', place.kinds, 'groups', table.concat(place.groups, ','), 'skipped', table.concat(skipped, ','),
    'reason', audit and audit.reason or '')
end

local function count(op)
  local rule, place, day, member = op.rule, op.place, op.day, op.day.member
  local changed, days = -math.huge, 0
  if rule.once == 'd' then
    local counted
    days, counted = read_days(day, op.field)
    if counted then
      return { 'duplicate', 0 }
    elseif op.verb == 'old' then
      return { 'stale', 0 }
    end
  else
    local standing
    standing, changed = read_mark(member, op.field)
    if op.dated and op.at < changed then
      return { 'stale', 0 }
    elseif standing then
      repeat_mark(op, standing)
      return { 'duplicate', 0 }
    end
  end
  local cooling = '~' .. rule.action
  local last = rule.cooldown > 0 and tonumber(redis.call('HGET', member.marks, cooling) or -math.huge)
  if last and math.abs(op.at - last) < rule.cooldown then
    return { 'cooldown', 0 }
  end
  local times, earned = read_history(day, rule.action)
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
    redis.call('HSET', day.marks, op.field, digits(days + 2 ^ day.of_span))
    keep_span(day.marks, day)
  else
    keep_mark(op, changed, digits(rule.points))
  end
  if last then
    redis.call('HSET', member.marks, cooling, digits(math.max(op.at, last)))
  end
  redis.call('EXPIRE', member.marks, marks_lifetime)
  give(boards, member, { rule.points })
  write_history(day, rule.action, times + 1, earned + rule.points)
  keep_span(day.history, day)
  journal('count', op, place, boards)
  return { 'counted', rule.points }
end

local function note(op, what, points, date)
  local id = string.sub(op.mark, #ADJUST + 2)
  local entry = { what, 'points', digits(points), 'date', date, 'adjustment', id }
  write_audit(audit, op.day.member.user, entry)
end

-- Adds points, or takes them as far as there are any: on each board, and in the day.
local function adjust(op)
  local points, place, day, member = op.rule.points, op.place, op.day, op.day.member
  local standing, changed = read_mark(member, op.field)
  if op.dated and op.at < changed then
    return { 'stale', 0 }
  elseif standing then
    return { 'duplicate', 0 }
  end
  local times, adjusted = read_history(day, ADJUST)
  local boards = boards_of(place, place.kinds, place.groups)
  read_boards(boards, member.user)
  local amounts, texts = {}, {}
  for i, board in ipairs(boards) do
    if board.points + points > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
    amounts[i] = board.archived and 0 or math.max(points, -board.points)
    texts[i] = digits(amounts[i])
  end
  local of_day = math.max(points, -points_of_day(day))
  redis.call('ZCARD', index)
  check_audit(audit)

  -- Nothing is refused from here on.
  claim()
  keep_mark(op, changed, table.concat(texts, '/') .. '/' .. digits(of_day))
  redis.call('EXPIRE', member.marks, marks_lifetime)
  give(boards, member, amounts)
  write_history(day, ADJUST, times + 1, adjusted + of_day)
  keep_span(day.history, day)
  local changed_by = furthest(amounts, boards)
  note(op, 'adjust', changed_by, place.date)
  journal('adjust', op, place, boards)
  return { 'counted', changed_by }
end

local function undo(op)
  local member = op.day.member
  if ARGV[7] == '1' then
    -- Its standings are read after the writes, from boards that may not be those of the mark.
    read_boards(boards_of(op.place, op.place.kinds, {}), member.user)
  end
  local standing, changed = read_mark(member, op.field)
  if op.dated and op.at < changed or op.held and standing and op.at < standing.last then
    return { 'stale', 0 }
  end
  changed = math.max(changed, op.at)
  if not standing then
    claim()
    remember_undo(member, op.field, changed)
    journal('undo', op, op.place, {})
    return { 'nothing-to-undo', 0 }
  end
  local boards, day, date = place_of(standing, member)
  local amounts = standing.amounts
  read_boards(boards, member.user)
  for i, board in ipairs(boards) do
    if board.points - (amounts[i] or amounts[1]) > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
  end
  read_history(day, op.rule.action)
  check_audit(audit)

  -- Nothing is refused from here on.
  redis.call('HDEL', member.marks, op.field)
  remember_undo(member, op.field, changed)
  for i, board in ipairs(boards) do
    local amount = amounts[i] or amounts[1]
    -- A board that has expired stays so; who has no points on one has none to give.
    if not board.new and (board.points > 0 and amount > 0 or amount < 0) then
      change_board(board, member, math.max(0, board.points - amount))
    end
  end
  take_from_day(day, op.rule.action, amounts[#boards + 1] or amounts[1])
  local changed_by = -furthest(amounts, boards)
  note(op, 'undo-adjust', changed_by, date)
  journal('undo', op, { date = date, kinds = standing.kinds, groups = standing.groups }, boards)
  return { 'undone', changed_by }
end

local verbs = { ['do'] = count, old = count, adjust = adjust, undo = undo }
local function apply(op)
  if op.dated and op.at <= erased_at(op.day.member) then
    return { 'stale', 0 }
  end
  return verbs[op.verb](op)
end

-- An undo belongs where the points came from. A mark made by this very call names a place given.
local missing = {}
for i, op in ipairs(ops) do
  if op.verb == 'undo' then
    local readable, standing = pcall(read_mark, op.day.member, op.field)
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
  local member = op.day.member
  local done, result = true, { 'frozen', 0 }
  if not member.frozen or audit then
    done, result = pcall(apply, op)
  end
  results[i] = done and result or { 'failed', 0, type(result) == 'table' and result.err or result }
end

local standings = {}
if ARGV[7] == '1' then
  local place, member = ops[1].place, ops[1].day.member
  for i = 1, #place.kinds do
    local board = KEYS[place.first + i - 1]
    local score = redis.call('ZSCORE', board, member.user)
    standings[#standings + 1] = score and math.abs(score)
    standings[#standings + 1] = not member.hidden and redis.call('ZREVRANK', board, member.user)
  end
end
return { ARGV[1], missing, results, standings }
