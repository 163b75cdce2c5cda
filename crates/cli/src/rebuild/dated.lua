-- Wraps `redis.call` for the service's scripts during a replay: an entry of the audit log gets the
-- time of the original change as its id instead of the current time, because the audit logs of
-- several shards are merged by id. The stream of changes gets no entry: the journal has what these changed.

local store = redis

-- An audit log entry starts with the field 'at', in Unix ms.
local function add(key, given, at, instant, ...)
  -- Opt-outs have sequence numbers of their own.
  local ms, sequence = instant, given == '*' and 0 or 1000000
  local last = store.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if last then
    local last_ms, last_sequence = string.match(last[1], '(%d+)%-(%d+)')
    -- Ids must increase: continue the sequence of the last entry, as Redis does when its clock stands
    -- still.
    if tonumber(last_ms) >= tonumber(instant) then
      ms, sequence = last_ms, last_sequence + 1
    end
  end
  -- An entry that was deleted because the store refused a later write has used its id.
  local reply
  repeat
    reply = store.pcall('XADD', key, ms .. '-' .. string.format('%.0f', sequence), at, instant, ...)
    sequence = sequence + 1
  until type(reply) ~= 'table' or not string.find(reply.err, 'equal or smaller', 1, true)
  if type(reply) == 'table' then
    error(reply.err, 0)
  end
  return reply
end

local redis = setmetatable({
  call = function(name, ...)
    if name == 'XADD' then
      return select(3, ...) == 'at' and add(...) or nil
    end
    return store.call(name, ...)
  end,
}, { __index = store })

