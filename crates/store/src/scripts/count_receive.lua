-- Finds who receives points for an operation of count.lua. Follows count_write.lua.
--
-- The script gives them nothing: the entry of the operation says what others receive, and receive.lua gives it.

-- Returns the registration of a target: its number, authorship and author; nothing if there is none.
local function read_target(member)
  local text = get(register, member)
  if not text then
    return
  end
  local number, _, authorship, author = string.match(text, REGISTRATION)
  if not number then
    error({ err = 'WRONGTYPE Invalid value in the register' })
  end
  return number, authorship, author
end

-- Returns whether a user has a profile or points. An id that no user has ranks nowhere.
local function is_known(operation, user)
  local targets = operation.targets
  local board = boards_of(targets, string.sub(targets.periods, -1), {})[1]
  read_boards({ board }, user)
  return points_on(board, user) > 0 or redis.call('HEXISTS', KEYS[1], user.id) == 1
    or redis.call('ZSCORE', KEYS[user.known], user.id)
end

-- Returns what others receive for an operation that counts, as the end of its active record: ';2wa;17;1', or '' for
-- nothing; and whether the user is the author of its target.
local function find_receipt(operation)
  local rule, receiver, numbers = operation.rule, operation.receiver, operation.claim
  local is_own = false
  if operation.received and operation.received ~= '' then
    return ';' .. operation.received, false
  elseif not receiver then
    return '', false
  elseif not has_shards and receiver.is_target then
    local number, authorship, author = read_target(receiver.id)
    numbers = ''
    if number then
      numbers = number .. ';'
      is_own = author == operation.day.user.id
      if author ~= '' then
        numbers = numbers .. authorship
      end
    end
  elseif not has_shards then
    numbers = ''
    if is_known(operation, receiver) then
      numbers = ';'
    end
  end
  if rule.received == 0 or numbers == '' then
    return '', is_own
  end
  local points = digits(rule.received) .. operation.targets.content
  return ';' .. table.concat({ points, numbers, operation.on }, ';'), is_own
end
