// A transport plan: two columns of words, ribbons as wide as the mass; and its ledger as a table.

import { element, interval, shape, short, visible } from "./dom.js";

const BAR = 9;
const LETTER = 7.2;
const LEVELS = 12;
const STUB = 0.3;
const THINNEST = 0.1;
let drawn = 0;

export function figure(answer, width) {
  const { drawing, ledger } = answer;
  const far = answer.similarity === null ? "" : ` · similarity ${Math.round(100 * answer.similarity)}%`;
  return element("figure", { class: "plan" },
    element("h2", {}, drawing.title),
    element("p", { class: "sub" }, `proven to lie in ${interval(answer.lower, answer.upper)}`
      + (answer.eta === null ? "" : ` · eta ${short(answer.eta)}`) + far),
    picture(drawing, width),
    legend(drawing),
    table(ledger));
}

export function picture(drawing, width) {
  const key = `p${++drawn}`;
  const names = Math.min((width < 520 ? 0.3 : 0.29) * width, 220);
  const at = { key, width, names, left: names + BAR, right: width - names - BAR, numbers: width >= 520 };
  at.letters = Math.floor((names - 6 - (at.numbers ? 44 : 0)) / LETTER);
  const height = Math.ceil(drawing.height) + 8;
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(drawing) },
    definitions(key),
    ...drawing.ribbons.filter((r) => Math.max(r.left_height, r.right_height) >= THINNEST)
      .map((one) => ribbon(one, drawing, at)),
    ...drawing.left.map((bar) => column(bar, at, true)),
    ...drawing.right.map((bar) => column(bar, at, false)));
}

function spoken(drawing) {
  return `${drawing.title}. ${drawing.left.length} bars on the left and ${drawing.right.length} on the right, `
    + "joined by ribbons as wide as the mass. The ledger below says the same in numbers.";
}

