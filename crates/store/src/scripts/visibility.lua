-- Hides users on boards and shows them again. Follows audit.lua in the scripts that do so.
--
-- The score of a hidden user is stored negated: it sorts below the order counter '#' and appears in
-- no rank and no page. Negating it again restores the same score and order.

-- Returns the boards of the index if the KEYS from number `first` on lack one of them, else false.
local function missing_boards(index, first)
  local given, boards, missing = {}, {}, false
  for i = first, #KEYS do
    given[KEYS[i]] = true
  end
  for _, name in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    -- The index also contains the numbers of history spans.
    if string.sub(name, 1, 1) == '{' then
      table.insert(boards, name)
      missing = missing or not given[name]
    end
  end
  return missing and boards
end

-- Returns the scores to write, as arguments of ZADD, so that boards show or hide users:
-- `hidden` maps a user to true or false. Reads only.
local function score_updates(hidden, first)
  local updates = {}
  for user, hide in pairs(hidden) do
    for i = first, #KEYS do
      local score = tonumber(redis.call('ZSCORE', KEYS[i], user) or 0)
      if score ~= 0 and (score < 0) ~= hide then
        table.insert(updates, { KEYS[i], digits(-score), user })
      end
    end
  end
  return updates
end

local function write_scores(updates)
  for _, update in ipairs(updates) do
    redis.call('ZADD', unpack(update))
  end
end

