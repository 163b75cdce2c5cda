-- Precedes scripts that run several calls in one request. `scripts` maps names to functions of KEYS and ARGV.

-- A single command.
scripts.run = function(keys, args)
  redis.call(args[1], keys[1], unpack(args, 2))
  return { '', {} }
end

-- Returns `count` values after an index.
local function take(from, after, count)
  local taken = {}
  for i = 1, count do
    taken[i] = from[after + i]
  end
  return taken
end

