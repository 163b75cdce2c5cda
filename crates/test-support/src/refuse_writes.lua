local redis = (function(store)
  local commands = {}
  for name in string.gmatch('SET DEL UNLINK HSET HSETNX HDEL HINCRBY ZADD ZINCRBY ZREM ZREMRANGEBYSCORE ' ..
    'EXPIRE PEXPIRE PEXPIREAT XADD XDEL XTRIM SADD SREM RENAME', '%a+') do
    commands[name] = true
  end
  local writes = 0
  local function refused(name)
    writes = writes + (commands[string.upper(name)] and 1 or 0)
    return commands[string.upper(name)] and (REFUSED)
  end
  local problem = { err = "OOM command not allowed when used memory > 'maxmemory'." }
  return setmetatable({
    call = function(name, ...)
      if refused(name) then
        error(problem, 0)
      end
      return store.call(name, ...)
    end,
    pcall = function(name, ...)
      return refused(name) and problem or store.pcall(name, ...)
    end,
  }, { __index = store })
end)(redis)
