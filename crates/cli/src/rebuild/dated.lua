-- Wraps `redis.call` for the service's scripts during a replay: an entry of the audit log gets the
-- time of the original change as its id instead of the current time, because the audit logs of
-- several shards are merged by id.

local store = redis

-- An audit log entry starts with the field 'at', in Unix ms.
local function add(key, given, at, instant, ...)
  local last = store.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  -- Opt-outs have sequence numbers of their own.
  local id = instant .. (given == '*' and '-0' or '-1000000')
  if last then
    local ms, sequence = string.match(last[1], '(%d+)%-(%d+)')
    -- Ids must increase: continue the sequence of the last entry, as Redis does when its clock stands
    -- still.
    if tonumber(ms) >= tonumber(instant) then
      id = ms .. '-' .. string.format('%.0f', sequence + 1)
    end
  end
  return store.call('XADD', key, id, at, instant, ...)
end

local redis = setmetatable({
  call = function(name, ...)
    if name == 'XADD' then
      return add(...)
    end
    return store.call(name, ...)
  end,
}, { __index = store })

