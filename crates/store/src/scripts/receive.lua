-- Gives targets and authors what they receive for activities: applies entries of the stream of changes of a shard.
--
-- KEYS    1 users (hash)   2 register (hash)   3 changes of this shard (stream)   4 index (sorted set)
--         5 archived boards (set of names)   6 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
--         7.. boards of content and of authors, lists of targets of authors (sorted set)
-- ARGV    1 string: schema fingerprint of the caller   2 the call, JSON; `content`, `authors` and `list` are numbers of
--         KEYS:
--         from, last  shard of the stream, and the id of the last entry that the caller has read
--         now         Unix ms
--         journal     true if changes go to the journal
--         lifetimes   of the boards from KEYS[7] on, s; 0 for none
--         items       in the order of the stream, each with the id of its entry:
--                     points: target (member), number and authorship of its registration, or user; points, negative
--                     to take them back; content, authors { boards }; periods ('wa'), date, action; at, the instant
--                     of the activity; dated, if it may have been before an erasure; and to give the author of a
--                     target on this shard, list and listed (the target in it); counter, the board that counts the
--                     activities of a target with the action, and counts, 1 or -1
--                     names: true if the author of the target, or the member of whom the author is an account, may be on
--                     another shard: the entry names them
--                     plain: true for an entry of the journal that is replayed
--                     list of an author: list, listed, user; instant in it, '' for a target that leaves it; at
--                     erased author: disowned (target), user
-- Returns { schema fingerprint, errors, watched boards }: the errors are of items that damaged values prevent, the names
--         are of boards that changed and are watched (watch.lua), between spaces
--         { fingerprint, 'failed', error, restored }: the store refused a write; 0 if it refused to restore the former
--         values too
--         { stored fingerprint } if it differs from ARGV[1]. All but the first have changed nothing.
-- State   An entry is applied once: the position, the id of the last one from a shard, is stored here. An author who
--         has been erased has no list, and a user does not receive what happened before their erasure. A target or an
--         author loses as much as is left. Each change is an entry of the stream: `receive`, `list` or `target` for the
--         journal; `disown` for the shard of a target whose author has been erased meanwhile.
-- Example EVALSHA sha 10 {ar:0}p {ar:0}1t {ar:0}o {ar:0}1i {ar:0}a {ar:0}e {ar:0}1bTw:2026-W47 {ar:0}1bTa:all
--         {ar:0}1bAw:2026-W47 {ar:0}1bAa:all 'v4 …' '{"from":0,"last":"1795132800000-0","now":1795132800100,
--         "journal":true,"lifetimes":[7862400,0,7862400,0],"items":[{"id":"1795132800000-0","target":"post-7",
--         "number":"17","authorship":"1","points":2,"content":[7,8],"authors":[9,10],…}]}'

local call = cjson.decode(ARGV[2])
local now, items = call.now, call.items
local COUNTER, POSITION = '#', WATCHED .. digits(call.from)
-- Keys before the boards and lists.
local FIRST = 6

-- What the items read. A participant is a user, or a tab and the member of a target.
local registered, hidden, erased, lists, boards, members_of = {}, {}, {}, {}, {}, {}
local fields = { FINGERPRINT, POSITION, WATCHED }

