-- Takes a call of count.lua apart, which follows this text and says what KEYS and ARGV are.

-- Days that share a key.
local SPAN = 31
-- What stands for actions in fields: src/keys.rs has the same.
local LETTERS = {
  adjust = 'A', bookmark = 'B', comment = 'C', follow = 'F', like = 'L', publish = 'P', visit = 'V',
}

local stamp, index, flags, archived, tombstones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[6]
local held_stamp = redis.call('GET', stamp)
if held_stamp and held_stamp ~= ARGV[1] then
  return { held_stamp }
end

local outbox = ARGV[8] == '1' and KEYS[5] or nil
check_outbox(outbox)
local now = tonumber(ARGV[2])
local span_lifetime = tonumber(ARGV[3])
local marks_lifetime, undo_lifetime = ARGV[4], ARGV[5]
local board_lifetime = {}
for kind, seconds in string.gmatch(ARGV[6], '(%a)(%d+)') do
  board_lifetime[kind] = tonumber(seconds)
end

local cursor = 8
local function take()
  cursor = cursor + 1
  return ARGV[cursor]
end
local function number()
  return tonumber(take())
end
local function list(read)
  local all = {}
  for i = 1, number() do
    all[i] = read()
  end
  return all
end
local function words(text)
  local all = {}
  for word in string.gmatch(text, '[^,]+') do
    table.insert(all, word)
  end
  return all
end

local rules = list(function()
  return { action = take(), once = take(), points = number(), cap = number(), cooldown = number() }
end)
local places_on = {}
local places = list(function()
  local place = { date = take(), day = number(), kinds = take(), groups = words(take()), first = number() }
  places_on[place.day] = places_on[place.day] or {}
  table.insert(places_on[place.day], place)
  return place
end)
local members = list(function()
  local member = { user = take(), marks = KEYS[number()], undone = {}, days = {} }
  local first = number()
  for i = 1, number() do
    member.undone[i] = KEYS[first + i - 1]
  end
  local held = string.match(redis.call('HGET', flags, member.user) or '', '^%a*')
  member.hidden = string.find(held, '[hs]') ~= nil
  member.frozen = string.find(held, 'f') ~= nil
  return member
end)
local days = list(function()
  local member = members[number()]
  local day = { member = member, number = number(), history = KEYS[number()], marks = KEYS[number()] }
  day.of_span = day.number % SPAN
  day.digit = string.sub('0123456789abcdefghijklmnopqrstu', day.of_span + 1, day.of_span + 1)
  member.days[day.number] = day
  return day
end)
local ops = list(function()
  local op = {
    rule = rules[number()], place = places[number()], day = days[number()],
    verb = take(), mark = take(), at = number(),
  }
  local action = op.rule.action
  op.field = LETTERS[action] and LETTERS[action] .. string.sub(op.mark, #action + 2) or op.mark
  local dated = take()
  op.dated, op.held = dated ~= '0', dated == '2'
  return op
end)
local audit = list(function()
  return { flags = flags, entries = KEYS[number()], who = KEYS[number()], now = take(), reason = take() }
end)[1]

