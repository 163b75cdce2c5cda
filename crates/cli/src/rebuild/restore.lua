-- Restores fields of a hash that the journal knows, unless they have changed since they were compared.
--
-- KEYS    1 rebuild state (hash)   2 hash
-- ARGV    1 string: id of this run   2.. for each field: name, value as compared and value to store, each as JSON of an
--         array: empty for none
-- Returns 1, or 0 if another run owns the rebuild
-- Example EVAL text 2 {ar:0}r {ar:0}p 7f3a 42 '[]' '["{}"]'

if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
for i = 2, #ARGV, 3 do
  local seen, new = cjson.decode(ARGV[i + 1])[1], cjson.decode(ARGV[i + 2])[1]
  if (redis.call('HGET', KEYS[2], ARGV[i]) or nil) == seen then
    if new then
      redis.call('HSET', KEYS[2], ARGV[i], new)
    else
      redis.call('HDEL', KEYS[2], ARGV[i])
    end
  end
end
return 1
