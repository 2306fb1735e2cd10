// Elements and numbers. Text only ever becomes text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Characters that cannot be seen, or that turn the direction of what follows, become visible.
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

export const count = (number) => number.toLocaleString("en");

export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e7) return value.toPrecision(3);
  if (size >= 1000) return count(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

// As many digits as tell the two ends apart, rounded outwards.
export function interval(lower, upper) {
  if (lower === null || upper === null) return "unbounded";
  if (upper - lower < 1e-13 * Math.abs(upper) || upper === lower) return `[${short(lower)}, ${short(upper)}]`;
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10((upper - lower) * 2)), 0), 15);
  const unit = 10 ** decimals;
  const low = Math.max(Math.floor(lower * unit) / unit, 0);
  return `[${low.toFixed(decimals)}, ${(Math.ceil(upper * unit) / unit).toFixed(decimals)}]`;
}
