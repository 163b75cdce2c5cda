-- The data of one user, which a call reads, changes in memory and writes at its end. Precedes count.lua and adjust.lua,
-- whose headers list KEYS and ARGV.
--
-- `entries` are hashes and boards by the number of their key. `former` has what was stored before, so that writes can be
-- taken back: Redis does not roll a script back when the store refuses one of its writes (quota, record size).
--
-- State   Score: points * ORDERS + (ORDERS - 1 - order), see score.lua: of equal points the earlier order ranks higher.
--         Scores of hidden users are stored negated, so they appear in no rank and no page.
--         Order counter: member '#' of the board. It also moves when a user leaves the board: watch.rs compares it.
--         Record field: action and target, 'wave:w', or 'Lpost-7' for an action with a letter, see build.rs.
--         Active record: 'head[:repeated][,group...][;received]', see record.rs.
--         Cooldown: field '~action' of the active records, the instant of the last counted activity.
--         History: 'count points' by day and action, 'kL' or 'kwave'; the day of the span, from 0, is one digit in base
--         36. Daily records: the days of the span as bits of a number by record field. Undo records: '-' and record
--         field, the instant of the undo. Points that an action has given one receiver on a day, if a rule limits them:
--         '>kL' and 12 digits of the SHA-1 of the receiver.
--         '\t': of the active records, the day of UTC on which their expiry was last renewed, by the first activity
--         that counts on that day; in a history, the history has an expiry.
--         An archived board that has expired is closed: it is not written again.

local RECORDS = 2
local run, match, sub, floor, max = redis.call, string.match, string.sub, math.floor, math.max
local user, call = ARGV[2], cjson.decode(ARGV[3])

local fingerprint, watched, definitions, flags =
  unpack(run('HMGET', KEYS[1], FINGERPRINT, WATCHED, DEFINITIONS, FLAGS .. user))
local accounts = accounts_of(flags)
if fingerprint and fingerprint ~= ARGV[1] then
  return { fingerprint }
elseif accounts ~= (call.accounts or '') then
  return { ARGV[1], 'accounts', accounts }
elseif match(definitions or '', '^%d*') ~= (call.definitions or '') then
  return { ARGV[1], 'definitions', definitions or '' }
end

-- Scores of hidden users are stored negated.
local sign = is_hidden(flags) and -1 or 1
-- What was read and changed, new entries of the stream, what was written, and whether an activity has counted.
local entries, added, written, has_counted = {}, {}, {}, false

