-- Hides users from boards, or brings them back. Follows audit.lua in scripts that do.
--
-- A score of who is hidden is kept on its board below zero, under the order counter '#', where no
-- rank or page reaches it. Brought back it is the same number: nothing is lost, no tie turned.

-- The boards of the index, if KEYS from `first` on lack one of them.
local function missing_boards(index, first)
  local given, boards, missing = {}, {}, false
  for i = first, #KEYS do
    given[KEYS[i]] = true
  end
  for _, name in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    -- Spans of histories are there too, by number.
    if string.sub(name, 1, 1) == '{' then
      table.insert(boards, name)
      missing = missing or not given[name]
    end
  end
  return missing and boards
end

-- What has to be turned so that users are seen or not: { [user] = hidden }. Changes nothing.
local function turns_of(hidden, first)
  local turns = {}
  for user, hide in pairs(hidden) do
    for i = first, #KEYS do
      local score = tonumber(redis.call('ZSCORE', KEYS[i], user) or 0)
      if score ~= 0 and (score < 0) ~= hide then
        table.insert(turns, { KEYS[i], digits(-score), user })
      end
    end
  end
  return turns
end

local function turn(turns)
  for _, one in ipairs(turns) do
    redis.call('ZADD', unpack(one))
  end
end

