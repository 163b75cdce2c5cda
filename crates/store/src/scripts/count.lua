-- Counts activities, undoes them and adjusts points, in the order of the operations.
--
-- Reads, decides, writes: reads each key once, decides the operations in memory, then writes each key
-- once. Redis does not roll a script back, so an undo log protects the writes: restore.lua.
--
-- KEYS    1 users (hash)
--         2 index (sorted set: board key or span of histories -> last expiry, Unix s)
--         3 archived boards (set of keys)   4 outbox of the journal (stream)
--         5 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
--         6.. in any order, ARGV refers to them by number: boards (sorted set), active records (hash),
--         histories (hash: also daily records and undo records)
--
-- ARGV    1 string: schema fingerprint of the caller    2 integer: now, Unix ms
--         3 integer: lifetime of histories, s           4 integer: of active records, s
--         5 integer: today, days of UTC since 1970-01-01
--         6 string: of boards by period, s: 'd2678400 w7862400 a0'; 0 for unlimited
--         7 '1' to return standings                     8 '1' to write changes to the outbox
--         9.. six lists, each preceded by its length; they refer to items of earlier lists by number
--         rules       action; once: 'd' per day or 's' while it stands; points; daily cap or 0;
--                     cooldown in ms or 0. Points are integers in smallest steps.
--         targets     date; its number in days since 1970-01-01; letters of periods ('dwmya');
--                     groups ('eu,us'); number of the first board key. The board keys are consecutive:
--                     the periods for all users, then the periods for each group.
--         users       user; active records key; span of the first history; keys of the histories that
--                     may have undo records, preceded by their number. Undo records are written to the
--                     first.
--         days        user; day number; key of the history of its span
--         operations  rule; targets; day; verb; deduplication record ('like:post-7'); instant, Unix ms;
--                     source of the instant: '0' now, '1' the caller, '2' the queue
--                     verb: 'do'; 'undo'; 'old', a 'do' on a day whose daily records may have expired;
--                     'own', a 'do' that does not count because the target is the user;
--                     'adjust', by a moderator, with points that may be negative
--         audit       at most one item, for adjustments: audit log key; subjects key; instant, Unix ms;
--                     reason
--
-- Returns { stored fingerprint, missing, results, standings, unfinished, watched or nil }
--         missing    { operation, active record } for each undo of a record with other targets than
--                    those of the call. Nothing was changed: send the call again with these targets.
--         results    { outcome, points } for each operation, points signed. The outcome is that of the
--                    API, or 'daily-cap', 'cooldown', 'own-target' (capped), 'score-overflow', 'frozen' (refused),
--                    or 'failed' with the error of Redis as the third element: this operation changed
--                    nothing, the others took effect.
--         standings  score (packed) or nil and rank (from 0) or nil of the first operation's user, for
--                    each period of its targets. A hidden user has a score and no rank.
--         unfinished  { user, undo log } for each user of the call whose changes an earlier call could
--                    neither complete nor undo. Nothing was changed: run recover.lua for each, and send
--                    the call again.
--         watched    in the place of unfinished: the names of the boards that changed and are watched
--                    (watch.lua), between spaces
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
--
-- State   Score: points * 2^30 + (2^30 - 1 - order), so of equal points the earlier order ranks higher.
--         Scores of hidden users are stored negated, so they appear in no rank and no page.
--         Order counter: member '#' of the board, so that both expire together. It stays below 2^30 and
--         ranks below all visible users. At 2^30 - 1 it stops: later equal scores tie by user id. It also
--         moves when a user leaves the board, is hidden or shown: watch.rs compares it.
--         Record field: action and target, 'wave:w', or 'Lpost-7' for an action with a letter (those of
--         the default rules, and adjustments). No action is named like one of these letters.
--         Active record: 'head[:repeated][,group...]'; repeated is the instant of the latest
--         repetition. The head is one number: the points, two digits, and 13 digits of the instant of
--         the last change. The two digits are periods * 3 + 1 + offset: the periods as bits, from 'd'
--         on; the offset -1, 0 or 1 is the day minus the UTC day of the instant. Any other head is
--         'changed points day periods'. The points of an adjustment are its amounts on each board in
--         their order and then in the history, joined by '/'.
--         Cooldown: field '~action' of the active records, the instant of the last counted activity.
--         History: 'count points' by day and action, 'kL' or 'kwave'; the day of the span, from 0, is
--         one digit in base 36. The same hash holds daily records, the days of the span as bits of a
--         number by record field; undo records, '-' and record field: the instant of the undo; and
--         the marker that count_state.lua describes.
--         Expiry: set on new keys. That of active records is renewed by the first activity that counts
--         on a day of UTC, and by each that counts in an earlier span.
--         An archived board that has expired is not written again.
--
-- Example EVALSHA sha 10 {ar:0}p {ar:0}i {ar:0}a {ar:0}o {ar:0}e {ar:0}bd:2026-11-20 {ar:0}ba:all
--         {ar:0}m:42 {ar:0}h:670:42 {ar:0}h:669:42
--         'v3 ...' 1795132800000 5356800 34646400 20777 'd2678400 a0' 1 0  1 like s 2 0 0
--         1 2026-11-20 20777 da '' 6  1 42 8 670 2 9 10  1 1 20777 9  1 1 1 1 do like:post-7 1795132800000 0  0

