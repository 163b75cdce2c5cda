-- Counts and undoes activities of one user, in their order: reads, decides, writes.
--
-- KEYS    1 users (hash)   2 active records of the user (hash)   3 stream of changes   4 index (sorted set: board or
--         span of histories -> last expiry, Unix s)   5 archived boards (set of names)   6 tombstones (hash: SHA-1 of an
--         erased user -> instant, Unix ms)   7 register of targets (hash), see targets.lua
--         8.. histories of the user (hash), then boards (sorted set); the call refers to each by its number
-- ARGV    1 string: schema fingerprint of the caller   2 string: user
--         3 JSON: the call; instants in Unix ms, lifetimes in s, points in smallest steps; false, 0 and '' are left out
--         now, today (UTC day), instant (text; now, or the original one in a rebuild)
--         definitions (number of those of events), journal and content (readers of the stream)
--         refused (the journal has what does not count, too)
--         accounts (of the user, as users.lua stores them)
--         lifetimes (JSON: of KEYS from 8 on; 0 for unlimited), record_lifetime
--         ranked (first and last board of the standings to return), undone (histories that may have undo records, the
--         newest first)
--         places  boards, all (that of all time), history, day (digit), bit (2 ^ day), date, kinds, groups
--         items   account (number of its sender), field, mark (its deduplication record), action (code), name (of the action), at, place (number), points,
--                 cooldown (ms), dated, queued, events (board, points, board, ...)
--           count   record (text) or daily and old (the daily record may have expired); cap; pair_cap, and with several
--                   shards, for it and for exclusions, receiver (user; else the call finds them); last (field of the cooldown); own (the user is the target); gives (';2wa;17;1', or ';2wa;' and then `target` (member)
--                   with registers (an earlier call registers it), own_counts and
--                   alone (its author receives nothing); registered (it counts for a registered target alone); or `followed` (user) and known
--                   (boards)); on (';post-8' ends the record)
--           undo    undo, reason, and the guess `where` of its record, or the record that was `seen`
-- Returns { schema fingerprint, outcomes, standings or nil, watched boards (see watch.lua) or nil }
--         outcome  { 'counted', points, those of all time or nil }, { 'undone', points }, { 'failed', error of the
--                  store, 1 or, if boards may be wrong until a rebuild, nil }, or a text: 'duplicate', 'stale',
--                  'nothing-to-undo', 'daily-cap', 'pair-cap', 'cooldown', 'own-target', 'unregistered', 'score-overflow', 'frozen'
--         { schema fingerprint, 'records', { { number, active record }, ... } } for undos of records with another place
--         { schema fingerprint, 'definitions', text } if the stored definitions have another number
--         { schema fingerprint, 'accounts', text } if the user has other accounts, or is one
--         { schema fingerprint, 'again' } if a target is not registered: the script of the earlier call was unknown
--         { stored fingerprint } if it differs. After each of these five nothing was changed.
-- Example EVALSHA sha 9 {ar:0}p {ar:0}1m:42 {ar:0}o {ar:0}1i {ar:0}a {ar:0}e {ar:0}1t {ar:0}1h:670:42 {ar:0}1ba:all 'v4 ...' 42
--         '{"now":1795132800000,"today":"20777","instant":"1795132800000","journal":true,"lifetimes":"[5356800,0]",
--         "record_lifetime":34646400,"ranked":[1,0],"undone":[8],"places":[{"boards":[9],"all":9,"history":8,"day":"7",
--         "bit":128,"date":"2026-11-20","kinds":"a","groups":""}],"items":[{"field":"Lpost-7","mark":"like:post-7",
--         "action":"L","name":"like","at":1795132800000,"place":1,"points":2,"record":"2501795132800000"}]}'

-- The most fields of a history beside which an undo that finds nothing is remembered: anybody may send one.
local MAX_FIELDS = 2000
local items, places, outcomes, writers = call.items, call.places, {}, nil

