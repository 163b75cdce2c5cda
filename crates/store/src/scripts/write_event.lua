-- Writes an event and the definitions of a shard. Follows definitions.lua; `events` is the key of the events, or nil.

local stored_fingerprint, former = unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, DEFINITIONS))
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end

-- Writes an event and adds an entry to the outbox: `recount` is '1' if the definition holds for all entries before.
-- Then calls a function. If the store refuses one of the writes, those before it are undone.
local function write_event(outbox, events, event, json, definitions, recount, after)
  local former_json = events and redis.call('HGET', events, event)
  local id
  local written, failure = pcall(function()
    id = write_outbox(outbox, 'event', 'now', ARGV[2], 'event', event, 'json', json, 'definitions', definitions,
      'recount', recount)
    if not stored_fingerprint then
      redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
    end
    redis.call('HSET', KEYS[1], DEFINITIONS, definitions)
    if events then
      set_field(events, event, json ~= '' and json)
    end
    after()
  end)
  if written then
    return
  end
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