local function want_flags(participant)
  if hidden[participant] == nil then
    hidden[participant] = false
    fields[#fields + 1] = FLAGS .. participant
  end
end

-- Returns number, instant, authorship, author and JSON of the registration of a target; nothing if there is none.
local function read_target(member)
  local text = registered[member]
  if not text then
    return
  end
  local number, instant, authorship, author, json = string.match(text, REGISTRATION)
  if not number then
    error('WRONGTYPE Invalid value in the register', 0)
  end
  return number, instant, authorship, author, json
end

-- Reads registrations, flags and tombstones, each with one command. Returns what users.lua stores of the call.
local function read_all()
  local members, users, hashes = {}, {}, {}
  local function want_user(user, is_dated)
    want_flags(user)
    if is_dated and erased[user] == nil then
      erased[user], users[#users + 1] = false, user
      hashes[#hashes + 1] = redis.sha1hex(user)
    end
  end
  for _, item in ipairs(items) do
    local member = item.target or item.disowned
    if member and not item.plain and registered[member] == nil then
      registered[member], members[#members + 1] = false, member
    end
  end
  if #members > 0 then
    for i, text in ipairs(redis.call('HMGET', KEYS[2], unpack(members))) do
      registered[members[i]] = text
    end
  end
  for _, item in ipairs(items) do
    if item.target then
      want_flags('\t' .. item.target)
      local readable, _, _, _, author = pcall(read_target, item.target)
      if readable and author and author ~= '' and item.authors then
        want_user(author, item.dated)
      end
    end
    if item.user then
      want_user(item.user, not item.plain)
    end
  end
  local values = redis.call('HMGET', KEYS[1], unpack(fields))
  local own = {}
  for i = 4, #fields do
    local participant = string.sub(fields[i], #FLAGS + 1)
    local member = string.match(accounts_of(values[i]), '^>%d+ (.+)$')
    hidden[participant], members_of[participant] = is_hidden(values[i]), member
    if member then
      own[#own + 1] = member
    end
  end
  for _, member in ipairs(own) do
    hidden[member] = is_hidden(redis.call('HGET', KEYS[1], FLAGS .. member))
  end
  if #hashes > 0 then
    for i, instant in ipairs(redis.call('HMGET', KEYS[6], unpack(hashes))) do
      erased[users[i]] = instant
    end
  end
  return values[1], values[2], values[3]
end

local function is_erased(user, at)
  return erased[user] and at <= tonumber(erased[user])
end

-- Returns whether an id of a stream is after another one.
local function is_after(id, other)
  local ms, sequence = string.match(id, '^(%d+)%-(%d+)$')
  local other_ms, other_sequence = string.match(other, '^(%d+)%-(%d+)$')
  ms = tonumber(ms)
  other_ms = tonumber(other_ms)
  return ms > other_ms or ms == other_ms and tonumber(sequence) > tonumber(other_sequence)
end

local fingerprint, position, watched = read_all()
position = position or '0-0'
if fingerprint and fingerprint ~= ARGV[1] then
  return { fingerprint }
end

-- Entries for the stream, lists and registrations that change, and a function for each write, which restores what was
-- there before.
local entries, listed_changes, register_changes, restores = {}, {}, {}, {}

-- Notes an entry. Without a journal only those that receive.lua reads are written.
local function append(is_read, ...)
  if call.journal or is_read then
    entries[#entries + 1] = { ... }
  end
end

-- Returns what a list of an author has of a target: its instant there and its former one, or false.
local function read_listed(list, listed)
  local name = list .. ' ' .. listed
  if not lists[name] then
    local instant = redis.call('ZSCORE', KEYS[list], listed)
    lists[name] = { key = KEYS[list], listed = listed, instant = instant, former = instant }
  end
  return lists[name]
end

local function board_at(number)
  local board = boards[number]
  if not board then
    local key = KEYS[number]
    board = { key = key, name = string.sub(key, #KEYS[4] + 1), lifetime = call.lifetimes[number - FIRST], wanted = { COUNTER }, is_wanted = {} }
    boards[number] = board
  end
  return board
end

-- Names a participant of some boards, so that one command reads all of a board.
local function want_scores(numbers, id)
  for _, number in ipairs(numbers or {}) do
    local board = board_at(number)
    if not board.is_wanted[id] then
      board.is_wanted[id], board.wanted[#board.wanted + 1] = true, id
    end
  end
end

-- Reads the order counter of a board and the scores of its participants.
local function read_board(board)
  local readable, values = pcall(redis.call, 'ZMSCORE', board.key, unpack(board.wanted))
  if not readable then
    board.failure = type(values) == 'table' and values.err or values
    return
  end
  board.exists, board.former_counter = values[1], values[1]
  board.counter = tonumber(values[1] or 0)
  board.scores, board.changed, board.former = {}, {}, {}
  for i = 2, #board.wanted do
    board.scores[board.wanted[i]] = math.abs(tonumber(values[i] or 0))
    board.former[board.wanted[i]] = values[i]
  end
  -- An archived board that has expired no longer changes.
  board.archived = not board.exists and redis.call('SISMEMBER', KEYS[5], board.name) == 1
end

-- Adds points on boards that have been read, or takes back as much as is left.
local function add(numbers, id, participant, points)
  for _, number in ipairs(numbers) do
    local board = boards[number]
    local score = math.max(0, board.scores[id] + points)
    if not board.archived and score ~= board.scores[id] and (points > 0 or board.exists) then
      board.scores[id], board.exists, board.is_changed = score, true, true
      board.counter = next_plain_counter(board.counter)
      if not board.changed[id] then
        board.changed[id], board.changed[#board.changed + 1] = participant, id
      end
    end
  end
end

-- Sets the author who receives: the member of whom an author is an account. With several shards the entry names the
-- member, who may be on another one.
local function set_author(item, author)
  local member = members_of[author]
  if member and item.names then
    item.named = member
  else
    item.author = member or author
  end
end

-- Finds who receives for an item: sets its `gives`, the boards of its target and of its author.
local function find_receivers(item)
  if item.plain then
    item.gives, item.author = item.target, item.user
  elseif item.target then
    local number, _, authorship, author = read_target(item.target)
    if number ~= item.number then
      return
    end
    item.gives = item.target
    if author ~= '' and authorship == item.authorship then
      if item.names then
        item.named = author
      elseif not is_erased(author, item.at) then
        set_author(item, author)
      end
    end
  elseif not is_erased(item.user, item.at) and (not item.list or read_listed(item.list, item.listed).instant) then
    set_author(item, item.user)
  end
  if item.gives then
    want_scores(item.content, item.gives)
    want_scores({ item.counter }, item.gives)
  end
  if item.author then
    want_scores(item.authors, item.author)
  end
end

-- Changes the list of an author, or takes an author who has been erased off the target that was registered before.
local function change_list(item)
  local known, instant = read_listed(item.list, item.listed), item.instant
  if instant == '' then
    instant = false
  elseif is_erased(item.user, item.at) then
    return append(true, 'did', 'disown', 'now', digits(now), 'author', item.user, 'target', item.listed)
  end
  if known.instant ~= instant then
    known.instant = instant
    listed_changes[known] = true
    append(false, 'did', 'list', 'now', digits(now), 'user', item.user, 'listed', item.listed, 'instant', instant or '')
  end
end

-- Takes an erased author off the registration of a target.
local function disown(item)
  local member = item.disowned
  local number, instant, authorship, author, json = read_target(member)
  if author == item.user then
    register_changes[member] = register_changes[member] or registered[member]
    registered[member] = table.concat({ number, instant, authorship, '', json }, ';')
    append(false, 'did', 'target', 'now', digits(now), 'user', '', 'target', member, 'number', number,
      'instant', instant, 'authorship', authorship, 'json', json, 'erased', author, 'at', '')
  end
end

-- Applies an item whose receivers have been found, and notes its entry.
local function receive(item)
  local all, skipped = {}, {}
  local function use(numbers)
    for _, number in ipairs(numbers) do
      local board = boards[number]
      if board.failure then
        error(board.failure, 0)
      end
      all[#all + 1] = number
      if board.archived then
        skipped[#skipped + 1] = #all
      end
    end
  end
  if item.gives then
    use(item.content)
  end
  if item.author then
    use(item.authors)
  end
  local counter = item.gives and item.counter
  use({ counter })
  if item.gives then
    add(item.content, item.gives, '\t' .. item.gives, item.points)
  end
  if item.author then
    add(item.authors, item.author, item.author, item.points)
  end
  if counter then
    add({ counter }, item.gives, '\t' .. item.gives, item.counts)
  end
  append(item.named, 'did', 'receive', 'now', digits(now), 'user', item.author or '', 'target', item.gives or '',
    'points', digits(item.points), 'kinds', item.periods, 'date', item.date, 'skipped', table.concat(skipped, ','),
    'listed', item.listed or '', 'action', item.action, 'changed', digits(item.at), 'author', item.named or '',
    unpack(counter and { 'counts', digits(item.counts) } or {}))
end

-- Writes the counter and the scores of a board, or the former ones.
local function write_board(board, counter, scores)
  local written, removed = {}, {}
  if counter then
    written[1], written[2] = counter, COUNTER
  end
  for _, id in ipairs(board.changed) do
    if scores[id] and scores[id] ~= 0 then
      written[#written + 1], written[#written + 2] = scores[id], id
    else
      removed[#removed + 1] = id
    end
  end
  if not counter then
    removed[#removed + 1] = COUNTER
  end
  if #written > 0 then
    redis.call('ZADD', board.key, unpack(written))
  end
  if #removed > 0 then
    redis.call('ZREM', board.key, unpack(removed))
  end
end

-- Sets the expiries of new boards, and adds them to the index, by which an erasure finds them.
local function write_expiries()
  local names, second = {}, math.floor(now / 1000)
  for _, board in pairs(boards) do
    if board.is_changed and not board.former_counter then
      names[#names + 1], names[#names + 2] = 'inf', board.name
      if board.lifetime > 0 then
        redis.call('EXPIRE', board.key, board.lifetime)
        names[#names - 1] = digits(second + board.lifetime + 86400)
      end
    end
  end
  if #names > 0 then
    redis.call('ZADD', KEYS[4], 'GT', unpack(names))
    redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. digits(second))
  end
end

local function write_listed(known, instant)
  if instant then
    redis.call('ZADD', known.key, instant, known.listed)
  else
    redis.call('ZREM', known.key, known.listed)
  end
end

-- The position is first: a store that refuses a later write, and to restore it, has applied no entry twice.
local function write_all()
  local function write(restore)
    restores[#restores + 1] = restore
  end
  if is_after(call.last, position) then
    redis.call('HSET', KEYS[1], POSITION, call.last, FINGERPRINT, ARGV[1])
    write(function() redis.call('HSET', KEYS[1], POSITION, position) end)
  end
  for _, board in pairs(boards) do
    if board.is_changed then
      local texts = {}
      for _, id in ipairs(board.changed) do
        local sign = hidden[board.changed[id]] and -1 or 1
        texts[id] = board.scores[id] > 0 and digits(sign * board.scores[id])
      end
      -- Two commands: the second one may be refused.
      write(function() write_board(board, board.former_counter, board.former) end)
      write_board(board, counter_text(board.counter), texts)
    end
  end
  for member, former in pairs(register_changes) do
    set_field(KEYS[2], member, registered[member])
    write(function() set_field(KEYS[2], member, former) end)
  end
  for known in pairs(listed_changes) do
    write_listed(known, known.instant)
    write(function() write_listed(known, known.former) end)
  end
  for _, entry in ipairs(entries) do
    local id = redis.call('XADD', KEYS[3], '*', unpack(entry))
    write(function() redis.call('XDEL', KEYS[3], id) end)
  end
  write_expiries()
end

local applied, errors = {}, {}
-- Runs a function on an item. A damaged value prevents that item alone.
local function try(run, item)
  local ok, failure = pcall(run, item)
  if not ok then
    local text = type(failure) == 'table' and failure.err or failure
    if string.find(text, 'attempt to') then
      text = 'WRONGTYPE Invalid value: ' .. text
    end
    errors[#errors + 1] = text
  end
  return ok
end
for _, item in ipairs(items) do
  if is_after(item.id, position) then
    local run = find_receivers
    if item.disowned then
      run = disown
    elseif item.instant then
      run = change_list
    end
    if try(run, item) and (item.gives or item.author or item.named) then
      applied[#applied + 1] = item
    end
  end
end
for _, board in pairs(boards) do
  read_board(board)
end
for _, item in ipairs(applied) do
  try(receive, item)
end
local written, reason = pcall(write_all)
if not written then
  local restored = pcall(function()
    for i = #restores, 1, -1 do
      restores[i]()
    end
  end)
  return { ARGV[1], 'failed', type(reason) == 'table' and reason.err or reason, restored and 1 or 0 }
end

local names = {}
for name, expiry in string.gmatch(watched or '', '(%S+) (%d+)') do
  for _, board in pairs(boards) do
    if board.is_changed and board.name == name and now < tonumber(expiry) * 1000 then
      names[#names + 1] = name
    end
  end
end
return { ARGV[1], errors, table.concat(names, ' ') }
