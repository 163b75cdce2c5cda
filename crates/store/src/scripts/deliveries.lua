-- Formats deliveries to other shards: see count_receive.lua. Precedes every script that sends some.

-- Returns the fields of a delivery. The last one names the participant whose undo log covers it, if any.
local function delivery_fields(verb, now, to, delivery)
  return 'do', verb, 'now', now, 'to', to, 'points', digits(delivery.points or 0),
    'periods', delivery.periods or '', 'date', delivery.date or '', 'number', delivery.number or '',
    'authorship', delivery.authorship or '', 'author', delivery.author or '', 'listed', delivery.listed or '',
    'instant', delivery.instant or '', 'at', digits(delivery.at), 'action', delivery.action or '',
    'cause', delivery.cause or '', 'log', delivery.log or ''
end
