// What only the platform knows of a time zone: its offset from UTC at an instant. Intl has every
// zone with current rules, and costs the bundle nothing.

const SHOWN = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};

const formats = new Map();

function formatOf(zone) {
  let format = formats.get(zone);
  if (!format) {
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...SHOWN });
    } catch {
      return null;
    }
    formats.set(zone, format);
  }
  return format;
}

// Intl shows the years before 1 as years BC, counted backwards; no offset changed so early.
const YEAR_2 = -62104060800000;

// NaN of what is no zone.
export function offset(zone, at) {
  const format = formatOf(zone);
  if (!format) return NaN;
  const seconds = Math.floor(Math.max(at, YEAR_2) / 1000) * 1000;
  const parts = {};
  for (const { type, value } of format.formatToParts(seconds)) {
    parts[type] = Number(value);
  }
  const local = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  local.setUTCFullYear(parts.year, parts.month - 1, parts.day);
  local.setUTCHours(parts.hour, parts.minute, parts.second);
  return local.getTime() - seconds;
}