function definitions(key) {
  const defs = shape("defs");
  for (let level = 0; level <= LEVELS; level++) {
    defs.append(gradient(`${key}-r${level}`, "", [0.62, 0.04 + (0.5 * level) / LEVELS, 0.62]));
  }
  defs.append(
    gradient(`${key}-out`, "fade-destroyed", [0.75, 0]),
    gradient(`${key}-in`, "fade-created", [0, 0.75]),
    shape("pattern", { id: `${key}-hatch`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      shape("rect", { class: "destroyed", width: 2.6, height: 6 })),
    shape("pattern", { id: `${key}-dots`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      shape("circle", { class: "created", cx: 3, cy: 3, r: 1.7 })));
  return defs;
}

function gradient(id, kind, opacities) {
  const last = opacities.length - 1;
  return shape("linearGradient", { id, class: kind || null },
    ...opacities.map((opacity, n) => shape("stop", { offset: n / last, "stop-opacity": opacity })));
}

function ribbon(one, drawing, at) {
  const middle = (at.left + at.right) / 2;
  const a = one.left_top, b = one.right_top;
  const c = b + one.right_height, d = a + one.left_height;
  const path = `M${at.left} ${a}C${middle} ${a} ${middle} ${b} ${at.right} ${b}`
    + `V${c}C${middle} ${c} ${middle} ${d} ${at.left} ${d}Z`;
  const source = drawing.left[one.source], target = drawing.right[one.target];
  const sent = short(one.sent), received = short(one.received);
  const mass = sent === received ? sent : `${sent} arrives as ${received}`;
  const rest = Math.max(source.words, target.words) > 1 ? " rest" : "";
  return shape("path", { class: `ribbon${rest}`, d: path, fill: `url(#${at.key}-r${Math.round(one.strength * LEVELS)})` },
    tip(`${source.name} → ${target.name}: ${mass}, cost ${short(one.cost)}`));
}

const tip = (text) => shape("title", {}, text);

function column(bar, at, left) {
  const x = left ? at.names : at.right;
  const says = `${bar.name}: mass ${short(bar.mass)}, price ${short(bar.price)}`;
  const group = shape("g");
  const lone = bar.alone_height;
  const thick = Math.max(bar.height - lone, lone === 0 ? 0.8 : 0);
  if (thick > 0) group.append(shape("rect", { class: "bar", x, y: bar.top, width: BAR, height: thick }, tip(says)));
  if (lone > 0) group.append(...alone(bar, at, left, x));
  const mark = bar.alone > 0.5 * bar.mass ? (left ? "−" : "+") : "";
  const name = shape("tspan", {}, cut(bar.name, at.letters - (mark ? 2 : 0)));
  const sign = mark && shape("tspan", { class: `sign ${left ? "destroyed" : "created"}` }, mark);
  const number = at.numbers && shape("tspan", { class: "number" }, short(bar.mass));
  const parts = (left ? [number, name, sign] : [sign, name, number]).filter(Boolean);
  const text = shape("text", { x: left ? x - 6 : x + BAR + 6, y: bar.top + bar.height / 2 + 4.5, "text-anchor": left ? "end" : "start" });
  parts.forEach((part, n) => text.append(...(n ? ["\u00a0 ", part] : [part])));
  text.append(tip(says));
  group.append(text);
  return group;
}

function alone(bar, at, left, x) {
  const kind = left ? "destroyed" : "created";
  const top = bar.top + bar.height - bar.alone_height, height = bar.alone_height;
  const near = left ? at.left : at.right;
  const far = near + (left ? 1 : -1) * STUB * (at.right - at.left);
  const inset = 0.25 * height;
  const path = `M${near} ${top}L${far} ${top + inset}V${top + height - inset}L${near} ${top + height}Z`;
  const says = `${bar.name}: ${short(bar.alone)} ${kind}, at the price of its mass`;
  return [
    shape("rect", { class: kind, x, y: top, width: BAR, height: Math.max(height, 0.8) }, tip(says)),
    shape("rect", { x, y: top, width: BAR, height, fill: `url(#${at.key}-${left ? "hatch" : "dots"})` }),
    shape("path", { d: path, fill: `url(#${at.key}-${left ? "out" : "in"})` }, tip(says)),
  ];
}

function cut(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, Math.max(most - 1, 1)).join("")}…`;
}

function legend(drawing) {
  const entries = [];
  const swatch = (kind) => shape("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" },
    shape("rect", { class: kind, width: 26, height: 10, rx: 2, opacity: 0.7 }));
  if (drawing.ribbons.length) entries.push(["carried", "carried, paler where it costs more"]);
  if (drawing.left.some((bar) => bar.alone > 0)) entries.push(["destroyed", "− destroyed"]);
  if (drawing.right.some((bar) => bar.alone > 0)) entries.push(["created", "+ created"]);
  return element("p", { class: "legend" }, ...entries.map(([kind, says]) => element("span", {}, swatch(kind), says)));
}

function table(ledger) {
  const rows = [
    ...ledger.first.words.map((word) => ({ price: word.price, mass: word.mass, name: word.word, became: went(word) })),
    ...ledger.second.words.filter((word) => word.created > 0)
      .map((word) => ({ price: word.created, mass: word.created, name: `+ ${word.word}`, became: `created ${short(word.created)}` })),
  ].sort((a, b) => b.price - a.price);
  const cell = (kind, text) => element("td", { class: kind }, text);
  return element("details", { class: "ledger" },
    element("summary", {}, `The ledger: ${rows.length} lines that add up to ${ledger.objective.toFixed(4)}`),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ledger" }, element("table", {},
      element("thead", {}, element("tr", {}, ...["price", "mass", "word", "what became of it"]
        .map((name, n) => element("th", { class: n < 2 ? "n" : null }, name)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, cell("n", row.price.toFixed(4)),
        cell("n", row.mass.toFixed(4)), cell(null, visible(row.name)), cell(null, row.became)))),
      element("tfoot", {}, element("tr", {}, cell("n", ledger.objective.toFixed(4)), cell(null, ""), cell(null, ""),
        cell(null, "in all"))))));
}

function went(word) {
  const parts = word.to.slice(0, 3).filter((pair) => pair.sent >= 0.01 * word.mass).map((pair) => {
    const sent = short(pair.sent), received = short(pair.received);
    return `→ ${visible(pair.word)} ${sent}${sent === received ? "" : ` as ${received}`} at ${short(pair.cost)}`;
  });
  if (word.destroyed > 0) parts.push(`destroyed ${short(word.destroyed)}`);
  return parts.join(", ") || "→ many, little to each";
}
