-- Formats an integer. tostring() loses digits from 1e14 on.
local function digits(n)
  -- Adding 0 turns -0 into 0.
  return string.format('%.0f', n + 0)
end
