-- The definitions of events, see define.lua. Precedes the scripts that define events and count them again.

-- Returns the items of a text between commas.
local function split(text)
  local items = {}
  if text ~= '' then
    for item in string.gmatch(text, '[^,]+') do
      items[#items + 1] = item
    end
  end
  return items
end

-- Returns the number of the definitions of events, or '' without any.
local function definitions_number(definitions)
  return string.match(definitions or '', '^%d*')
end

-- Returns an event of the words of its definition: what counts in it.
local function counted_event(from, to, actions, groups)
  local event = { from = tonumber(from), to = tonumber(to), groups = groups ~= '-' and split(groups) }
  if actions ~= '-' then
    event.actions = {}
    for action, points in string.gmatch(actions, '([^=,]+)=(%d+)') do
      event.actions[action] = tonumber(points)
    end
  end
  return event
end

-- Returns whether an event counts the activity of one of these groups.
local function counts_group(event, groups)
  for _, group in ipairs(event.groups or {}) do
    for _, other in ipairs(groups) do
      if group == other then
        return true
      end
    end
  end
  return not event.groups
end

-- Returns the points of an activity in an event, or nil if it does not count. `points` are those of its rule.
local function points_in(event, at, action, groups, points)
  local amount = not event.actions and points or event.actions and event.actions[action]
  if amount and event.from <= at and at < event.to and counts_group(event, groups) then
    return amount
  end
end
