-- Compares texts byte by byte: Lua compares them in the order of the locale.

-- Returns whether a text is greater than another one.
local function is_greater(a, b)
  for i = 1, math.min(#a, #b) do
    local byte, other_byte = string.byte(a, i), string.byte(b, i)
    if byte ~= other_byte then
      return byte > other_byte
    end
  end
  return #a > #b
end