-- Notes who receives for an item, if that is limited: with a cap, ';2wa;' becomes ';2wa>0a4d55a8d778;', with a hash of the
-- receiver. Finds whether an exclusion of the user is about them.
local function note_receiver(item, receiver, flags)
  if item.gives and (item.pair_cap or match(accounts, '/')) and (receiver or '') ~= '' then
    local member = match(accounts_of(flags or run('HGET', KEYS[1], FLAGS .. receiver)), '^>%d+ (.+)$') or receiver
    local digest = sub(redis.sha1hex(member), 1, 12)
    if item.pair_cap then
      item.gives = string.gsub(item.gives, '^(;%d+%a+);', '%1>' .. digest .. ';')
    end
    for from, till in string.gmatch(accounts, ' ' .. digest .. '/(%d+)/(%d*)') do
      item.excluded = item.excluded or item.at >= tonumber(from) and item.at < (tonumber(till) or math.huge)
    end
  end
end

-- Returns what others receive for an item, as the end of its record: ';2wa;17;1', or '' for nothing. Returns nil if the
-- user is the author of the target.
local function find_received(item)
  local numbers = item.gives and ''
  note_receiver(item, item.receiver, '')
  if item.target then
    local number, _, authorship, author = match(get(hash(7), item.target) or '', REGISTRATION)
    note_receiver(item, author)
    local own_ids = '=' .. user .. ' ' .. accounts .. ' '
    if not item.own_counts and string.find(own_ids, '=' .. (author or '') .. ' ', 1, true) then
      return
    end
    numbers = numbers and number and number .. ';' .. (author ~= '' and not item.alone and authorship or '')
  elseif item.followed then
    -- An id without a profile and without points ranks nowhere, unless it is an account of a member.
    local profile, other = unpack(run('HMGET', KEYS[1], item.followed, FLAGS .. item.followed))
    numbers = (profile or match(accounts_of(other), '^>')) and ';'
    note_receiver(item, item.followed, other or '')
    for _, number in ipairs(item.known) do
      numbers = numbers or run('ZSCORE', KEYS[number], item.followed) and ';'
    end
  end
  return numbers and item.gives .. numbers .. (item.on or '') or ''
end

-- Returns the field of a history with what an action has given one receiver on a day, and its value with an item, or without
-- it (-1); nil if the end of its record does not say who receives.
local function read_pair(item, place, received, times)
  local points, receiver = match(received, '^;(%d+)%a+>(%x+)')
  local pair = points and '>' .. place.day .. item.action .. receiver
  return pair, pair and (get(hash(place.history), pair) or 0) + times * points
end

