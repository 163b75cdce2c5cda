-- Formats an integer. tostring() loses digits from 1e14 on.
local function digits(n)
  return string.format('%d', n)
end
