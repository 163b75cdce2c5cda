-- Writes what the operations of count.lua have changed in memory. Follows count_state.lua.

-- Returns the changes of no operation, beside those of hashes and boards: entries of streams and of the audit
-- log; users with an undo log; users whose active records live longer; names that the index did not have before.
local function no_changes()
  return { entries = {}, audit_entries = {}, protected = {}, active = {}, registered = {} }
end
local changes = no_changes()
-- Whether the store refused a write and then also refused to undo the writes before it.
local unfinished = false
-- Names of the watched boards that were written.
local changed_boards = {}
-- The instant of entries of the journal and of the audit log. In a rebuild it precedes ARGV[2].
local entry_instant = audit and audit.now or ARGV[2]

-- Forgets what was read and changed.
local function reset_changes()
  reset_hashes()
  for _, board in ipairs(boards) do
    board.scores = false
  end
  changes = no_changes()
end

-- Gives a user an undo log.
local function protect(one)
  local protected = changes.protected
  if not protected[one] then
    protected[one], protected[#protected + 1] = true, one
  end
end

-- Gives the user of an operation an undo log. If the operation `counts`, an activity is added: the first one
-- of a day of UTC renews the expiry of the active records.
local function protect_user(operation, counts)
  local user = operation.day.user
  protect(user)
  local history, has_records = user.histories[1], #user.records.changed > 0
  local marker = tonumber(get(history, MARKER) or 0)
  local is_newest = operation.day.history == history
  if not counts then
    -- An undo may delete the last active record, and the key with it.
    set(history, MARKER, marker > 0 and digits(marker - marker % 2))
  elseif not is_newest or math.floor(marker / 2) ~= today or marker % 2 == 0 and has_records then
    local active = changes.active
    if not active[user] then
      active[user], active[#active + 1] = true, user
    end
    if is_newest then
      set(history, MARKER, digits(2 * today + (has_records and 1 or 0)))
    end
  end
end

-- Adds points to boards. Returns the amounts that were added.
local function add_points(some, one, amounts)
  local applied = {}
  for i, board in ipairs(some) do
    local amount = not board.archived and (amounts[i] or amounts[1]) or 0
    applied[i] = amount
    if amount ~= 0 then
      protect(one)
      set_points(board, one, points_on(board, one) + amount)
    end
  end
  return applied
end

-- Returns the numbers of the boards that are archived and have expired.
local function skipped_boards(some)
  local skipped = {}
  for i, board in ipairs(some) do
    if board.archived then
      skipped[#skipped + 1] = i
    end
  end
  return table.concat(skipped, ',')
end

-- Appends an entry to the stream. With this value in one of its fields, the undo log of the user finds it.
local function append(user, field, value, ...)
  protect(user)
  changes.entries[#changes.entries + 1] = { user = user, field = field, value = value, ... }
end

-- Returns an error of Redis, or of Lua for a damaged value, as text.
local function error_text(reason)
  local text = type(reason) == 'table' and reason.err or tostring(reason)
  return string.find(text, 'attempt to') and 'WRONGTYPE Invalid value: ' .. text or text
end

-- Returns the undo log of a user.
local function undo_log(one)
  local lines, id = { entry_instant }, one.id
  local function add(kind, key, field, former)
    local n = #lines
    lines[n + 1], lines[n + 2], lines[n + 3], lines[n + 4] = kind, key, field, former
  end
  for _, hash in ipairs(hashes) do
    local changed = hash.changed
    if hash == one.records or hash.user == one then
      for _, field in ipairs(changed) do
        add('h', hash.key, field, changed[field] or '')
      end
    end
  end
  for _, board in ipairs(boards) do
    local former = board.scores and board.changed[one]
    if former then
      add('z', board.key, id, former == 0 and '' or digits(former))
    end
  end
  for _, entry in ipairs(changes.entries) do
    if entry.user == one then
      add('j', stream, entry.field, entry.value)
    end
  end
  for _, entry in ipairs(changes.audit_entries) do
    add('a', audit.log, audit.subjects, entry.id)
  end
  lines[#lines + 1] = ''
  return table.concat(lines, '\n')
end

-- Writes the undo logs, and the fingerprint of a shard that has none.
local function write_undo_logs()
  local logs = stored_fingerprint and {} or { FINGERPRINT, ARGV[1] }
  for _, one in ipairs(changes.protected) do
    logs[#logs + 1] = UNDO_LOG .. one.id
    logs[#logs + 1] = undo_log(one)
  end
  write('HSET', KEYS[1], logs)
end

local function delete_undo_logs()
  local fields = {}
  for i, one in ipairs(changes.protected) do
    fields[i] = UNDO_LOG .. one.id
  end
  write('HDEL', KEYS[1], fields)
end

local function write_board(board)
  local scores, removed = {}, {}
  for _, one in ipairs(board.changed) do
    local score, n = board.scores[one.id], #scores
    if score ~= 0 then
      scores[n + 1], scores[n + 2] = digits(score), one.id
    elseif board.changed[one] ~= 0 then
      removed[#removed + 1] = one.id
    end
  end
  if board.counter ~= board.former_counter then
    local n = #scores
    scores[n + 1], scores[n + 2] = counter_text(board.counter), COUNTER
  end
  write('ZADD', board.key, scores)
  write('ZREM', board.key, removed)
end

-- Sets the expiries of new keys, and adds their names to the index, in which an erasure finds them.
-- The index loses the names of expired keys.
local function write_expiries()
  local second = math.floor(now / 1000)
  local names, expiries = {}, {}
  local function register(name, seconds)
    names[#names + 1] = name
    expiries[#expiries + 1] = seconds > 0 and digits(second + seconds + 86400) or 'inf'
    expiries[#expiries + 1] = name
  end
  for _, board in ipairs(boards) do
    if board.scores and board.created then
      if board.lifetime > 0 then
        redis.call('EXPIRE', board.key, board.lifetime)
      end
      register(board.key, board.lifetime)
    end
  end
  for _, history in ipairs(hashes) do
    -- A history with a marker has an expiry. Only the TTL shows whether another one is new.
    if history.span and #history.changed > 0 and not former_value(history, MARKER) then
      if redis.call('TTL', history.key) == -1 and redis.call('EXPIRE', history.key, span_lifetime) == 1 then
        register(digits(history.span), span_lifetime)
      end
    end
  end
  if #names > 0 then
    for i, expiry in ipairs(redis.call('ZMSCORE', index, unpack(names))) do
      local registered = changes.registered
      registered[#registered + 1] = not expiry and names[i] or nil
    end
    redis.call('ZADD', index, 'GT', unpack(expiries))
    redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. digits(second))
  end
  for _, user in ipairs(changes.active) do
    redis.call('EXPIRE', user.records.key, record_lifetime)
  end
end

-- Restores everything that changed.
local function restore_changes(ids)
  for _, hash in ipairs(hashes) do
    for _, field in ipairs(hash.changed) do
      restore(ARGV[2], 'h', hash.key, field, hash.changed[field] or '')
    end
  end
  for _, board in ipairs(boards) do
    for _, one in ipairs(board.scores and board.changed or {}) do
      local former = board.changed[one]
      restore(ARGV[2], 'z', board.key, one.id, former == 0 and '' or digits(former), one.hidden)
    end
    if board.scores and not board.created and board.counter ~= board.former_counter then
      redis.call('ZADD', board.key, counter_text(board.former_counter), COUNTER)
    end
  end
  for _, entry in ipairs(changes.audit_entries) do
    restore(entry_instant, 'a', audit.log, audit.subjects, entry.id)
    -- Without digits, the flags had no subject number.
    if entry.flags and not string.find(entry.flags, '%d') then
      redis.call('HDEL', audit.subjects, 's' .. digits((tonumber(entry.subjects) or 0) + 1))
      restore(ARGV[2], 'h', audit.subjects, 'subjects', entry.subjects)
      restore(ARGV[2], 'h', KEYS[1], FLAGS .. entry.user, entry.flags)
    end
  end
  for _, id in ipairs(ids) do
    redis.call('XDEL', stream, id)
  end
  if #changes.registered > 0 then
    redis.call('ZREM', index, unpack(changes.registered))
  end
  if not stored_fingerprint then
    redis.call('HDEL', KEYS[1], FINGERPRINT)
  end
  delete_undo_logs()
end

local function add_changed_boards()
  for name, expiry in string.gmatch(watched or '', '(%S+) (%d+)') do
    local board = boards_by_key[string.sub(KEYS[1], 1, -2) .. 'b' .. name]
    if board and board.scores and #board.changed > 0 and now < expiry * 1000 then
      changed_boards[#changed_boards + 1] = name
    end
  end
end

-- Writes all changes. If the store refuses a write, restores everything and raises the store's error.
local function write_changes()
  local changed = #changes.protected > 0
  for _, hash in ipairs(hashes) do
    changed = changed or #hash.changed > 0
  end
  if not changed then
    return
  end
  local ids = {}
  local written, reason = pcall(function()
    write_undo_logs()
    for _, hash in ipairs(hashes) do
      write_hash(hash)
    end
    for _, board in ipairs(boards) do
      if board.scores then
        write_board(board)
      end
    end
    for _, entry in ipairs(changes.audit_entries) do
      entry.flags = redis.call('HGET', KEYS[1], FLAGS .. entry.user) or ''
      entry.subjects = redis.call('HGET', audit.subjects, 'subjects') or ''
      write_audit(audit, entry.user, entry.entry)
    end
    for i, entry in ipairs(changes.entries) do
      ids[i] = redis.call('XADD', stream, '*', unpack(entry))
    end
    write_expiries()
    delete_undo_logs()
  end)
  if not written then
    unfinished = not pcall(restore_changes, ids)
    error(reason, 0)
  end
  -- A later operation that the store refuses leaves it.
  stored_fingerprint = ARGV[1]
  add_changed_boards()
end
