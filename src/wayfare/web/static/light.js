// The light: whether an answer is exact, and the work behind it.

import { count, element } from "./dom.js";

const LAMPS = { exact: "✓", open: "?", error: "!", busy: "" };

const STEPS = [
  ["documents", "in the collection"],
  ["by_word", "bounded by what each word reaches"],
  ["by_rows", "bounded by their own words"],
  ["by_middle", "bounded more closely"],
  ["by_sweep", "bounded by a sweep of the solver"],
  ["started", "given to the solver"],
  ["solved", "solved to the tolerance"],
  ["refined", "refined to settle the border"],
];

export function show(place, state, says, more = null) {
  place.dataset.state = state;
  const lamp = element("span", { class: "lamp", "aria-hidden": "true" }, LAMPS[state] ?? "");
  place.replaceChildren(lamp, ...says);
  if (more) place.append(" · ", more);
}

export function clear(place) {
  delete place.dataset.state;
  place.replaceChildren();
}

export function busy(place, what) { show(place, "busy", [what]); }

export function failed(place, error) { show(place, "error", [error.message.replace(/^./, (first) => first.toUpperCase())]); }

export function ofSearch(place, answer) {
  const of = answer.work.documents;
  const says = answer.exact
    ? [element("strong", {}, "exact"), `: no other of ${count(of)} documents is nearer`]
    : answer.tied.length
      ? [element("strong", {}, "exact but for a tie"), `: ${count(answer.tied.length)} documents are equally near at the border`]
      : [element("strong", {}, "not proven"), `: time ended first, one of ${count(of)} documents may be nearer`];
  const steps = STEPS.filter(([name]) => answer.work[name]);
  const list = element("dl", {}, ...steps.flatMap(([name, means]) =>
    [element("dt", {}, count(answer.work[name])), element("dd", {}, means)]));
  const work = element("details", {}, element("summary", {},
    `${count(answer.work.solved)} solved, ${time(answer)}`), list);
  show(place, answer.exact ? "exact" : "open", says, work);
}

export function ofPair(place, answer) {
  const says = answer.exact
    ? [element("strong", {}, "exact"), `: proven within ${percent(answer)}`]
    : [element("strong", {}, "not as close as asked"), ": the bounds hold, time ended first"];
  const { sweeps, newton_steps: newton } = answer.work;
  const work = newton ? `${count(sweeps)} sweeps, ${count(newton)} Newton steps` : `${count(sweeps)} sweeps`;
  show(place, answer.exact ? "exact" : "open", says, element("span", { class: "work" }, `${work}, ${time(answer)}`));
}

function percent(answer) {
  const gap = answer.upper ? (answer.upper - answer.lower) / answer.upper : 0;
  return gap < 1e-12 ? "rounding" : `${Number((100 * gap).toPrecision(1))}%`;
}

function time(answer) {
  const ms = answer.milliseconds;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${count(Math.round(ms))} ms`;
}
