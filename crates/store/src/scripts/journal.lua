-- Appends entries to the stream of changes, the outbox of the journal. Precedes the scripts that change profiles,
-- visibility, targets and events.
-- `outbox` is the key of the stream, or nil if nobody reads the entry: the journal reads all of them, receive.lua what
-- others receive. src/journal/mod.rs lists the fields of each entry.

-- Raises an error if the key holds another type. Scripts call it before their first write.
local function check_outbox(outbox)
  if outbox then
    redis.call('XLEN', outbox)
  end
end

-- Returns the id of the entry, or nil without an outbox.
local function write_outbox(outbox, ...)
  if outbox then
    return redis.call('XADD', outbox, '*', 'did', ...)
  end
end

-- Writes by a function. If the store refuses a write, removes the entry that was appended before, if there is one.
local function write_after(outbox, id, write)
  local written, failure = pcall(write)
  if not written then
    if id then
      pcall(redis.call, 'XDEL', outbox, id)
    end
    error(failure, 0)
  end
end
