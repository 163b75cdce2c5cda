-- Adjusts the points of a user, or undoes an adjustment, and adds an entry to the audit log.
--
-- KEYS    1 users (hash)   2 active records of the user (hash)   3 stream of changes   4 index   5 archived boards
--         6 tombstones   7 subjects and reasons of the audit log (hash)   8.. histories, then boards, then the audit log
-- ARGV    as those of count.lua, with one item:
--         field, action ('A'), at, place (number), points, mark, name, dated
--         event (not in the history: the place has the board of an event), from (the beginning of the event, if it is
--         open), replayed (in a rebuild, which counts an event by a later definition: the record has these points in
--         any case)
--         logged (fields of the audit log after the points), reason, actor, public (the user may read the reason)
--         adjustment   where: the rest of its record, '20777 dwmya,eu' or '20777 e,hackathon'
--         undo         undo, and the guess `where` of its record, or the record that was `seen`
-- Returns as count.lua; further outcomes: 'event-closed', { 'counted', largest change of a board }
-- Example EVALSHA sha 10 {ar:0}p {ar:0}1m:42 {ar:0}o {ar:0}1i {ar:0}a {ar:0}e {ar:0}w {ar:0}1h:670:42 {ar:0}1ba:all {ar:0}l
--         'v4 ...' 42 '{"now":1795132800000,"today":"20777","instant":"1795132800000","journal":true,"lifetimes":
--         "[5356800,0,0]","record_lifetime":34646400,"ranked":[9,9],"undone":[8],"places":[{"boards":[9],"history":8,
--         "day":"7","bit":128,"date":"2026-11-20","kinds":"a","groups":""}],"items":[{"field":"Acase-17",
--         "mark":"adjust:case-17","action":"A","name":"adjust","at":1795132800000,"place":1,"points":-5,
--         "where":"20777 a","logged":["date","2026-11-20","adjustment","case-17"],"reason":"spam","actor":""}]}'

local item = call.items[1]
local place = call.places[item.place]
local log, subjects = KEYS[#KEYS], hash(7)
local records = hash(RECORDS, item.field)
local outcome
-- Fields of the journal that only some entries have.
local shown = item.public and { 'public', '1' } or {}

-- Returns the amount that changed a board most: a removal stops at zero points, so amounts can differ.
local function largest(amounts, count)
  local found = 0
  for i = 1, count do
    if math.abs(amounts[i]) > math.abs(found) then
      found = amounts[i]
    end
  end
  return found
end

-- Returns whether the item is refused because its event was not open at an instant, or is final.
local function is_closed(at)
  if item.event and (not item.from or at < item.from) then
    place.boards = {}
    return not item.replayed
  end
end

-- Adds an entry to the audit log. Its user has a subject number, which is also stored with the flags.
local function add_to_log(action, points)
  run('XLEN', log)
  local letters, subject, rest = match(flags or '', '^(%a*),?(%d*)(.*)$')
  if subject == '' then
    subject = digits((get(subjects, 'subjects') or 0) + 1)
    set(subjects, 'subjects', subject)
    set(subjects, 's' .. subject, user)
    set(hash(1), FLAGS .. user, letters .. ',' .. subject .. rest)
  end
  added[#added + 1] = { log, '*', 'at', call.instant, 'subject', subject, 'action', action, 'points',
    digits(points), unpack(item.logged) }
end

-- Sets an amount of each board of the place. Returns the boards, the amounts, and whether a score would exceed the maximum.
local function set_amounts(amount_of)
  local boards = item_boards(item, place, 0, 0)
  local amounts, overflows = {}, false
  for i, board in ipairs(boards) do
    amounts[i] = amount_of(board, i)
    board.amount, overflows = amounts[i], overflows or board.points + amounts[i] > MAX_POINTS
  end
  return boards, amounts, overflows
end

local function adjust()
  local text = get(records, item.field)
  if item.dated and item.at < last_change(item, text and parse_record(text)) then
    return 'stale'
  elseif text then
    return 'duplicate'
  elseif is_closed(item.at) then
    return 'event-closed'
  end
  local boards, amounts, overflows = set_amounts(function(board)
    return board.is_closed and 0 or max(item.points, -board.points)
  end)
  if overflows then
    return 'score-overflow'
  end
  local count, adjusted = read_total(place, 'A')
  local effect, stored = largest(amounts, #boards), { unpack(amounts) }
  if item.replayed then
    -- The audit log keeps what it says; an undo returns what is taken now.
    effect = item.points
  end
  local for_day = not item.event and max(item.points, -day_points(place)) or 0
  stored[#stored + 1] = for_day
  for i, amount in ipairs(stored) do
    stored[i] = digits(amount)
  end
  set_record(item, digits(item.at) .. ' ' .. table.concat(stored, '/') .. ' ' .. item.where)
  if not item.event then
    set_total(place, 'A', count + 1, adjusted + for_day)
  end
  has_counted = true
  add_to_log('adjust', effect)
  local applied, skipped = add_all(boards, #boards)
  append('adjust', item, place, '', applied, skipped, 'actor', item.actor, unpack(shown))
  return { 'counted', effect }
end

local function undo()
  local text = get(records, item.field)
  local record = text and parse_record(text)
  local changed = last_change(item, record)
  if item.dated and item.at < changed then
    return 'stale'
  elseif not record then
    set_record(item, false, max(changed, item.at))
    append('undo', item, place, '', '', '', 'counted', '', 'gave', '', 'actor', item.actor, unpack(shown))
    return 'nothing-to-undo'
  elseif is_closed(record.at) then
    return 'event-closed'
  end
  local stored = {}
  for amount in string.gmatch(record.amounts, '[^/]+') do
    stored[#stored + 1] = tonumber(amount)
  end
  -- A board that does not exist has expired, and is not written again.
  local boards, amounts, overflows = set_amounts(function(board, i)
    return board.former[1] and -(stored[i] or stored[1]) or 0
  end)
  if overflows then
    return 'score-overflow'
  elseif not item.event then
    remove_total(place, 'A', stored[#boards + 1] or stored[1])
  end
  set_record(item, false, max(changed, item.at))
  local effect = item.event and -stored[1] or -largest(stored, #boards)
  add_to_log('undo-adjust', effect)
  local applied, skipped = add_all(boards, #boards)
  append('undo', item, place, '', applied, skipped, 'counted', digits(record.at), 'gave', digits(stored[1]),
    'actor', item.actor, unpack(shown))
  return { 'undone', effect }
end

local function decide()
  if item.dated and item.at <= tonumber(get(hash(6), redis.sha1hex(user)) or -math.huge) then
    outcome = 'stale'
  else
    outcome = (item.undo and undo or adjust)()
  end
  write_all()
  -- The store gives the id of the entry of the audit log, by which its reason is stored.
  for _, entry in ipairs({ unpack(written) }) do
    if entry.key == log and item.reason then
      local reason = { key = subjects.key, former = { [entry.id] = false }, values = { [entry.id] = item.reason } }
      write_hash(reason, reason.values, reason.former)
    end
  end
end

local readable, text = pcall(unknown_record, item)
if readable and text then
  return { ARGV[1], 'records', { { 1, text } } }
end
-- The boards of the standings are read before the first write.
for number = call.ranked[1], call.ranked[2] do
  board_at(number)
end
outcome = attempt(decide) or outcome
return { ARGV[1], { outcome }, outcome[1] ~= 'failed' and read_standings(), watched }
