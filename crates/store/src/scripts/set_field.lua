-- Sets a field, or deletes it.
local function set_field(key, field, value)
  if value then
    redis.call('HSET', key, field, value)
  else
    redis.call('HDEL', key, field)
  end
end
