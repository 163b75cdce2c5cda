-- Compares texts byte by byte: Lua compares them in the order of the locale.

-- Returns whether a text is greater than another one.
local function is_greater(one, other)
  for i = 1, math.min(#one, #other) do
    local byte, other_byte = string.byte(one, i), string.byte(other, i)
    if byte ~= other_byte then
      return byte > other_byte
    end
  end
  return #one > #other
end