-- Adds points to boards.
local function add_points(boards, user, amounts)
  for i, board in ipairs(boards) do
    local amount = amounts[i] or amounts[1]
    if amount ~= 0 and not board.archived then
      set_points(board, user, points_on(board, user) + amount)
    end
  end
end

-- Sets the active record of an operation and deletes its undo records.
local function set_active_record(operation, changed, amounts)
  local targets = operation.targets
  local parts = { record_head(math.max(operation.at, changed), amounts, targets), unpack(targets.groups) }
  set(operation.day.user.records, operation.field, table.concat(parts, ','))
  for _, history in ipairs(histories_of(operation)) do
    set(history, UNDONE .. operation.field, false)
  end
end

-- Sets the instant of a repetition, so that an older undo that was queued until now does not undo the
-- activity.
local function set_repetition(operation, record)
  if operation.at > record.latest then
    local text = string.gsub(record.text, '^([^:,]+)[^,]*', '%1:' .. digits(operation.at))
    set(operation.day.user.records, operation.field, text)
  end
end

-- Adds a change to the journal: its targets { date, periods, groups }, and their boards.
local function add_to_journal(change, operation, targets, boards)
  if not outbox then
    return
  end
  local rule, skipped = operation.rule, {}
  for i, board in ipairs(boards) do
    if board.archived then
      table.insert(skipped, i)
    end
  end
  journal[#journal + 1] = {
    change, 'now', ARGV[2], 'user', operation.day.user.id, 'action', rule.action,
    'once', rule.once, 'points', digits(rule.points), 'cooldown', rule.cooldown > 0 and '1' or '0',
    'mark', operation.record, 'at', digits(operation.at),
    'dated', operation.queued and '2' or operation.dated and '1' or '0', 'date', targets.date,
    'kinds', targets.periods, 'groups', table.concat(targets.groups, ','),
    'skipped', table.concat(skipped, ','), 'reason', audit and audit.reason or '',
    user = operation.day.user, mark = operation.record,
  }
end

