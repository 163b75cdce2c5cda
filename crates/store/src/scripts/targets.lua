-- Registers targets, or changes what boards show of them.
--
-- KEYS    1 users (hash)   2 register (hash)   3 changes (stream)
--         4 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
--         5.. lists of targets of authors (sorted set: member -> instant of the registration, Unix ms)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' if changes go to the journal           4 integer: this shard, if there are several, or ''
--         5.. for each target: string: member; string: author who is set where none is, or '' for none;
--         string: what boards show, JSON, or '' to keep it; integer: instant of the registration, Unix ms;
--         integer: number of the key of the author's list, or 0 if it is on another shard, or -1 if it is, and the
--         author was erased after that instant
-- Returns { schema fingerprint, registrations }
--         registrations  for each target its registration, or nil if there is none. Also nil, and not changed, if
--                        the call says what boards show, and it has another author already.
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   The field '#' counts the registrations. They do not expire. With several shards, the reader of the stream
--         adds a target with a new author to the author's list: receive.lua.
-- Example EVALSHA sha 5 {ar:0}p {ar:0}1t {ar:0}o {ar:0}e {ar:0}1u:9
--         'v4 ...' 1795132800000 0 '' post-7 9 '{"title":"A"}' 1795132800000 5

local register, stream, shard = KEYS[2], KEYS[3], ARGV[4]
local has_journal = ARGV[3] == '1'
local stored_fingerprint = redis.call('HGET', KEYS[1], FINGERPRINT)
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
check_outbox(stream)
if not stored_fingerprint then
  redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1])
end

-- Writes a registration. Its entry of the stream precedes it; if the store refuses one of the writes, those
-- before it are undone.
local function write_target(member, former, registered, new_author, list, at)
  local number, instant, authorship, author, json = unpack(registered)
  local id
  local ok, failure = pcall(function()
    local given_at = ''
    if new_author then
      given_at = at
    end
    if has_journal or new_author and not list then
      id = redis.call('XADD', stream, '*', 'did', 'target', 'now', ARGV[2], 'user', author, 'target', member,
        'number', number, 'instant', instant, 'authorship', authorship, 'json', json, 'erased', '', 'at', given_at)
    end
    redis.call('HSET', register, member, table.concat(registered, ';'))
    if new_author and list then
      redis.call('ZADD', list, instant, member)
    end
  end)
  if not ok then
    pcall(function()
      if id then
        redis.call('XDEL', stream, id)
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

-- Returns whether an author was erased after an instant, as far as this shard or the caller knows.
local function is_erased(author, list, at)
  local erased = KEYS[list] and redis.call('HGET', KEYS[4], redis.sha1hex(author))
  return list < 0 or erased and tonumber(at) <= tonumber(erased)
end

-- Returns the registration of a target after the call, or false.
local function register_target(member, author, json, at, list)
  local former = redis.call('HGET', register, member)
  local number, instant, authorship, known_author, known_json = string.match(former or '', REGISTRATION)
  if not number and json == '' and author == '' then
    return false
  elseif json ~= '' and known_author and known_author ~= '' and author ~= '' and author ~= known_author then
    return false
  elseif not number then
    number = digits(redis.call('HINCRBY', register, '#', 1))
    if shard ~= '' then
      number = shard .. '.' .. number
    end
    instant = digits(math.max(0, tonumber(at)))
    authorship, known_author, known_json = '0', '', '{}'
  end
  -- A service may register a target with the instant of an activity.
  local new_author = author ~= '' and known_author == '' and (json ~= '' or not is_erased(author, list, at))
  if new_author then
    authorship = digits(tonumber(authorship) + 1)
    known_author = author
  end
  if json == '' then
    json = known_json
  end
  local registered = { number, instant, authorship, known_author, json }
  local text = table.concat(registered, ';')
  if text ~= former then
    write_target(member, former, registered, new_author, KEYS[list], at)
  end
  return text
end

local registrations = {}
for i = 5, #ARGV, 5 do
  local member, author, json, at, list = unpack(ARGV, i, i + 4)
  registrations[#registrations + 1] = register_target(member, author, json, at, tonumber(list))
end
return { ARGV[1], registrations }
