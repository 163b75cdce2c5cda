-- Decides who receives points for an operation of count.lua, and applies what they receive. Follows
-- count_write.lua.
--
-- With one shard everybody is on it, and receives in the step of the operation. With several, the step appends
-- deliveries to a stream of its shard, which the Worker hands on to the shards of the receivers. A delivery has
-- these fields; count.lua lists them among its arguments:
--   do       'receive' points; 'list' a target of an author, or no longer; 'disown' a target: its author has been
--            erased
--   now      instant of the step, Unix ms
--   to       't' and the member of a target, or 'u' and a user
--   points   signed;  periods  letters;  date  of the boards
--   number, authorship   of the target's registration when the activity was counted
--   author   with whom the target is registered, if it is unknown, or who is erased
--   listed   in the author's list: the target, or a stub
--   instant  in the list, or '' for a target that leaves it
--   at       instant of the active record
--   action   of the activity
--   cause    the delivery that caused it: its shard and id; or '' for an activity
--   log      participant: while its undo log exists, the delivery is not complete; or ''
--
-- Stub: the field '#number member' of the register, 'number;authorship;author'. Either the registration with that
-- number was deleted and its author keeps the points, or, with another number, the target had been registered
-- at the same time with that one.

-- Precedes a shard in a field of the hash of users: the id of the last delivery from there.
local POSITION = WATCHED

