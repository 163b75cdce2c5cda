-- Registers targets, or changes what boards show of them.
--
-- KEYS    1 users (hash)   2 register (hash)   3 outbox of the journal (stream)
--         4 deliveries to other shards (stream)
--         5.. lists of targets of authors (sorted set: member -> instant of the registration, Unix ms)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write changes to the outbox         4 integer: this shard, if there are several, or ''
--         5.. for each target: string: member; string: author, or '' to keep it; string: what boards show,
--         JSON; integer: number of the key of the author's list, or 0 if it is on another shard
-- Returns { schema fingerprint, registrations }
--         registrations  for each target its registration, or nil if it has another author already: it was
--                        not changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   The field '#' counts the registrations. They do not expire.
-- Example EVALSHA sha 5 {ar:0}p {ar:0}t {ar:0}o {ar:0}x {ar:0}u:9
--         'v3 ...' 1795132800000 0 '' post-7 9 '{"title":"A"}' 5

local register, outbox, shard = KEYS[2], ARGV[3] == '1' and KEYS[3] or nil, ARGV[4]
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
check_outbox(outbox)
if not stored_fingerprint then
  redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
end

-- Returns the key and the id of a new entry of a stream.
local function add(stream, ...)
  return { stream = stream, id = redis.call('XADD', stream, '*', ...) }
end

-- Writes a registration. Its entries of streams precede it; if the store refuses one of the writes, those
-- before it are undone.
local function write_target(member, former, registered, new_author, list)
  local number, instant, authorship, author, json = unpack(registered)
  local added = {}
  local ok, failure = pcall(function()
    if outbox then
      added[1] = add(outbox, 'did', 'target', 'now', ARGV[2], 'user', author, 'target', member, 'number', number,
        'instant', instant, 'authorship', authorship, 'json', json, 'erased', '')
    end
    if new_author and not list then
      local delivery = { listed = member, instant = instant, at = ARGV[2] }
      added[#added + 1] = add(KEYS[4], delivery_fields('list', ARGV[2], 'u' .. author, delivery))
    end
    redis.call('HSET', register, member, table.concat(registered, ';'))
    if list then
      redis.call('ZADD', list, instant, member)
    end
  end)
  if not ok then
    pcall(function()
      for _, entry in ipairs(added) do
        redis.call('XDEL', entry.stream, entry.id)
      end
      if former then
        redis.call('HSET', register, member, former)
      else
        redis.call('HDEL', register, member)
      end
    end)
    error(failure, 0)
  end
end

local registrations = {}
for i = 5, #ARGV, 4 do
  local member, author, json, list = ARGV[i], ARGV[i + 1], ARGV[i + 2], KEYS[tonumber(ARGV[i + 3])]
  local former = redis.call('HGET', register, member)
  local number, instant, authorship, known_author = string.match(former or '', REGISTRATION)
  if not number then
    number = digits(redis.call('HINCRBY', register, '#', 1))
    number, instant = shard ~= '' and shard .. '.' .. number or number, ARGV[2]
    authorship, known_author = '0', ''
  end
  if known_author ~= '' and author ~= '' and author ~= known_author then
    registrations[#registrations + 1] = false
  else
    local new_author = author ~= '' and known_author == ''
    if new_author then
      authorship = digits(tonumber(authorship) + 1)
    end
    local registered = { number, instant, authorship, new_author and author or known_author, json }
    if table.concat(registered, ';') ~= former then
      write_target(member, former, registered, new_author, list)
    end
    registrations[#registrations + 1] = table.concat(registered, ';')
  end
end
return { ARGV[1], registrations }