local function add_to_audit(operation, action, points, date)
  if audit then
    local id = string.sub(operation.record, #ADJUST + 2)
    audit_entries[#audit_entries + 1] = {
      user = operation.day.user.id, id = id,
      entry = { action, 'points', digits(points), 'date', date, 'adjustment', id },
    }
  end
end

-- Raises an error if a stream that an adjustment is added to holds another type.
local function check_streams()
  if audit then
    check_audit(audit)
    check_outbox(outbox)
  end
end

local function count(operation)
  local rule, targets, day, user = operation.rule, operation.targets, operation.day, operation.day.user
  local changed, bits = -math.huge, 0
  if rule.once == 'd' then
    local counted
    bits, counted = read_daily_record(day, operation.field)
    if counted then
      return { 'duplicate', 0 }
    elseif operation.verb == 'old' then
      return { 'stale', 0 }
    end
  else
    local record
    record, changed = read_active_record(operation)
    if operation.dated and operation.at < changed then
      return { 'stale', 0 }
    elseif record then
      set_repetition(operation, record)
      return { 'duplicate', 0 }
    end
  end
  local cooldown_field = '~' .. rule.action
  local last = rule.cooldown > 0 and tonumber(get(user.records, cooldown_field) or -math.huge)
  if last and math.abs(operation.at - last) < rule.cooldown then
    return { 'cooldown', 0 }
  end
  local times, earned = read_history(day, rule.action)
  if rule.cap > 0 and earned + rule.points > rule.cap then
    return { 'daily-cap', 0 }
  end
  local boards = boards_of(targets, targets.periods, targets.groups)
  read_boards(boards, user)
  for _, board in ipairs(boards) do
    if points_on(board, user) + rule.points > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
  end

  -- Every check has passed; changes begin.
  if rule.once == 'd' then
    set(day.history, operation.field, digits(bits + 2 ^ day.of_span))
  else
    set_active_record(operation, changed, digits(rule.points))
  end
  if last then
    set(user.records, cooldown_field, digits(math.max(operation.at, last)))
  end
  add_points(boards, user, { rule.points })
  set_history(day, rule.action, times + 1, earned + rule.points)
  protect(operation, true)
  add_to_journal('count', operation, targets, boards)
  return { 'counted', rule.points }
end

-- Adds or removes points. A removal stops at zero points, on each board and in the history.
local function adjust(operation)
  local points, targets, day, user = operation.rule.points, operation.targets, operation.day, operation.day.user
  local record, changed = read_active_record(operation)
  if operation.dated and operation.at < changed then
    return { 'stale', 0 }
  elseif record then
    return { 'duplicate', 0 }
  end
  local times, adjusted = read_history(day, ADJUST)
  local boards = boards_of(targets, targets.periods, targets.groups)
  read_boards(boards, user)
  local amounts, texts = {}, {}
  for i, board in ipairs(boards) do
    if points_on(board, user) + points > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
    amounts[i] = board.archived and 0 or math.max(points, -points_on(board, user))
    texts[i] = digits(amounts[i])
  end
  local of_day = math.max(points, -points_of_day(day))
  check_streams()

  -- Every check has passed; changes begin.
  set_active_record(operation, changed, table.concat(texts, '/') .. '/' .. digits(of_day))
  add_points(boards, user, amounts)
  set_history(day, ADJUST, times + 1, adjusted + of_day)
  protect(operation, true)
  local effect = largest(amounts, boards)
  add_to_audit(operation, 'adjust', effect, targets.date)
  add_to_journal('adjust', operation, targets, boards)
  return { 'counted', effect }
end

local function refuse_own_target()
  return { 'own-target', 0 }
end

local function undo(operation)
  local user = operation.day.user
  local record, changed = read_active_record(operation)
  if operation.dated and operation.at < changed or operation.queued and record and operation.at < record.latest then
    return { 'stale', 0 }
  end
  changed = math.max(changed, operation.at)
  if not record then
    set(user.histories[1], UNDONE .. operation.field, digits(changed))
    protect(operation)
    add_to_journal('undo', operation, operation.targets, {})
    return { 'nothing-to-undo', 0 }
  end
  local boards, day, date = find_targets(record, user)
  local amounts = record.amounts
  read_boards(boards, user)
  for i, board in ipairs(boards) do
    if points_on(board, user) - (amounts[i] or amounts[1]) > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
  end
  check_streams()
  remove_from_history(day, operation.rule.action, amounts[#boards + 1] or amounts[1])

  -- Every check has passed; the other changes begin.
  set(user.records, operation.field, false)
  set(user.histories[1], UNDONE .. operation.field, digits(changed))
  for i, board in ipairs(boards) do
    local amount, points = amounts[i] or amounts[1], points_on(board, user)
    -- An expired board is not written again, and a user without points has none to lose.
    if not board.new and (points > 0 and amount > 0 or amount < 0) then
      set_points(board, user, math.max(0, points - amount))
    end
  end
  protect(operation)
  local effect = -largest(amounts, boards)
  add_to_audit(operation, 'undo-adjust', effect, date)
  add_to_journal('undo', operation, { date = date, periods = record.periods, groups = record.groups }, boards)
  return { 'undone', effect }
end

local verbs = { ['do'] = count, old = count, own = refuse_own_target, adjust = adjust, undo = undo }
local function decide(operation)
  -- The standings of the reply are part of what is read before the first write.
  if ARGV[7] == '1' then
    read_boards(boards_of(operation.targets, operation.targets.periods, {}), operation.day.user)
  end
  if operation.day.user.frozen and not audit then
    return { 'frozen', 0 }
  end
  if operation.dated and operation.at <= erased_at(operation.day.user) then
    return { 'stale', 0 }
  end
  return verbs[operation.verb](operation)
end

-- Returns an error of Redis, or of Lua for a damaged value, as text.
local function error_text(reason)
  local text = type(reason) == 'table' and reason.err or tostring(reason)
  return string.find(text, 'attempt to') and 'WRONGTYPE Invalid value: ' .. text or text
end

-- Decides some operations in their order, and writes all of their changes or none.
local function apply(some)
  local outcomes = {}
  for i, operation in ipairs(some) do
    local ok, outcome = pcall(decide, operation)
    outcomes[i] = ok and outcome or { 'failed', 0, error_text(outcome) }
  end
  write_changes()
  return outcomes
end

-- An undo removes points from the boards that received them. The targets of a record that this call
-- writes are always among those of the call.
reset_changes()
local missing = {}
for i, operation in ipairs(operations) do
  if operation.verb == 'undo' then
    local readable, record = pcall(read_active_record, operation)
    if readable and record and not find_targets(record, operation.day.user) then
      missing[#missing + 1] = { i, record.text }
    end
  end
end
if #missing > 0 then
  return { ARGV[1], missing, {}, {} }
end

local applied, results = pcall(apply, operations)
if unfinished then
  error(results, 0)
elseif not applied then
  results = { { 'failed', 0, error_text(results) } }
  -- If one of several operations cannot be written, the others take effect.
  for i = 1, #operations > 1 and #operations or 0 do
    reset_changes()
    local ok, outcome = pcall(apply, { operations[i] })
    if unfinished then
      error(outcome, 0)
    end
    results[i] = ok and outcome[1] or { 'failed', 0, error_text(outcome) }
  end
end

local standings = {}
if ARGV[7] == '1' and results[1][1] ~= 'failed' then
  local targets, user = operations[1].targets, operations[1].day.user
  for i, board in ipairs(boards_of(targets, targets.periods, {})) do
    local score = math.abs(board.scores[user.id])
    standings[2 * i - 1] = score > 0 and score
    standings[2 * i] = score > 0 and not user.hidden and redis.call('ZREVRANK', board.key, user.id)
  end
end
return { ARGV[1], {}, results, standings, #changed_boards > 0 and table.concat(changed_boards, ' ') or nil }