-- Returns a hash, and names a field that its first access reads.
local function hash(number, field)
  local entry = entries[number]
  if not entry then
    entry = { key = KEYS[number], wanted = { '\t' }, former = {} }
    entries[number] = entry
  end
  if field then
    entry.wanted[#entry.wanted + 1] = field
  end
  return entry
end

-- Returns the value of a field, or false.
local function get(entry, field)
  local values = entry.values
  if not values then
    values = {}
    for i, value in ipairs(run('HMGET', entry.key, unpack(entry.wanted))) do
      values[entry.wanted[i]] = value
    end
    entry.values = values
  end
  if values[field] == nil then
    values[field] = run('HGET', entry.key, field)
  end
  return values[field]
end

-- Changes a field in memory; false deletes it.
local function set(entry, field, value)
  local current = get(entry, field)
  if not fingerprint and field ~= FINGERPRINT then
    set(hash(1), FINGERPRINT, ARGV[1])
  end
  if current ~= value and entry.former[field] == nil then
    entry.former[field], entry.is_changed = current, true
  end
  entry.values[field] = value
end

-- Returns a board. `former` are its order counter and the user's score as they were read, or false.
local function board_at(number)
  local board = entries[number]
  if not board then
    local key = KEYS[number]
    -- Keys of boards and histories begin as that of the index.
    local name, former = sub(key, #KEYS[4] + 1), run('ZMSCORE', key, '#', user)
    board = {
      key = key, name = name, former = former, counter = former[1], score = former[2],
      points = floor(sign * (former[2] or 0) / ORDERS),
      is_closed = not former[1] and run('SISMEMBER', KEYS[5], name) == 1,
    }
    entries[number] = board
  end
  return board
end

-- Returns the boards of a place, then those of the events of an item, and whether a score would exceed the maximum. Sets
-- their amounts: `times` the points, which events have of their own.
local function item_boards(item, place, times, points)
  local boards, overflows, events = {}, false, item.events or {}
  for i, number in ipairs(place.boards) do
    boards[i] = board_at(number)
    boards[i].amount = times * points
  end
  for i = 1, #events, 2 do
    local board = board_at(events[i])
    boards[#boards + 1], board.amount = board, times * events[i + 1]
  end
  for _, board in ipairs(boards) do
    overflows = overflows or board.points + board.amount > MAX_POINTS
  end
  return boards, overflows
end

-- Adds the amounts of boards, or takes away the points that are left. Returns the changes of the first `count` boards,
-- as one number if all are equal or there are none, and the numbers of the closed ones among them.
local function add_all(boards, count)
  local changes, closed, are_equal = {}, {}, true
  for i, board in ipairs(boards) do
    -- The sum with 0 is never -0.
    local change = board.is_closed and 0 or max(board.amount, -board.points) + 0
    if change ~= 0 then
      local counter = tonumber(board.counter or 0)
      board.points, board.score = board.points + change, nil
      board.counter, board.is_changed = next_counter(counter), true
      if board.points > 0 then
        board.score = digits(sign * (board.points * ORDERS + ORDERS - 1 - floor(counter)))
      end
    end
    if i <= count then
      changes[i] = change
      are_equal = are_equal and change == changes[1]
      closed[#closed + 1] = board.is_closed and i or nil
    end
  end
  return are_equal and digits(changes[1] or 0) or table.concat(changes, '/'), table.concat(closed, ',')
end

-- Returns the count and the points of an action on a day.
local function read_total(place, action)
  local count, points = match(get(hash(place.history), place.day .. action) or '0 0', '^(%d+) (-?%d+)$')
  return count + 0, points + 0
end

local function set_total(place, action, count, points)
  local text = digits(count) .. ' ' .. digits(points)
  set(hash(place.history), place.day .. action, text ~= '0 0' and text)
end

-- Returns the points of all actions on a day.
local function day_points(place)
  local sum, values, fields = 0, hash(place.history).values, run('HGETALL', KEYS[place.history])
  for i = 1, #fields, 2 do
    if values[fields[i]] == nil then
      values[fields[i]] = fields[i + 1]
    end
  end
  for field, value in pairs(values) do
    -- Only a total has a space.
    if sub(field, 1, 1) == place.day then
      sum = sum + (match(value or '', '^%d+ (-?%d+)$') or 0)
    end
  end
  return sum
end

-- Removes one activity from a day, unless its history has expired.
local function remove_total(place, action, points)
  local count, total = read_total(place, action)
  if count > 0 then
    local left = total - points
    if action ~= 'A' then
      left = count > 1 and max(0, left) or 0
    end
    set_total(place, action, count - 1, left)
    -- A negative adjustment may have removed these points already: raise it until the day is not below zero.
    local adjustments, adjusted = read_total(place, 'A')
    if adjusted < 0 then
      set_total(place, 'A', adjustments, adjusted - math.min(0, day_points(place)))
    end
  end
end

-- Parses an active record, see record.rs. `where` is day, periods and groups, as the caller writes them.
local function parse_record(text)
  local head, repeated, groups, received = match(text, '^([^:,;]+):?(-?%d*)([^;]*)(.*)$')
  local at, amounts, where = match(head, '^(%S+) (%S+) (.+)$')
  if not at then
    local code = sub(head, -15, -14)
    at, amounts = sub(head, -13), sub(head, 1, -16)
    where = digits(floor(at / 86400000) + code % 3 - 1) .. ' ' .. digits(floor(code / 3))
  end
  at = tonumber(at)
  return { at = at, last = tonumber(repeated) or at, amounts = amounts, where = where .. groups, received = received }
end

-- Returns the active record that an undo needs, if its place is not the one that the caller has guessed.
local function unknown_record(item)
  local text = item.undo and get(hash(RECORDS), item.field)
  return text and text ~= item.seen and parse_record(text).where ~= item.where and text
end

-- Returns the instant of the last change of a record, or -inf.
local function last_change(item, record)
  local changed = record and record.at or -math.huge
  for i = 1, item.dated and #call.undone or 1 do
    changed = max(changed, tonumber(get(hash(call.undone[i]), '-' .. item.field) or changed))
  end
  return changed
end

-- Sets or deletes the active record of an item, and deletes its older undo records. `undone` is the instant of a new one.
local function set_record(item, text, undone)
  local field = '-' .. item.field
  set(hash(RECORDS), item.field, text)
  for i = 1, item.dated and #call.undone or 1 do
    local history = hash(call.undone[i])
    local former = get(history, field)
    if i == 1 and undone then
      set(history, field, digits(undone))
    elseif former and item.at >= tonumber(former) then
      set(history, field, false)
    end
  end
end

-- Adds a change to the stream, if anybody reads it, with further fields; src/journal/mod.rs lists all.
local function append(did, item, place, received, applied, skipped, ...)
  if call.journal or call.content and received ~= '' then
    local fields = {
      KEYS[3], '*', 'did', did, 'now', call.instant, 'user', user, 'action', item.name, 'once', item.daily and 'd' or 's',
      'points', digits(item.points), 'cooldown', item.cooldown and '1' or '0', 'mark', item.mark, 'at', digits(item.at),
      'dated', item.queued and '2' or item.dated and '1' or '0', 'date', place.date, 'kinds', place.kinds, 'groups',
      place.groups, 'applied', applied, 'skipped', skipped, 'reason', item.reason or '', ...
    }
    if item.account then
      local n = #fields
      fields[n + 1], fields[n + 2] = 'account', item.account
    end
    if call.content or received ~= '' then
      local n = #fields
      fields[n + 1], fields[n + 2] = 'received', sub(received, 2)
    end
    added[#added + 1] = fields
  end
end

-- Writes the changed fields of a hash with the values after the change, or with those before.
local function write_hash(entry, after, before)
  local changed, deleted = {}, {}
  for field in pairs(entry.former) do
    local value, n = after[field], #changed
    if value == before[field] then
      -- Unchanged.
    elseif value then
      changed[n + 1], changed[n + 2] = field, value
    else
      deleted[#deleted + 1] = field
    end
  end
  if #changed > 0 then
    run('HSET', entry.key, unpack(changed))
    written[#written + 1] = entry
  end
  if #deleted > 0 then
    run('HDEL', entry.key, unpack(deleted))
    written[#written + 1] = entry
  end
end

local function write_board(board, counter, score)
  run('ZADD', board.key, score or 0, user, counter or 0, '#')
  written[#written + 1] = board
  if not score then
    run('ZREM', board.key, user, counter and user or '#')
  end
end

-- Writes everything that changed: active records, histories and boards with the expiries of new keys, and the stream. The
-- index has the names of the keys that expire: an erasure finds them there.
local function write_all()
  local records, names, second = hash(RECORDS), {}, floor(call.now / 1000)
  if has_counted and (records.is_changed or get(records, '\t')) then
    set(records, '\t', call.today)
  end
  for number = 1, #KEYS do
    local entry = entries[number]
    if entry and entry.is_changed then
      local is_new, n, expiry = number > 7, #names, 'inf'
      if entry.points then
        is_new = not entry.former[1]
        write_board(entry, entry.counter, entry.score)
      else
        is_new = is_new and not get(entry, '\t')
        if is_new then
          set(entry, '\t', '')
        end
        write_hash(entry, entry.values, entry.former)
      end
      if is_new then
        local lifetime = cjson.decode(call.lifetimes)[number - 7]
        if lifetime > 0 then
          run('EXPIRE', entry.key, lifetime)
          expiry = digits(second + lifetime + 86400)
        end
        names[n + 1], names[n + 2] = expiry, entry.name or match(entry.key, '%-?%d+', #KEYS[4])
      end
    end
  end
  for _, fields in ipairs(added) do
    written[#written + 1] = { key = fields[1], id = run('XADD', unpack(fields)) }
  end
  if records.former['\t'] ~= nil then
    run('EXPIRE', records.key, call.record_lifetime)
  end
  -- In parts: gopher-lua has a stack of 5,120 values.
  for i = 1, #names, 1000 do
    run('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. digits(second))
    run('ZADD', KEYS[4], 'GT', unpack(names, i, math.min(i + 999, #names)))
  end
end

-- Runs a function that decides and writes. If a value is damaged, or the store refuses a write, takes the writes back, the
-- last one first, until the store refuses one of these, too; and returns the outcome 'failed'.
local function attempt(decide, ...)
  local ok, reason = pcall(decide, ...)
  if ok then
    return
  end
  local restored = pcall(function()
    for i = #written, 1, -1 do
      local entry = written[i]
      if entry.id then
        run('XDEL', entry.key, entry.id)
      elseif entry.points then
        write_board(entry, entry.former[1], entry.former[2])
      else
        write_hash(entry, entry.former, entry.values)
      end
    end
  end)
  local text = reason.err or reason
  -- An error of Redis begins with its code, one of Lua does not.
  text = match(text, '%u%u%u ') and text or 'WRONGTYPE Invalid value: ' .. text
  return { 'failed', text, restored }
end

-- Returns score (as stored) and rank (from 0) on each ranked board, false without; a hidden user has no rank.
local function read_standings()
  local standings = {}
  for number = call.ranked[1], call.ranked[2] do
    local board, n = board_at(number), #standings
    local score = board.points > 0 and board.score
    standings[n + 1], standings[n + 2] = score, score and sign > 0 and run('ZREVRANK', board.key, user)
  end
  return standings
end
