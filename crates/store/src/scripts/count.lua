-- Counts activities, undoes them and adjusts points, in the order of the operations.
--
-- Reads, decides, writes: reads each key once, decides the operations in memory, then writes each key
-- once. Redis does not roll a script back, so an undo log protects the writes: restore.lua.
--
-- KEYS    1 users (hash)
--         2 index (sorted set: board key or span of histories -> last expiry, Unix s)
--         3 archived boards (set of keys)   4 changes (stream)
--         5 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
--         6 register of targets (hash), see targets.lua
--         7.. in any order, ARGV refers to them by number: boards (sorted set), active records (hash),
--         histories (hash: also daily records and undo records)
--
-- ARGV    1 string: schema fingerprint of the caller    2 integer: now, Unix ms
--         3 integer: lifetime of histories, s           4 integer: of active records, s
--         5 integer: today, days of UTC since 1970-01-01
--         6 string: of boards by period, s: 'd2678400 w7862400 a0'; 0 for unlimited
--         7 '1' to return standings                     8 '1' if changes go to the journal
--         9 '1' if there are several shards: the receivers of points may be on others
--         10 integer: number of the definitions of events that the caller knows, or ''
--         11.. seven lists, each preceded by its length; they refer to items of earlier lists by number
--         rules       action; once: 'd' per day or 's' while it stands; points; daily cap or 0;
--                     cooldown in ms or 0; points that the target and its author receive; '1' if it counts
--                     for the author of the target. Points are integers in smallest steps.
--         targets     date; its number in days since 1970-01-01; letters of periods ('dwmya');
--                     groups ('eu,us'); number of the first board key; letters of the periods with boards
--                     of content, or ''. The board keys are consecutive: the periods for all users, then the
--                     periods for each group. Those of an adjustment of an event have no keys: 'e' in the place
--                     of periods, and the event in that of groups.
--         users       user; active records key; span of the first history; keys of the histories that
--                     may have undo records, preceded by their number. Undo records are written to the
--                     first.
--         days        user; day number; key of the history of its span
--         operations  rule; targets; day; verb; deduplication record ('like:post-7'); instant, Unix ms;
--                     source of the instant: '0' now, '1' the caller, '2' the queue;
--                     receiver of points: '' for none, 't' and the member of a target, 'u' and a user, 'r'
--                     and the end of the active record in a rebuild, which has no receiver; with one shard 1 for a
--                     target that the call before registers, and for a user the key of a board of authors on which
--                     they may have points, else 0; with several what was read before: 'number;authorship' of the target's registration, or ';' for a user
--                     verb: 'do'; 'undo'; 'old', a 'do' on a day whose daily records may have expired;
--                     'own', a 'do' that does not count because the target is the user;
--                     'adjust', by a moderator, with points that may be negative; 'again', an adjustment of an
--                     event that a rebuild counts by a later definition: the record has these points in any case
--         audit       at most one item, for adjustments: audit log key; subjects key; instant, Unix ms;
--                     reason; actor, or ''
--         events      event; key of its board. Activity counts in these by their definitions, see define.lua.
--
-- Returns { stored fingerprint, missing, results, standings, unfinished, watched or nil, events or nil }
--         missing    { operation, active record } for each undo of a record with other targets than
--                    those of the call. Nothing was changed: send the call again with these targets.
--         results    { outcome, points } for each operation, points signed; for an activity that counted also
--                    the user's points of all time, if there is that board. The outcome is that of the
--                    API, or 'daily-cap', 'cooldown', 'own-target' (capped), 'score-overflow', 'frozen',
--                    'event-closed' (refused; an adjustment of an event that has not begun or is final, or its undo),
--                    or 'failed' with the error of Redis as the third element: this operation changed
--                    nothing, the others took effect.
--         standings  score (packed) or nil and rank (from 0) or nil of the first operation's user, for
--                    each period of its targets. A hidden user has a score and no rank.
--         unfinished  { user, undo log } for each user of the call whose changes an earlier call could
--                    neither complete nor undo. Nothing was changed: run recover.lua for each, and send the call
--                    again. Empty if the call before this one has not registered a target: its script was unknown.
--         watched    in the place of unfinished: the names of the boards that changed and are watched
--                    (watch.lua), between spaces
--         events     event, score (packed) or nil and rank or nil of the same user, for each event in which the
--                    first operation counts by its instant, or which it adjusts; left out with ARGV[7] = '0'
--         { stored fingerprint, {}, {}, {}, '', definitions } if they have another number than ARGV[10]: nothing
--                    was changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
--
-- State   Score: points * ORDERS + (ORDERS - 1 - order), so of equal points the earlier order ranks higher.
--         score.lua has the layout.
--         Scores of hidden users are stored negated, so they appear in no rank and no page.
--         Order counter: member '#' of the board, so that both expire together. It stays below ORDERS and
--         ranks below all visible users. From ORDERS - 1 on, a fraction counts changes: later equal scores tie by
--         user id. It also moves when a user leaves the board, is hidden or shown: watch.rs compares it.
--         Scores of content and of authors are points without an order, and the score of their order
--         counter is a fraction of it below 1. A member is a target's id, preceded by a second '#' if it
--         begins with one.
--         Record field: action and target, 'wave:w', or 'Lpost-7' for an action with a letter (those of
--         the default rules, and adjustments). No action is named like one of these letters.
--         Active record: 'head[:repeated][,group...]'; repeated is the instant of the latest
--         repetition. The head is one number: the points, two digits, and 13 digits of the instant of
--         the last change. The two digits are periods * 3 + 1 + offset: the periods as bits, from 'd'
--         on; the offset -1, 0 or 1 is the day minus the UTC day of the instant. Any other head is
--         'changed points day periods'. The points of an adjustment are its amounts on each board in
--         their order and then in the history, joined by '/'. With 'e' in the place of periods it is an
--         adjustment of the event in the place of the groups, and not in the history.
--         ';2wa;17;1' ends the record of an activity that others receive points for: points and
--         periods of the boards; number of the target's registration, or '' for a user; authorship, or ''
--         for no author; ';post-8' follows if the receiver is not the target of the activity.
--         Cooldown: field '~action' of the active records, the instant of the last counted activity.
--         History: 'count points' by day and action, 'kL' or 'kwave'; the day of the span, from 0, is
--         one digit in base 36. The same hash holds daily records, the days of the span as bits of a
--         number by record field; undo records, '-' and record field: the instant of the undo; and
--         the marker that count_state.lua describes.
--         Expiry: set on new keys. That of active records is renewed by the first activity that counts
--         on a day of UTC, and by each that counts in an earlier span.
--         An archived board that has expired is not written again.
--
-- Example EVALSHA sha 11 {ar:0}p {ar:0}i {ar:0}a {ar:0}o {ar:0}e {ar:0}t {ar:0}bd:2026-11-20
--         {ar:0}ba:all {ar:0}m:42 {ar:0}h:670:42 {ar:0}h:669:42
--         'v3 ...' 1795132800000 5356800 34646400 20777 'd2678400 a0' 1 0 0 ''  1 like s 2 0 0 2 0
--         1 2026-11-20 20777 da '' 7 ''  1 42 9 670 2 10 11  1 1 20777 10
--         1 1 1 1 do like:post-7 1795132800000 0 '' 0 ''  0  0

