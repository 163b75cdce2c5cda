-- Hashes that a call reads with one command, changes in memory and writes once. Precedes
-- count_call.lua.

local hashes = {}

-- Returns the hash with this key.
local function hash_at(key)
  if not hashes[key] then
    hashes[key] = { key = key, wanted = {}, is_wanted = {}, changed = {} }
    hashes[#hashes + 1] = hashes[key]
  end
  return hashes[key]
end

-- Names a field that will be read, so that one command reads all of them.
local function want(hash, field)
  if not hash.is_wanted[field] then
    hash.is_wanted[field] = true
    hash.wanted[#hash.wanted + 1] = field
  end
end

-- Forgets what was read and changed.
local function reset_hashes()
  for _, hash in ipairs(hashes) do
    hash.values, hash.former, hash.changed = nil, {}, {}
  end
end

-- Returns the value of a field, or false.
local function get(hash, field)
  if not hash.values then
    hash.values = {}
    if #hash.wanted > 0 then
      local values = redis.call('HMGET', hash.key, unpack(hash.wanted))
      for i, name in ipairs(hash.wanted) do
        hash.values[name] = values[i]
      end
    end
  end
  if hash.values[field] == nil then
    hash.values[field] = redis.call('HGET', hash.key, field)
  end
  return hash.values[field]
end

-- Changes a field in memory; false deletes it.
local function set(hash, field, value)
  local current = get(hash, field)
  if current == value then
    return
  end
  if hash.former[field] == nil then
    hash.former[field] = current
    hash.changed[#hash.changed + 1] = field
  end
  hash.values[field] = value
end

-- Returns the value that a field had before the changes.
local function former_value(hash, field)
  local former = hash.former[field]
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

-- Returns the changed fields: names and values to set, and names to delete.
local function changes_of(hash)
  local set_fields, deleted = {}, {}
  for _, field in ipairs(hash.changed) do
    local value = hash.values[field]
    if value and value ~= hash.former[field] then
      set_fields[#set_fields + 1] = field
      set_fields[#set_fields + 1] = value
    elseif not value and hash.former[field] then
      deleted[#deleted + 1] = field
    end
  end
  return set_fields, deleted
end
