-- Defines, changes or deletes an event on a shard, or a version of the rules, which has no board.
--
-- KEYS    1 users (hash)   2 outbox of the journal (stream)   3 index   4 board of the event (sorted set)
--         on the first shard only: 5 events (hash: event, or '#' and number of a version -> definition, JSON)
--         6 audit log (stream)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write the change to the outbox
--         4 string: number of the definitions that the caller has read, '' for none; '*' to bring a shard up to
--         date, whose definitions may already be newer
--         5 string: all definitions, see below         6 string: event, or '#3'
--         7 string: its definition, JSON; '' to delete the event with its board
--         8 integer: expiry of its board, Unix s
--         9 string: action of the entry of the audit log about a version; '' for none
--         10 integer: the version of the entry   11 string: reason   12 string: actor, or ''
-- Returns { schema fingerprint, stored definitions or '' }
--         { schema fingerprint } if they have another number than ARGV[4]: nothing was changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   Definitions are a number that grows with each change, then a line for each event that is not final:
--         'hackathon 1795132800000 1795305600000 1795316400000 1827038400 comment=5,publish=20 eu,us': event; first
--         instant, first instant after it, and instant from which it is final, Unix ms; expiry of its board,
--         Unix s; actions that count with their points in smallest steps, and groups; '-' for all. Lines of versions begin
--         with '#', see rules/mod.rs of the core. The entry about a version has no user and holds its reason: no erasure
--         deletes it.
-- Example EVALSHA sha 6 {ar:0}p {ar:0}o {ar:0}1i {ar:0}1bE::hackathon {ar:0}v {ar:0}l
--         'v4 ...' 1795132800000 0 '' '1795132800000\nhackathon 1795...' hackathon '{"title":"..."}' 1827038400 '' '' '' ''

local stored_fingerprint, former = unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, DEFINITIONS))
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end

-- Returns the number of the definitions of events, or '' without any.
local function definitions_number(definitions)
  return string.match(definitions or '', '^%d*')
end

local outbox, number = ARGV[3] == '1' and KEYS[2] or nil, ARGV[4]
local event, json, events = ARGV[6], ARGV[7], KEYS[5]
local known = definitions_number(former)
local is_older = tonumber(definitions_number(ARGV[5])) < tonumber(known ~= '' and known or 0)
if number ~= known and (number ~= '*' or is_older and json ~= '') then
  return { ARGV[1] }
end
local definitions = is_older and former or ARGV[5]
check_outbox(outbox)

-- If the store refuses one of the writes, those before it are undone.
local id
local former_json = events and redis.call('HGET', events, event)
local written, failure = pcall(function()
  id = write_outbox(outbox, 'event', 'now', ARGV[2], 'event', event, 'json', json, 'definitions', definitions, 'recount',
    '', 'reason', ARGV[11], 'actor', ARGV[12])
  if not stored_fingerprint then
    redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
  end
  redis.call('HSET', KEYS[1], DEFINITIONS, definitions)
  if events then
    set_field(events, event, json ~= '' and json)
    if ARGV[9] ~= '' then
      redis.call('XADD', KEYS[6], '*', 'at', ARGV[2], 'subject', '', 'action', ARGV[9], 'version', ARGV[10],
        'reason', ARGV[11], 'actor', ARGV[12])
    end
  end
end)
if not written then
  pcall(function()
    if id then
      redis.call('XDEL', outbox, id)
    end
    set_field(KEYS[1], DEFINITIONS, former)
    if events then
      set_field(events, event, former_json)
    end
  end)
  error(failure, 0)
end

local index, board, expiry = KEYS[3], KEYS[4], ARGV[8]
local name = string.sub(board, #index + 1)
if json == '' then
  redis.call('UNLINK', board)
  redis.call('ZREM', index, name)
elseif redis.call('EXPIREAT', board, expiry) == 1 then
  redis.call('ZADD', index, 'GT', digits(expiry + 86400), name)
end
return { ARGV[1], former or '' }
