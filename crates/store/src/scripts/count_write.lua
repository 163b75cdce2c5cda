-- Writes what the operations of count.lua have changed in memory. Follows count_state.lua.

-- Entries of the journal and of the audit log; users with an undo log, and users whose active records
-- live longer.
local journal, audit_entries, protected, renewed
-- Whether the store refused a write and then also refused to undo the writes before it.
local unfinished = false
-- Names that the index did not have before.
local registered

-- Forgets what was read and changed.
local function reset_changes()
  reset_hashes()
  for _, board in ipairs(boards) do
    board.scores = nil
  end
  journal, audit_entries, protected, renewed, registered = {}, {}, {}, {}, {}
end

-- Gives a user an undo log. If an activity is added, `day` is its day, on which its action has counted
-- so many times before.
local function protect(user, day, times)
  if not protected[user] then
    protected[user] = true
    protected[#protected + 1] = user
  end
  if day and not renewed[user] then
    renewed[user] = true
    renewed[#renewed + 1] = user
  end
  -- The keys of a day's span can be new only if nothing of this action has counted on the day.
  if times == 0 then
    day.history.span, day.records.span = day, day
  end
end

-- Returns the undo log of a user.
local function undo_log(user)
  local lines = { ARGV[2] }
  local function add(kind, key, field, former)
    for _, line in ipairs({ kind, key, field, former }) do
      lines[#lines + 1] = line
    end
  end
  local function add_hash(hash)
    for _, field in ipairs(hash.changed) do
      add('h', hash.key, field, hash.former[field] or '')
    end
  end
  add_hash(user.records)
  for _, records in ipairs(user.undo_records) do
    add_hash(records)
  end
  local added = {}
  for _, day in pairs(user.days) do
    if not added[day.history] then
      added[day.history] = true
      add_hash(day.history)
      add_hash(day.records)
    end
  end
  for _, board in ipairs(boards) do
    local former = board.scores and board.former[user.id]
    if former then
      add('z', board.key, user.id, former == 0 and '' or digits(former))
    end
  end
  for _, entry in ipairs(journal) do
    if entry.user == user then
      add('j', outbox, 'mark', entry.mark)
    end
  end
  for _, entry in ipairs(audit_entries) do
    add('a', audit.log, audit.subjects, entry.id)
  end
  lines[#lines + 1] = ''
  return table.concat(lines, '\n')
end

local function write_undo_logs()
  local logs = {}
  for _, user in ipairs(protected) do
    logs[#logs + 1] = UNFINISHED .. user.id
    logs[#logs + 1] = undo_log(user)
  end
  if #logs > 0 then
    redis.call('HSET', flags, unpack(logs))
  end
end

local function delete_undo_logs()
  local fields = {}
  for i, user in ipairs(protected) do
    fields[i] = UNFINISHED .. user.id
  end
  if #fields > 0 then
    redis.call('HDEL', flags, unpack(fields))
  end
end

local function write_board(board)
  local scores, removed = {}, {}
  for _, user in ipairs(board.changed) do
    local score = board.scores[user.id]
    if score ~= 0 then
      scores[#scores + 1] = digits(score)
      scores[#scores + 1] = user.id
    elseif board.former[user.id] ~= 0 then
      removed[#removed + 1] = user.id
    end
  end
  if board.order ~= board.former_order then
    scores[#scores + 1] = digits(board.order)
    scores[#scores + 1] = COUNTER
  end
  if #scores > 0 then
    redis.call('ZADD', board.key, unpack(scores))
  end
  if #removed > 0 then
    redis.call('ZREM', board.key, unpack(removed))
  end
end

-- Sets the expiry of a key that has none. Returns whether it did.
local function set_missing_expiry(key, seconds)
  return redis.call('TTL', key) == -1 and redis.call('EXPIRE', key, seconds) == 1
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
  for _, hash in ipairs(hashes) do
    if hash.span and #hash.changed > 0 and set_missing_expiry(hash.key, span_lifetime) then
      register(digits(math.floor(hash.span.number / SPAN)), span_lifetime)
    end
  end
  for _, user in ipairs(users) do
    if #user.undo_records[1].changed > 0 then
      set_missing_expiry(user.undo_records[1].key, undo_lifetime)
    end
  end
  if #names > 0 then
    for i, expiry in ipairs(redis.call('ZMSCORE', index, unpack(names))) do
      registered[#registered + 1] = not expiry and names[i] or nil
    end
    redis.call('ZADD', index, 'GT', unpack(expiries))
    redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. digits(second))
  end
  for _, user in ipairs(renewed) do
    redis.call('EXPIRE', user.records.key, record_lifetime)
  end
end

-- Restores everything that changed.
local function restore_changes(ids)
  for _, hash in ipairs(hashes) do
    for _, field in ipairs(hash.changed) do
      restore(ARGV[2], 'h', hash.key, field, hash.former[field] or '')
    end
  end
  for _, board in ipairs(boards) do
    for _, user in ipairs(board.scores and board.changed or {}) do
      local former = board.former[user.id]
      restore(ARGV[2], 'z', board.key, user.id, former == 0 and '' or digits(former), user.hidden)
    end
    if board.scores and not board.created and board.order ~= board.former_order then
      redis.call('ZADD', board.key, digits(board.former_order), COUNTER)
    end
  end
  for _, entry in ipairs(audit_entries) do
    restore(ARGV[2], 'a', audit.log, audit.subjects, entry.id)
    -- Without digits, the flags had no subject number.
    if entry.flags and not string.find(entry.flags, '%d') then
      redis.call('HDEL', audit.subjects, 's' .. digits((tonumber(entry.subjects) or 0) + 1))
      restore(ARGV[2], 'h', audit.subjects, 'subjects', entry.subjects)
      restore(ARGV[2], 'h', flags, entry.user, entry.flags)
    end
  end
  for _, id in ipairs(ids) do
    redis.call('XDEL', outbox, id)
  end
  if #registered > 0 then
    redis.call('ZREM', index, unpack(registered))
  end
  if not stored_fingerprint then
    redis.call('DEL', fingerprint)
  end
  delete_undo_logs()
end

-- Writes all changes. If the store refuses a write, restores everything and raises the store's error.
local function write_changes()
  local changed = false
  for _, hash in ipairs(hashes) do
    changed = changed or #hash.changed > 0
  end
  if not changed then
    return
  end
  local ids = {}
  local written, reason = pcall(function()
    if not stored_fingerprint then
      redis.call('SET', fingerprint, ARGV[1])
    end
    write_undo_logs()
    for _, hash in ipairs(hashes) do
      write_hash(hash)
    end
    for _, board in ipairs(boards) do
      if board.scores then
        write_board(board)
      end
    end
    for _, entry in ipairs(audit_entries) do
      entry.flags = redis.call('HGET', flags, entry.user) or ''
      entry.subjects = redis.call('HGET', audit.subjects, 'subjects') or ''
      write_audit(audit, entry.user, entry.entry)
    end
    for i, entry in ipairs(journal) do
      ids[i] = write_outbox(outbox, unpack(entry))
    end
    write_expiries()
    delete_undo_logs()
  end)
  if not written then
    unfinished = not pcall(restore_changes, ids)
    error(reason, 0)
  end
end
