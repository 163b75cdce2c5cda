-- Hashes that a call reads with one command, changes in memory and writes once. Precedes
-- count_call.lua.

local hashes = {}

-- Returns the hash with this key. `wanted` lists fields, and contains each as a key; so does `changed`, with
-- the former values.
local function hash_at(key)
  local hash = hashes[key]
  if not hash then
    hash = { key = key, wanted = {}, values = false, changed = {}, user = false, span = false }
    hashes[key], hashes[#hashes + 1] = hash, hash
  end
  return hash
end

-- Names a field that will be read, so that one command reads all of them.
local function want(hash, field)
  local wanted = hash.wanted
  if not wanted[field] then
    wanted[field], wanted[#wanted + 1] = true, field
  end
end

-- Forgets what was read and changed.
local function reset_hashes()
  for _, hash in ipairs(hashes) do
    hash.values, hash.changed = false, {}
  end
end

-- Reads the wanted fields.
local function read_hash(hash)
  local values, wanted = {}, hash.wanted
  if #wanted > 0 then
    for i, value in ipairs(redis.call('HMGET', hash.key, unpack(wanted))) do
      values[wanted[i]] = value
    end
  end
  hash.values = values
end

-- Returns the value of a field, or false.
local function get(hash, field)
  if not hash.values then
    read_hash(hash)
  end
  local value = hash.values[field]
  if value == nil then
    value = redis.call('HGET', hash.key, field)
    hash.values[field] = value
  end
  return value
end

-- Changes a field in memory; false deletes it.
local function set(hash, field, value)
  local current, changed = get(hash, field), hash.changed
  if current == value then
    return
  end
  if changed[field] == nil then
    changed[field], changed[#changed + 1] = current, field
  end
  hash.values[field] = value
end

-- Returns the value that a field had before the changes.
local function former_value(hash, field)
  local former = hash.changed[field]
  if former == nil then
    return get(hash, field)
  end
  return former
end

-- Runs a command with these arguments, if there are any.
local function write(command, key, arguments)
  if #arguments > 0 then
    redis.call(command, key, unpack(arguments))
  end
end

-- Writes the changed fields.
local function write_hash(hash)
  local changed = hash.changed
  if #changed == 0 then
    return
  end
  local set_fields, deleted = {}, {}
  for _, field in ipairs(changed) do
    local value, former = hash.values[field], changed[field]
    if value and value ~= former then
      local n = #set_fields
      set_fields[n + 1], set_fields[n + 2] = field, value
    elseif not value and former then
      deleted[#deleted + 1] = field
    end
  end
  write('HSET', hash.key, set_fields)
  write('HDEL', hash.key, deleted)
end
