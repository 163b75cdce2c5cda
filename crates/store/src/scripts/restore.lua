-- Restores the values that a call has changed. Precedes count_call.lua and recover.lua.
--
-- A store may refuse any write in the middle of a script (out of memory, quota, record size), and
-- Redis does not roll back. So a call writes an undo log first and deletes it last, one field for
-- each user whose data changes in the hash of users, which every call reads. A log that is still
-- there belongs to a call that could not undo its own changes.
--
-- Undo log: lines that end with '\n': the instant of the call in Unix ms, then four for each change:
--   'h'  key of a hash          field     former value, or '' for none
--   'z'  key of a board         user      former score, or '' for none
--   'j'  key of a stream        field     value of this field in the entry of this instant
--   'a'  key of the audit log   key of the reasons, and the adjustment of the entry of this instant

-- Deletes the newest entry of a stream with these two fields. Returns its id, or nil.
local function delete_entry(stream, instant_name, instant, name, value)
  local readable, entries = pcall(redis.call, 'XREVRANGE', stream, '+', '-', 'COUNT', 1000)
  for _, entry in ipairs(readable and entries or {}) do
    local fields = {}
    for i = 1, #entry[2], 2 do
      fields[entry[2][i]] = entry[2][i + 1]
    end
    if fields[name] == value and fields[instant_name] == instant then
      redis.call('XDEL', stream, entry[1])
      return entry[1]
    end
  end
end

-- Restores one item of an undo log. `hidden` says whether boards hide the user now.
local function restore(instant, kind, key, field, former, hidden)
  if kind == 'h' and former ~= '' then
    redis.call('HSET', key, field, former)
  elseif kind == 'h' then
    redis.call('HDEL', key, field)
  elseif kind == 'z' and former ~= '' then
    local score = math.abs(tonumber(former))
    redis.call('ZADD', key, digits(hidden and -score or score), field)
  elseif kind == 'z' then
    redis.call('ZREM', key, field)
    -- A board with the order counter alone did not exist before.
    if redis.call('ZCARD', key) == 1 then
      redis.call('DEL', key)
    end
  elseif kind == 'j' then
    delete_entry(key, 'now', instant, field, former)
  else
    local id = delete_entry(key, 'at', instant, 'adjustment', former)
    if id then
      redis.call('HDEL', field, id)
    end
  end
end
