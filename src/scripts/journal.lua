-- Writes what was done to the journal's outbox, whose entries src/journal/mod.rs describes. Precedes
-- the text of every script that changes something. `outbox` is its key, or nil where there is none.

-- Fails, before anything is written, where the key holds something else.
local function check_outbox(outbox)
  if outbox then
    redis.call('XLEN', outbox)
  end
end

local function write_outbox(outbox, ...)
  if outbox then
    redis.call('XADD', outbox, '*', 'did', ...)
  end
end

