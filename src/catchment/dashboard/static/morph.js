// Makes one element like another and keeps what is the same: focus, selection, what is folded open.
const KEPT = new Set(["is-current", "is-selected"]);

function keyOf(node) {
  return node.nodeType === 1 ? node.id || node.dataset.key || null : null;
}

function attributes(from, to) {
  for (const { name, value } of to.attributes) {
    if (name === "class") {
      const kept = [...from.classList].filter((one) => KEPT.has(one));
      const wanted = [value, ...kept].join(" ").trim();
      if (from.className !== wanted && from.getAttribute("class") !== wanted) from.setAttribute("class", wanted);
    } else if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (name === "open" || (name === "class" && [...from.classList].some((one) => KEPT.has(one)))) continue;
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
}

function flash(element) {
  const figure = element.closest?.("[data-figure]");
  if (!figure) return;
  figure.classList.remove("changed");
  void figure.offsetWidth;
  figure.classList.add("changed");
}

export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType !== 1) {
    if (from.nodeValue !== to.nodeValue) {
      from.nodeValue = to.nodeValue;
      if (from.parentElement) flash(from.parentElement);
    }
    return;
  }
  // Times are written by this page, in its own zone.
  if (from.nodeName === "TIME" && from.dateTime === to.dateTime) return;
  attributes(from, to);
  if (from.nodeName === "INPUT" || from.nodeName === "TEXTAREA") return;
  const keyed = new Map();
  for (const child of from.childNodes) if (keyOf(child)) keyed.set(keyOf(child), child);
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    const match = key ? keyed.get(key) : place && !keyOf(place) ? place : null;
    if (match) {
      if (match === place) place = place.nextSibling;
      else from.insertBefore(match, place);
      if (key) keyed.delete(key);
      morph(match, wanted);
    } else from.insertBefore(wanted, place);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}
