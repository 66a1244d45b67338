// Relative times, by the same rule as the server's words.py.
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

function roughly(seconds) {
  const [length, unit] = UNITS.find(([n]) => seconds >= n) ?? [1, "s"];
  return `${Math.floor(seconds / length)} ${unit}`;
}

export function ago(moment) {
  const seconds = (Date.now() - moment) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  return seconds > 0 ? `${roughly(seconds)} ago` : `in ${roughly(-seconds)}`;
}

export function span(seconds) {
  if (seconds < 1) return `${Math.max(0, seconds * 1000).toFixed(0)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1).replace(".0", "")} s`;
  let rest = Math.round(seconds);
  const parts = [];
  for (const [length, unit] of UNITS) {
    if (rest >= length) {
      parts.push(`${Math.floor(rest / length)} ${unit}`);
      rest %= length;
    } else if (parts.length) break;
  }
  return parts.slice(0, 2).join(" ");
}

export function clock(moment) {
  return new Date(moment).toLocaleTimeString([], { hour12: false });
}

export function refreshTimes(within = document) {
  for (const element of within.querySelectorAll("time[datetime]")) {
    const moment = Date.parse(element.dateTime);
    if (Number.isNaN(moment)) continue;
    const text = "age" in element.dataset ? span((Date.now() - moment) / 1000) : ago(moment);
    if (element.textContent !== text) element.textContent = text;
    element.title = `${"age" in element.dataset ? "since " : ""}${new Date(moment).toLocaleString()}`;
  }
}

export function keepTimes() {
  refreshTimes();
  setInterval(refreshTimes, 5000);
}