-- Returns the boards of a target and then those of its author.
local function joined(target_boards, author_boards)
  local all = { unpack(target_boards) }
  for _, board in ipairs(author_boards) do
    all[#all + 1] = board
  end
  return all
end

-- Appends a delivery to the stream. `one` is the participant whose change it belongs to.
local function send(one, verb, to, delivery)
  delivery.log = one.field
  -- Several deliveries of an instant may have the same receiver.
  local field = delivery.cause and 'cause' or 'to'
  append(deliveries, one, field, delivery.cause or to, delivery_fields(verb, ARGV[2], to, delivery))
end

local function new_number()
  local count = digits((tonumber(get(register, REGISTRATIONS)) or 0) + 1)
  set(register, REGISTRATIONS, count)
  return shard and shard .. '.' .. count or count
end

-- Writes a registration, and the entry of the journal. `erased` is the author whom an erasure takes off the target.
local function set_registration(target, registered, erased)
  local parts = { registered.number, registered.instant, registered.authorship, registered.author, registered.json }
  protect(target)
  set(register, target.id, table.concat(parts, ';'))
  append(outbox, target, 'target', target.id, 'did', 'target', 'now', ARGV[2], 'user', registered.author,
    'target', target.id, 'number', registered.number, 'instant', registered.instant,
    'authorship', registered.authorship, 'json', registered.json, 'erased', erased or '')
end

-- Writes a stub of a target, or deletes it if `stub` is false, and the entry of the journal.
local function set_stub(target, name, stub, erased)
  protect(target)
  set(register, name, stub)
  append(outbox, target, 'name', name, 'did', 'stub', 'now', ARGV[2], 'target', target.id, 'name', name,
    'stub', stub or '', 'erased', erased or '')
end

-- Adds an author to the registration of a target, or to a new one of an instant. Returns the registration.
local function with_author(registered, author, at)
  registered = registered or { instant = digits(math.max(0, at)), authorship = '0', json = '{}' }
  registered.author, registered.is_changed = author, true
  registered.authorship = digits(tonumber(registered.authorship) + 1)
  return registered
end

-- Returns who receives points under a number and an authorship of a target's registration: the target, its author,
-- and the name of the target in the author's list; nil for none.
local function receivers_of(target, number, authorship)
  local registered = read_target(target)
  if registered and registered.number == number then
    local has_author = registered.authorship == authorship and registered.author ~= ''
    return target, has_author and registered.author or nil, target.id
  end
  local name = '#' .. number .. ' ' .. target.id
  local other, stub_authorship, author = string.match(get(register, name) or '', '^([%d.]*);(%d+);(.*)$')
  if other and other ~= '' then
    return receivers_of(target, other, authorship ~= '' and stub_authorship or '')
  end
  return nil, other and stub_authorship == authorship and author ~= '' and author or nil, name
end

-- Reads the boards on which a target and an author have points of some periods.
local function read_received_boards(targets, letters, target, author)
  local target_boards = target and received_boards(targets, letters, true) or {}
  local author_boards = author and received_boards(targets, letters, false) or {}
  if target then
    read_boards(target_boards, target)
  end
  if author then
    read_boards(author_boards, author)
  end
  return target_boards, author_boards
end

-- Adds points to what a participant has received, or takes them back as far as they are still there: an expired
-- board is not written again.
local function change_received(some, one, points)
  if points > 0 then
    add_points(some, one, { points })
  end
  for _, board in ipairs(points < 0 and some or {}) do
    local former = points_on(board, one)
    if not board.new and former > 0 then
      protect(one)
      set_points(board, one, math.max(0, former + points))
    end
  end
end

-- Changes what a target and an author have received on boards that have been read: { points, periods, date, action,
-- at: the instant of the active record, and listed: the target in the author's list, if the target itself is not
-- known or on another shard }.
local function apply_receipt(receipt, target, target_boards, author, author_boards)
  local skipped = skipped_boards(joined(target_boards, author_boards))
  change_received(target_boards, target, receipt.points)
  change_received(author_boards, author, receipt.points)
  local one = target or author
  append(outbox, one, target and 'target' or 'user', one.id, 'did', 'receive', 'now', ARGV[2],
    'user', author and author.id or '', 'target', target and target.id or '', 'points', digits(receipt.points),
    'kinds', receipt.periods, 'date', receipt.date, 'skipped', skipped, 'listed', receipt.listed or '',
    'action', receipt.action, 'changed', digits(receipt.at))
end

-- Returns who may receive points for an operation: { target, author, number, authorship, registered }, each nil
-- for none. `registered` is a registration that changes if the operation counts.
local function find_receipt(operation)
  local receiver, author = operation.receiver, operation.author
  if not receiver then
    return {}
  elseif shard then
    return { number = operation.claim.number, authorship = operation.claim.authorship }
  elseif not receiver.is_target then
    -- An id that no user has ranks nowhere.
    local targets = operation.targets
    local user_board = boards_of(targets, string.sub(targets.periods, -1), {})[1]
    local author_board = received_boards(targets, string.sub(targets.content, -1), false)[1]
    read_boards({ user_board, author_board }, receiver)
    local is_known = points_on(user_board, receiver) + points_on(author_board, receiver) > 0
      or redis.call('HEXISTS', KEYS[1], receiver.id) == 1
    return is_known and { author = receiver, number = '', authorship = '' } or {}
  end
  local registered = read_target(receiver)
  local has_author = registered and registered.author ~= ''
  if author and not has_author and not (operation.dated and operation.at <= erased_at(author)) then
    registered = with_author(registered, author.id, operation.at)
  end
  if not registered then
    return {}
  end
  local id = registered.author
  return {
    target = receiver, author = id ~= '' and participant_of[id] or nil, registered = registered,
    number = registered.number, authorship = id ~= '' and registered.authorship or '',
  }
end

-- Returns the end of an active record: what others received.
local function format_received(operation, receipt)
  local points = digits(operation.rule.received) .. operation.targets.content
  return ';' .. table.concat({ points, receipt.number, receipt.authorship, operation.on }, ';')
end

-- Sends what others receive to their shards. Returns the end of the active record.
local function send_receipt(operation, receipt, at)
  local rule, receiver, author = operation.rule, operation.receiver, operation.author
  if not receiver or author == nil and (rule.received == 0 or receiver.is_target and receipt.number == '') then
    return ''
  end
  if author and receipt.number == '' then
    receipt.number = new_number()
  end
  send(operation.day.user, 'receive', (receiver.is_target and 't' or 'u') .. receiver.id, {
    points = rule.received, periods = operation.targets.content, date = operation.targets.date,
    number = receipt.number, authorship = receipt.authorship, author = author and author.id, at = at,
    action = rule.action,
  })
  return rule.received > 0 and format_received(operation, receipt) or ''
end

-- Returns a function that makes the changes of others for an operation that counts at an instant, and returns the end
-- of its active record. What it needs has been read.
local function prepare_receipt(operation, receipt)
  local rule, targets, target = operation.rule, operation.targets, receipt.target
  if operation.received then
    return function()
      return operation.received ~= '' and ';' .. operation.received or ''
    end
  elseif shard then
    if operation.author then
      get(register, REGISTRATIONS)
    end
    return function(at)
      return send_receipt(operation, receipt, at)
    end
  end
  if receipt.author and operation.dated and operation.at <= erased_at(receipt.author) then
    receipt.author, receipt.authorship = nil, ''
  end
  local target_boards, author_boards = {}, {}
  if rule.received > 0 then
    target_boards, author_boards = read_received_boards(targets, targets.content, target, receipt.author)
  end
  return function(at)
    local registered = receipt.registered
    if registered and registered.is_changed then
      registered.number = registered.number or new_number()
      receipt.number = registered.number
      set_registration(target, registered)
      changes.listed[#changes.listed + 1] =
        { key = operation.list, one = target, name = target.id, instant = registered.instant, former = '' }
    end
    if #target_boards + #author_boards == 0 then
      return ''
    end
    local change = {
      points = rule.received, periods = targets.content, date = targets.date, action = rule.action, at = at,
    }
    apply_receipt(change, target, target_boards, receipt.author, author_boards)
    return format_received(operation, receipt)
  end
end

-- Returns who received points for the activity of a record: the target, or nil, the author, or nil, and the target
-- in the author's list.
local function receivers_of_record(operation, record)
  local received, action = record.received, operation.rule.action
  if received.number == '' then
    local user = received.on or target_of(operation.record, action, false)
    return nil, participant(user, user)
  end
  local target = target_at(received.on or target_of(operation.record, action, true))
  local found, author, listed = receivers_of(target, received.number, received.authorship)
  return found, author and participant(author, author), listed
end

-- Returns a function that takes back what others received for the activity of a record, as far as they still
-- have it. What it needs has been read.
local function prepare_return(operation, record, targets)
  local received = record.received
  local change = {
    points = -received.points, periods = received.periods, date = targets.date, action = operation.rule.action,
    at = record.changed,
  }
  if operation.received then
    return function() end
  elseif shard then
    local is_target = received.number ~= ''
    local id = received.on or target_of(operation.record, operation.rule.action, is_target)
    change.number, change.authorship = received.number, received.authorship
    return function()
      send(operation.day.user, 'receive', (is_target and 't' or 'u') .. id, change)
    end
  end
  local target, author, listed = receivers_of_record(operation, record)
  change.listed = not target and listed
  -- An author who has been erased has lost what they received.
  if author and not target and record.changed <= erased_at(author) then
    author = nil
  end
  local target_boards, author_boards = read_received_boards(targets, received.periods, target, author)
  return function()
    if #target_boards + #author_boards > 0 then
      apply_receipt(change, target, target_boards, author, author_boards)
    end
  end
end

-- Registers the target of a delivery with an author.
local function register_delivered(delivery)
  local target, registered = delivery.one, read_target(delivery.one)
  if not registered or registered.author == '' then
    local is_known = registered ~= nil
    registered = with_author(registered, delivery.author, tonumber(delivery.at))
    registered.number = is_known and registered.number or delivery.number
    set_registration(target, registered)
    local list = { listed = target.id, instant = registered.instant, at = delivery.at, cause = delivery.cause }
    send(target, 'list', 'u' .. delivery.author, list)
  end
  if registered.number ~= delivery.number then
    local stub = registered.number .. ';' .. registered.authorship .. ';'
    set_stub(target, '#' .. delivery.number .. ' ' .. target.id, stub)
  end
end

-- Adds points to boards of content for a target, and sends them to its author.
local function deliver_to_target(delivery)
  local target = delivery.one
  local target_boards = read_received_boards(delivery.targets, delivery.periods, target)
  if delivery.author ~= '' then
    register_delivered(delivery)
  end
  local found, author, listed = receivers_of(target, delivery.number, delivery.authorship)
  local change = {
    points = delivery.points, periods = delivery.periods, date = delivery.targets.date, action = delivery.action,
    at = delivery.at,
  }
  if delivery.points == 0 then
    return
  elseif found then
    apply_receipt(change, target, target_boards, nil, {})
  end
  if author then
    change.listed, change.cause = listed, delivery.cause
    send(target, 'receive', 'u' .. author, change)
  end
end

local lists = {}

-- Returns what a list of an author has of a target or of a stub: its instant there and its former one, '' for none.
local function read_listed(list, listed)
  local name = list .. ' ' .. listed
  if not lists[name] then
    local instant = redis.call('ZSCORE', list, listed) or ''
    lists[name] = { instant = instant, former = instant }
  end
  return lists[name]
end

-- Adds points to boards of authors. An author who has been erased has no list, and a user who has been erased
-- does not receive what happened before.
local function deliver_to_user(delivery)
  local user = delivery.one
  local is_listed = delivery.listed == '' or read_listed(delivery.list, delivery.listed).instant ~= ''
  if is_listed and delivery.at > erased_at(user) then
    local _, author_boards = read_received_boards(delivery.targets, delivery.periods, nil, user)
    local change = {
      points = delivery.points, periods = delivery.periods, date = delivery.targets.date, listed = delivery.listed,
      action = delivery.action, at = delivery.at,
    }
    apply_receipt(change, nil, {}, user, author_boards)
  end
end

-- Changes the list of an author, or takes an author who has been erased off the target: the target was registered
-- before, or the list has lost the target whose stub it gains.
local function deliver_list(delivery)
  local user, listed, instant = delivery.one, delivery.listed, delivery.instant
  local member = string.match(listed, '^#[%d.]+ (.*)$')
  local is_erased = not member and delivery.at <= erased_at(user)
    or member and read_listed(delivery.list, member).instant == ''
  if instant ~= '' and is_erased then
    local disowned = { author = user.id, listed = listed, at = delivery.at, cause = delivery.cause }
    return send(user, 'disown', 't' .. (member or listed), disowned)
  end
  local known = read_listed(delivery.list, listed)
  if known.instant == instant then
    return
  end
  known.instant = instant
  protect(user)
  changes.listed[#changes.listed + 1] =
    { key = delivery.list, one = user, name = listed, instant = instant, former = known.former }
  append(outbox, user, 'listed', listed, 'did', 'list', 'now', ARGV[2], 'user', user.id, 'listed', listed,
    'instant', instant)
end

local function deliver_disown(delivery)
  local target, listed = delivery.one, delivery.listed
  local registered = listed == target.id and read_target(target)
  if registered and registered.author == delivery.author then
    registered.author = ''
    set_registration(target, registered, delivery.author)
  elseif listed ~= target.id then
    set_stub(target, listed, false, delivery.author)
  end
end

-- Changes boards as an entry of the journal says.
local function deliver_entry(delivery)
  local one, targets = delivery.one, delivery.targets
  local target_boards, author_boards = read_received_boards(targets, delivery.periods, one.is_target and one,
    not one.is_target and one)
  change_received(target_boards, one, delivery.points)
  change_received(author_boards, one, delivery.points)
end

local deliver = {
  add = deliver_entry, list = deliver_list, disown = deliver_disown,
  receive = function(delivery)
    local deliver_to = delivery.one.is_target and deliver_to_target or deliver_to_user
    deliver_to(delivery)
  end,
}

-- Returns whether an id of a stream is after another one.
local function is_after(id, other)
  local ms, sequence = string.match(id, '^(%d+)%-(%d+)$')
  local other_ms, other_sequence = string.match(other, '^(%d+)%-(%d+)$')
  ms, other_ms = tonumber(ms), tonumber(other_ms)
  return ms > other_ms or ms == other_ms and tonumber(sequence) > tonumber(other_sequence)
end

-- Decides deliveries of one shard that have not been applied yet, in their order. Returns an outcome for each one that
-- cannot be applied because a value is damaged.
local function decide_deliveries()
  local failed, last = {}, nil
  for _, delivery in ipairs(delivered) do
    local is_entry = delivery.from == ''
    local field = POSITION .. delivery.from
    if not is_entry and field ~= position_field then
      position_field, last = field, redis.call('HGET', KEYS[1], field) or '0-0'
    end
    if is_entry or is_after(delivery.id, last) then
      local ok, failure = pcall(deliver[delivery.verb], delivery)
      if not ok then
        failed[#failed + 1] = { 'failed', 0, error_text(failure) }
      end
      if not is_entry then
        last, position = delivery.id, delivery.id
      end
    end
  end
  return failed
end