-- Sets the active record of an operation and deletes its undo records. `received` ends the record.
local function set_active_record(operation, changed, amounts, received)
  local targets = operation.targets
  local parts = { record_head(math.max(operation.at, changed), amounts, targets), unpack(targets.groups) }
  set(operation.day.user.records, operation.field, table.concat(parts, ',') .. received)
  for _, history in ipairs(histories_of(operation)) do
    set(history, UNDONE .. operation.field, false)
  end
end

-- Sets the instant of a repetition, so that an older undo that was queued until now does not undo the
-- activity.
local function set_repetition(operation, record)
  if operation.at > record.latest then
    local text = string.gsub(record.text, '^([^:,;]+)[^,;]*', '%1:' .. digits(operation.at))
    set(operation.day.user.records, operation.field, text)
  end
end

-- Formats the amounts that changed boards: one number if all are equal.
local function format_amounts(amounts)
  for i = 2, #amounts do
    if amounts[i] ~= amounts[1] then
      local texts = {}
      for j, amount in ipairs(amounts) do
        texts[j] = digits(amount)
      end
      return table.concat(texts, '/')
    end
  end
  return amounts[1] and digits(amounts[1]) or ''
end

-- Adds a change to the journal: the instant of its active record, its targets { date, periods, groups }, their boards,
-- the amounts that were applied to these, and what others receive, or received: the end of the active record. An undo
-- also says what it undoes: instant and points of the active record. Without a journal only receive.lua reads it.
local function add_to_journal(change, operation, at, targets, boards, applied, received, undone)
  local has_content, receipt = operation.targets.content ~= '', received and string.sub(received, 2) or ''
  if not outbox and (not has_content or receipt == '') then
    return
  end
  local rule, user, rest = operation.rule, operation.day.user, {}
  if has_content or receipt ~= '' then
    rest = { 'received', receipt }
  end
  if change == 'undo' then
    local n = #rest
    rest[n + 1], rest[n + 2] = 'counted', undone and digits(undone.changed) or ''
    rest[n + 3], rest[n + 4] = 'gave', undone and digits(undone.amounts[1]) or ''
  end
  if audit then
    rest[#rest + 1], rest[#rest + 2] = 'actor', audit.actor
  end
  append(user, 'mark', operation.record, 'did', change, 'now', ARGV[2], 'user', user.id,
    'action', rule.action, 'once', rule.once, 'points', digits(rule.points),
    'cooldown', rule.cooldown > 0 and '1' or '0', 'mark', operation.record, 'at', digits(at),
    'dated', operation.queued and '2' or operation.dated and '1' or '0', 'date', targets.date,
    'kinds', targets.periods, 'groups', table.concat(targets.groups, ','), 'skipped', skipped_boards(boards),
    'reason', audit and audit.reason or '', 'applied', format_amounts(applied),
    unpack(rest))
end

local function add_to_audit(operation, action, points, targets)
  if audit then
    local id, kind, name = string.sub(operation.record, #ADJUST + 2), 'date', targets.date
    if targets.periods == EVENT then
      kind, name = 'event', targets.groups[1]
    end
    changes.audit_entries[#changes.audit_entries + 1] = {
      user = operation.day.user.id, id = id,
      entry = { action, 'points', digits(points), kind, name, 'adjustment', id },
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

-- Reads boards, and returns whether points would exceed the maximum of one.
local function overflows(boards, user, amounts)
  read_boards(boards, user)
  for i, board in ipairs(boards) do
    if points_on(board, user) + (amounts[i] or amounts[1]) > MAX_POINTS then
      return true
    end
  end
  return false
end

local function count(operation)
  local rule, targets, day, user = operation.rule, operation.targets, operation.day, operation.day.user
  local received, is_own = find_receipt(operation)
  if is_own and not rule.own then
    return { 'own-target', 0 }
  end
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
  local boards, at = boards_of(targets, targets.periods, targets.groups), math.max(operation.at, changed)
  local in_events, of_events = events_of(at, rule.action, targets.groups, rule.points)
  if overflows(boards, user, { rule.points }) or overflows(in_events, user, of_events) then
    return { 'score-overflow', 0 }
  end

  -- Every check has passed; changes begin.
  if rule.once == 'd' then
    set(day.history, operation.field, digits(bits + 2 ^ day.of_span))
  else
    set_active_record(operation, changed, digits(rule.points), received)
  end
  if last then
    set(user.records, cooldown_field, digits(math.max(operation.at, last)))
  end
  local applied = add_points(boards, user, { rule.points })
  add_points(in_events, user, of_events)
  set_history(day, rule.action, times + 1, earned + rule.points)
  protect_user(operation, true)
  add_to_journal('count', operation, at, targets, boards, applied, received)
  local all_time = boards[string.find(targets.periods, 'a', 1, true)]
  return { 'counted', rule.points, all_time and points_on(all_time, user) }
end

-- Adds or removes points. A removal stops at zero points, on each board and in the history. Points of an event are not
-- in the history.
local function adjust(operation)
  local points, targets, day, user = operation.rule.points, operation.targets, operation.day, operation.day.user
  local record, changed = read_active_record(operation)
  if operation.dated and operation.at < changed then
    return { 'stale', 0 }
  elseif record then
    return { 'duplicate', 0 }
  end
  local of_event, again = targets.periods == EVENT, operation.verb == 'again'
  if of_event and not operation.event and not again then
    return { 'event-closed', 0 }
  end
  local times, adjusted = read_history(day, ADJUST)
  local of_periods = not of_event and boards_of(targets, targets.periods, targets.groups)
  local boards = of_periods or { operation.event and operation.event.board }
  read_boards(boards, user)
  local amounts, texts = {}, {}
  for i, board in ipairs(boards) do
    if points_on(board, user) + points > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
    amounts[i] = board.archived and 0 or math.max(points, -points_on(board, user))
    texts[i] = digits(amounts[i])
  end
  if again then
    texts = { digits(points) }
  end
  local of_day = of_event and 0 or math.max(points, -points_of_day(day))
  check_streams()

  -- Every check has passed; changes begin.
  set_active_record(operation, changed, table.concat(texts, '/') .. '/' .. digits(of_day), '')
  add_points(boards, user, amounts)
  if not of_event then
    set_history(day, ADJUST, times + 1, adjusted + of_day)
  end
  protect_user(operation, true)
  local effect = again and points or largest(amounts, boards)
  add_to_audit(operation, 'adjust', effect, targets)
  add_to_journal('adjust', operation, math.max(operation.at, changed), targets, boards, amounts)
  return { 'counted', effect }
end

-- Takes points back from boards that have been read. Returns the amounts that were added.
local function remove_points(boards, user, amounts)
  local applied = {}
  for i, board in ipairs(boards) do
    local amount, points = amounts[i] or amounts[1], points_on(board, user)
    -- An expired board is not written again, and a user without points has none to lose.
    local writes = not board.new and (points > 0 and amount > 0 or amount < 0)
    applied[i] = writes and math.max(0, points - amount) - points or 0
    if writes then
      set_points(board, user, points + applied[i])
    end
  end
  return applied
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
    protect_user(operation)
    add_to_journal('undo', operation, operation.at, operation.targets, {}, {})
    return { 'nothing-to-undo', 0 }
  end
  local boards, day, targets = find_targets(record, operation)
  local amounts, of_event = record.amounts, record.periods == EVENT
  -- In a rebuild the definition may be a later one.
  if of_event and not operation.event and not operation.received then
    return { 'event-closed', 0 }
  end
  read_boards(boards, user)
  local in_events, of_events = events_of(record.changed, operation.rule.action, record.groups, amounts[1])
  read_boards(in_events, user)
  for i, board in ipairs(boards) do
    if points_on(board, user) - (amounts[i] or amounts[1]) > MAX_POINTS then
      return { 'score-overflow', 0 }
    end
  end
  check_streams()
  if not of_event then
    remove_from_history(day, operation.rule.action, amounts[#boards + 1] or amounts[1])
  end

  -- Every check has passed; the other changes begin.
  set(user.records, operation.field, false)
  set(user.histories[1], UNDONE .. operation.field, digits(changed))
  local applied = remove_points(boards, user, amounts)
  remove_points(in_events, user, of_events)
  protect_user(operation)
  local effect = of_event and -amounts[1] or -largest(amounts, boards)
  local journaled = { date = targets.date, periods = record.periods, groups = record.groups }
  add_to_audit(operation, 'undo-adjust', effect, journaled)
  add_to_journal('undo', operation, operation.at, journaled, boards, applied, ';' .. record.received, record)
  return { 'undone', effect }
end

local verbs = { ['do'] = count, old = count, own = refuse_own_target, undo = undo, adjust = adjust,
  again = adjust }
local function decide(operation)
  -- The standings of the reply are part of what is read before the first write.
  if ARGV[7] == '1' then
    local targets, boards = operation.targets, ranked_events(operation)
    read_boards(boards_of(targets, targets.periods, {}), operation.day.user)
    read_boards(boards, operation.day.user)
  end
  if operation.day.user.frozen and not audit then
    return { 'frozen', 0 }
  end
  if operation.dated and operation.at <= erased_at(operation.day.user) then
    return { 'stale', 0 }
  end
  return verbs[operation.verb](operation)
end

-- Decides some operations in their order, and writes all of their changes or none. Returns their outcomes.
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
local missing = {}
for i, operation in ipairs(operations) do
  if operation.verb == 'undo' then
    local readable, record = pcall(read_active_record, operation)
    if readable and record and not find_targets(record, operation) then
      missing[#missing + 1] = { i, record.text }
    end
  end
end
if #missing > 0 then
  return { ARGV[1], missing, {}, {} }
end
for _, operation in ipairs(operations) do
  local receiver = operation.receiver
  if receiver and receiver.is_target and receiver.known == 1 and not get(register, receiver.id) then
    return { ARGV[1], {}, {}, {}, {} }
  end
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

local standings, of_events = {}, {}
if ARGV[7] == '1' and results[1][1] ~= 'failed' then
  local operation = operations[1]
  local targets, user = operation.targets, operation.day.user
  -- Returns the score and the rank on a board, each false if there is none.
  local function standing(board)
    local score = math.abs(board.scores[user.id])
    return score > 0 and score, score > 0 and not user.hidden and redis.call('ZREVRANK', board.key, user.id)
  end
  for i, board in ipairs(boards_of(targets, targets.periods, {})) do
    standings[2 * i - 1], standings[2 * i] = standing(board)
  end
  local _, counting = ranked_events(operation)
  for i, event in ipairs(counting) do
    of_events[3 * i - 2] = event.id
    of_events[3 * i - 1], of_events[3 * i] = standing(event.board)
  end
end
local changed = table.concat(changed_boards, ' ')
if #of_events > 0 then
  return { ARGV[1], {}, results, standings, changed, of_events }
end
return { ARGV[1], {}, results, standings, changed ~= '' and changed or nil }
