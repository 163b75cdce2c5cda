-- Returns the number of the definitions of events, or '' without any.
local function definitions_number(definitions)
  return string.match(definitions or '', '^%d*')
end
