-- Continues pending changes of visibility and erasures: on boards that a caller is about to read or
-- write, or by one step of the sweep through all boards.
--
-- KEYS    1 to 8 as pending.lua lists them   9.. any keys: boards (sorted set); histories
--         of users who are being erased, and their other keys (hash)
-- ARGV    1 string: schema fingerprint of the caller
--         2 'boards' to write the boards among KEYS; 'step' for a step of the sweep, which uses those
--         keys that come next
--         3 integer: names of the index whose keys to return, 0 or more, divided by the number of
--         pending changes
-- Returns { schema fingerprint, keys, stored fingerprint }
--         keys  to declare in the next steps; empty if no change is pending, or if ARGV[3] is 0
--         { stored fingerprint } if it has other settings: nothing was changed
-- State   A step ends at the first key that KEYS lacks. The last step removes the line of a change from
--         the fingerprint. The erasure entry of the audit log counts what was removed and names no user.
-- Example EVALSHA sha 9 {ar:0}p {ar:0}1i {ar:0}l {ar:0}w {ar:0}o {ar:0}c {ar:0}n {ar:0}e
--         {ar:0}1ba:all 'v4 ...' step 2400

-- Entries of the audit log that one step reads.
local PAGE = 1000
-- Names of the index that one step reads beyond its keys: spans, which need no key unless a user is being
-- erased.
local SPANS = 100

if not read_lines() then
  return { stored_fingerprint }
end
if #lines == 0 then
  return { ARGV[1], {}, stored_fingerprint }
end
for _, line in ipairs({ unpack(lines) }) do
  if line.incomplete then
    complete(line)
  end
end

