-- Reads whom a user follows: the active records of the action `follow`, see record.rs. Follows bytes.lua.

-- The letter of the action in fields, from build.rs.
local FOLLOW = 'F'
local MAX_FOLLOWS = 100
-- A script blocks the store. Of a user with more follows, or with more records than the steps reach, the rest is unknown.
local MAX_READ = 1000
local STEP, MAX_STEPS = 1000, 20

local function is_user(id)
  return #id <= 64 and string.find(id, '^[A-Za-z0-9_.:@|-]+$') and id ~= '.' and id ~= '..'
end

-- Returns the users followed latest, the latest first, among the first ones that the store returns. Targets that are no ids of users are left out, and so is
-- the user.
local function read_follows(records, user)
  local instants, followed, cursor, steps = {}, {}, '0', 0
  repeat
    local page = redis.call('HSCAN', records, cursor, 'MATCH', FOLLOW .. '*', 'COUNT', STEP)
    cursor, steps = page[1], steps + 1
    for i = 1, #page[2], 2 do
      local id, record = string.sub(page[2][i], 2), page[2][i + 1]
      -- A scan may return a field twice.
      if is_user(id) and id ~= user and not instants[id] then
        local head = string.match(record, '^[^:,;]*')
        instants[id] = tonumber(string.match(head, '^(%S+) ') or string.sub(head, -13)) or 0
        followed[#followed + 1] = id
      end
    end
  until cursor == '0' or #followed >= MAX_READ or steps >= MAX_STEPS
  table.sort(followed, function(a, b)
    if instants[a] ~= instants[b] then
      return instants[a] > instants[b]
    end
    return is_greater(b, a)
  end)
  return { unpack(followed, 1, math.min(#followed, MAX_FOLLOWS)) }
end