local function count(item, place)
  local field, records, record, bits = item.field, hash(RECORDS)
  local received = not item.own and find_received(item)
  if not received then
    return 'own-target'
  elseif item.daily then
    bits = tonumber(get(hash(place.history), field) or 0)
    if floor(bits / place.bit) % 2 == 1 then
      return 'duplicate'
    elseif item.old then
      return 'stale'
    end
  else
    local text = get(records, field)
    record = text and parse_record(text)
    if item.dated and item.at < last_change(item, record) then
      return 'stale'
    elseif record and item.at > record.last then
      -- An older undo that was queued until now does not undo the activity.
      set(records, field, (string.gsub(text, '^([^:,;]+)[^,;]*', '%1:' .. digits(item.at))))
    end
    if record then
      return 'duplicate'
    end
  end
  if item.registered and received == '' then
    return 'unregistered'
  end
  local last = item.cooldown and tonumber(get(records, item.last) or -math.huge)
  if last and math.abs(item.at - last) < item.cooldown then
    return 'cooldown'
  end
  local times, earned = read_total(place, item.action)
  if item.cap and earned + item.points > item.cap then
    return 'daily-cap'
  end
  local pair, given = read_pair(item, place, received, 1)
  if item.excluded or item.pair_cap and pair and given > item.pair_cap then
    return 'pair-cap'
  end
  local boards, overflows = item_boards(item, place, 1, item.points)
  if overflows then
    return 'score-overflow'
  end

  -- Every check has passed; changes begin.
  if bits then
    set(hash(place.history), field, digits(bits + place.bit))
  else
    set_record(item, item.record .. received)
    writers[field] = item
  end
  if last then
    set(records, item.last, digits(max(item.at, last)))
  end
  set_total(place, item.action, times + 1, earned + item.points)
  if pair then
    set(hash(place.history), pair, digits(given))
  end
  has_counted = true
  append('count', item, place, received, add_all(boards, #place.boards))
  return { 'counted', item.points, place.all and board_at(place.all).points }
end

local function undo(item, place)
  local text = get(hash(RECORDS), item.field)
  local record = text and parse_record(text)
  local changed = last_change(item, record)
  if item.dated and item.at < changed or item.queued and record and item.at < record.last then
    return 'stale'
  elseif not record and changed == -math.huge and run('HLEN', hash(call.undone[1]).key) >= MAX_FIELDS then
    return 'nothing-to-undo'
  end
  set_record(item, false, max(changed, item.at))
  if not record then
    append('undo', item, place, '', '', '', 'counted', '', 'gave', '')
    return 'nothing-to-undo'
  end
  local source, points = writers[item.field] or item, tonumber(record.amounts)
  place = places[source.place]
  remove_total(place, item.action, points)
  local pair, given = read_pair(item, place, record.received, -1)
  if pair then
    set(hash(place.history), pair, given > 0 and digits(given))
  end
  local applied, skipped = add_all(item_boards(source, place, -1, points), #place.boards)
  append('undo', item, place, record.received, applied, skipped, 'counted', digits(record.at), 'gave', record.amounts)
  return { 'undone', -points }
end

-- Forgets what was read and changed, and names the fields that the items read: one command for each key reads them.
local function want(first, last)
  entries, added, written, has_counted, writers = { unpack({}, 1, 16) }, {}, {}, false, {}
  for i = first, last do
    local item = items[i]
    local place = places[item.place]
    hash(item.daily and place.history or RECORDS, item.field)
    hash(RECORDS, item.last)
    for n = 1, item.dated and #call.undone or 1 do
      hash(call.undone[n], '-' .. item.field)
    end
    hash(place.history, place.day .. item.action)
    if item.undo then
      hash(place.history, place.day .. 'A')
    elseif item.target then
      hash(7, item.target)
    end
  end
end

local function decide(first, last)
  for i = first, last do
    local item = items[i]
    if match(flags or '', '^%a*f') then
      outcomes[i] = 'frozen'
    elseif item.dated and item.at <= tonumber(get(hash(6), redis.sha1hex(user)) or -math.huge) then
      outcomes[i] = 'stale'
    else
      outcomes[i] = (item.undo and undo or count)(item, places[item.place])
    end
    local outcome = outcomes[i]
    -- The journal has neither 'nothing-to-undo' nor 'unregistered': anybody could fill it.
    if call.refused and type(outcome) == 'string' and not match(outcome, '^[nu]') then
      if item.pair_cap and item.gives and not match(item.gives, '>') then
        find_received(item)
      end
      append('refused', item, places[item.place], '', '', '', 'outcome', outcome, 'undo', item.undo and '1' or '',
        'gives', sub((item.gives or '') .. (item.followed and ';' or ''), 2), 'on', sub(item.on or '', 2))
    end
  end
  write_all()
end

want(1, #items)
local unknown = {}
for i, item in ipairs(items) do
  if item.registers and not get(hash(7), item.target) then
    return { ARGV[1], 'again' }
  end
  local readable, text = pcall(unknown_record, item)
  if readable and text then
    unknown[#unknown + 1] = { i, text }
  end
end
if #unknown > 0 then
  return { ARGV[1], 'records', unknown }
end
-- The boards of the standings are read before the first write.
for number = call.ranked[1], call.ranked[2] do
  board_at(number)
end
local failure = attempt(decide, 1, #items)
for i = 1, failure and #items or 0 do
  outcomes[i] = failure
  -- The other items count if one cannot be written.
  if #items > 1 and failure[3] then
    want(i, i)
    outcomes[i] = attempt(decide, i, i) or outcomes[i]
  end
end
return { ARGV[1], outcomes, not failure and read_standings(), watched }