-- Hides, shows or removes the pending users on a board, or the pending targets on a board of content.
local function settle(board)
  local kind = string.match(board, '^b(%u?)', #PREFIX + 1)
  local concerned, ids = {}, {}
  for _, line in ipairs(lines) do
    local member = member_of(line.user)
    if (member ~= nil) == (kind == 'T') then
      concerned[#concerned + 1], ids[#ids + 1] = line, member or line.user
    end
  end
  if #ids == 0 then
    return
  end
  local readable, scores = pcall(redis.call, 'ZMSCORE', board, '#', unpack(ids))
  -- The order counter shows that the board has changed, as after any other change of a score.
  local counter = readable and tonumber(table.remove(scores, 1) or 0)
  local function next_text()
    local is_plain = kind == 'T' or kind == 'A'
    local text = is_plain and counter_text(next_plain_counter(counter)) or next_counter(counter)
    counter = tonumber(text)
    return text
  end
  -- A key of another type is no board.
  for i, line in ipairs(readable and concerned or {}) do
    local score = tonumber(scores[i] or 0)
    if line.verb == 'e' and scores[i] then
      redis.call('ZREM', board, ids[i])
      redis.call('ZADD', board, next_text(), '#')
      redis.call('HINCRBY', CHANGES, 'boards ' .. line.user, 1)
    elseif line.verb ~= 'e' and score ~= 0 and (score < 0) ~= (line.verb == 'h') then
      redis.call('ZADD', board, digits(-score), ids[i], next_text(), '#')
    end
  end
end

-- Ends the sweep: logs the erasures that it covers, and removes what is left of them.
local function finish(number)
  for _, line in ipairs({ unpack(lines) }) do
    if line.verb == 'e' and line.number <= number then
      local change = cjson.decode(redis.call('HGET', CHANGES, line.user))
      local function removed(name)
        return tonumber(redis.call('HGET', CHANGES, name .. ' ' .. line.user) or 0)
      end
      local boards, keys = removed('boards'), change.removed_keys + removed('keys')
      local entries = {}
      -- The deletion of a target was logged when it began.
      if not member_of(line.user) and (boards + keys + change.profiles > 0 or change.subject ~= '') then
        local entry = { 'erase', 'boards', digits(boards), 'keys', digits(keys), 'profiles', digits(change.profiles) }
        entries[1] = add_actor(entry, change.actor)
      end
      change.log, change.last, change.entries = 3, last_id(audit.log), entries
      redis.call('HSET', CHANGES, line.user, cjson.encode(change))
      line.verb, line.incomplete = 'x', true
      write_lines()
      complete(line)
    end
  end
  if #lines > 0 then
    redis.call('HDEL', CHANGES, 'sweep')
  end
end

local function write_position(number, phase, score, name)
  redis.call('HSET', CHANGES, 'sweep', digits(number) .. ' ' .. phase .. ' ' .. score .. ' ' .. name)
end

-- Deletes the reasons of the users being erased from a page of the audit log.
local function sweep_audit_log(number, id, limit)
  local subjects = {}
  for _, line in ipairs(lines) do
    if line.verb == 'e' and line.number <= number and not member_of(line.user) then
      local change = cjson.decode(redis.call('HGET', CHANGES, line.user))
      if change.subject ~= '' then
        subjects[change.subject] = true
      end
    end
  end
  local page = next(subjects) and redis.call('XRANGE', audit.log, '(' .. id, '+', 'COUNT', limit) or {}
  for _, entry in ipairs(page) do
    -- The first fields of an entry are: 'at', instant, 'subject', number.
    if subjects[entry[2][4]] then
      redis.call('HDEL', audit.subjects, entry[1])
    end
  end
  if #page < limit then
    return finish(number)
  end
  write_position(number, 'a', page[#page][1], '')
end

-- Ends the sweep through the boards. Users who are hidden or shown are complete; erasures go on.
local function finish_boards(number, rest)
  local kept, erasures = {}, false
  for _, line in ipairs(lines) do
    if line.verb == 'e' or line.number > number then
      table.insert(kept, line)
      erasures = erasures or line.number <= number
    end
  end
  if #kept < #lines then
    lines = kept
    write_lines()
  end
  if #lines == 0 then
    return redis.call('UNLINK', CHANGES)
  elseif not erasures then
    return redis.call('HDEL', CHANGES, 'sweep')
  end
  write_position(number, 'a', '0-0', '')
  if rest > 0 then
    sweep_audit_log(number, '0-0', rest)
  end
end

local function step()
  local number, phase, score, name = sweep_position()
  if phase == 'a' then
    return sweep_audit_log(number, score, PAGE)
  end
  local declared = {}
  for i = 9, #KEYS do
    declared[KEYS[i]] = true
  end
  local limit = #KEYS + SPANS
  local erased = erased_users()
  local first = sweep_rank(score, name)
  local names = redis.call('ZRANGE', KEYS[2], first, first + limit - 1)
  local done
  for _, next_name in ipairs(names) do
    local keys = keys_of_name(next_name, erased)
    for _, key in ipairs(keys) do
      if not declared[key] then
        -- The caller read the index before this name was added.
        if done then
          write_position(number, 'b', redis.call('ZSCORE', KEYS[2], done), done)
        end
        return
      end
    end
    if board_key(next_name) then
      settle(keys[1])
    else
      for i, key in ipairs(keys) do
        if redis.call('UNLINK', key) == 1 then
          redis.call('HINCRBY', CHANGES, 'keys ' .. erased[i], 1)
        end
      end
    end
    done = next_name
  end
  if #names < limit then
    return finish_boards(number, PAGE - #names)
  end
  write_position(number, 'b', redis.call('ZSCORE', KEYS[2], done), done)
end

if ARGV[2] == 'step' then
  if #lines > 0 then
    step()
  end
else
  for i = 9, #KEYS do
    if string.find(KEYS[i], PREFIX .. 'b', 1, true) == 1 then
      settle(KEYS[i])
    end
  end
end
return { ARGV[1], next_keys(tonumber(ARGV[3])), redis.call('HGET', KEYS[1], FINGERPRINT) }
