-- Precedes the service's scripts in a rebuild: what they add to the audit list gets the instant at which
-- it was first done as its id, and not that of now. Lists of several shards are read by their ids.

local store = redis

-- An entry begins: 'at', Unix ms.
local function add(key, _, at, instant, ...)
  local last = store.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local id = instant .. '-0'
  if last then
    local ms, number = string.match(last[1], '(%d+)%-(%d+)')
    -- As the store does it when its clock stands still.
    if tonumber(ms) >= tonumber(instant) then
      id = ms .. '-' .. string.format('%.0f', number + 1)
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

