-- Registers targets, or changes what boards show of them.
--
-- KEYS    1 users (hash)   2 register (hash)   3 outbox of the journal (stream)
--         4.. lists of targets of authors (sorted set: member -> instant of the registration, Unix ms)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write changes to the outbox
--         4.. for each target: string: member; string: author, or '' to keep it; string: what boards show,
--         JSON; integer: number of the key of the author's list, or 0
-- Returns { schema fingerprint, registrations }
--         registrations  for each target its registration, or nil if it has another author already: it was
--                        not changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   The field '#' is the number of the last registration. Registrations do not expire.
-- Example EVALSHA sha 4 {ar:0}p {ar:0}t {ar:0}o {ar:0}u:9 'v3 ...' 1795132800000 0 post-7 9 '{"title":"A"}' 4

local register, outbox = KEYS[2], ARGV[3] == '1' and KEYS[3] or nil
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
check_outbox(outbox)
if not stored_fingerprint then
  redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
end

-- Writes a registration. The entry of the journal precedes it; if the store refuses one of the writes, those
-- before it are undone.
local function write_target(member, former, parts, list)
  local text, id = table.concat(parts, ';'), nil
  local fields = { member, text }
  if not former then
    fields[3], fields[4] = '#', parts[1]
  end
  local ok, failure = pcall(function()
    id = write_outbox(outbox, 'target', 'now', ARGV[2], 'user', parts[3], 'target', member, 'json', parts[4])
    redis.call('HSET', register, unpack(fields))
    if list then
      redis.call('ZADD', list, parts[2], member)
    end
  end)
  if not ok then
    pcall(function()
      if id then
        redis.call('XDEL', outbox, id)
      end
      if former then
        redis.call('HSET', register, member, former)
      else
        redis.call('HDEL', register, member)
      end
    end)
    error(failure, 0)
  end
  return text
end

local registrations = {}
for i = 4, #ARGV, 4 do
  local member, author, json, list = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])
  local former = redis.call('HGET', register, member)
  local number, instant, known_author = string.match(former or '', REGISTRATION)
  if not number then
    number = digits((tonumber(redis.call('HGET', register, '#')) or 0) + 1)
    instant, known_author = ARGV[2], ''
  end
  if known_author ~= '' and author ~= '' and author ~= known_author then
    registrations[#registrations + 1] = false
  else
    local gains_author = author ~= '' and known_author == ''
    local parts = { number, instant, gains_author and author or known_author, json }
    local text = table.concat(parts, ';')
    if text ~= former then
      write_target(member, former, parts, gains_author and KEYS[list] or nil)
    end
    registrations[#registrations + 1] = text
  end
end
return { ARGV[1], registrations }
