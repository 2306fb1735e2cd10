// Search: a query, the documents nearest to it, and for each of them why.

import { asker } from "./api.js";
import { count, element, interval, shape, short, visible } from "./dom.js";
import { fromSlider, toSlider } from "./eta.js";
import * as light from "./light.js";
import { figure } from "./plan.js";

const LEVELS = 5;
const CRUMB = 0.03; // of the heaviest: what carries less is not shaded
const at = (id) => document.getElementById(id);

export function search(about, remember) {
  const ask = asker();
  const lamp = at("search-light"), list = at("hits"), query = at("query");
  const k = at("k"), slider = at("search-eta"), shown = at("search-eta-shown");
  k.max = about.limits.k;
  slider.value = toSlider(about.eta);
  const eta = () => (Number(slider.value) === toSlider(about.eta) ? about.eta : fromSlider(slider.value));
  const tell = () => { shown.value = short(eta()); };
  slider.addEventListener("input", tell);
  slider.addEventListener("change", () => query.value.trim() && run());
  k.addEventListener("change", () => query.value.trim() && run());
  tell();

  at("search-form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  list.addEventListener("keydown", (event) => walk(event, list, query));
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.firstChild) { event.preventDefault(); list.querySelector(".why").focus(); }
  });

  async function run() {
    const text = query.value;
    remember(text);
    at("search-empty").hidden = true;
    if (!text.trim()) { ask.stop(); clear(); at("search-empty").hidden = false; return; }
    const slow = setTimeout(() => light.busy(lamp, "Searching…"), 150);
    const asked = { query: text, k: Math.min(Math.max(Math.round(Number(k.value)) || 10, 1), about.limits.k), eta: eta() };
    try {
      const answer = await ask("/api/search", { ...asked, shade: true });
      clearTimeout(slow);
      if (answer) draw(answer, asked);
    } catch (error) {
      clearTimeout(slow);
      clear();
      light.failed(lamp, error);
    }
  }

  function clear() { light.clear(lamp); at("read-as").hidden = true; list.replaceChildren(); }

  function draw(answer, asked) {
    clear();
    if (!answer.words.length) {
      light.show(lamp, "error", ["No word of this is known. Try other words; small words such as “the” are left out."]);
      return;
    }
    if (!answer.hits.length) {
      light.show(lamp, "open", [about.documents ? "Nothing was found in time. Ask for fewer, or allow more time."
        : "The index is empty: add documents to it."]);
      return;
    }
    light.ofSearch(lamp, answer);
    readAs(answer.words, list);
    const most = Math.max(...answer.hits.flatMap((hit) => (hit.spans ?? []).map((span) => span.carried)), 1e-9);
    const farthest = Math.max(2 * answer.eta, ...answer.hits.map((hit) => hit.distance));
    list.append(...answer.hits.map((hit) => card(hit, { ...asked, metric: answer.metric }, most, farthest)));
  }
  return run;
}

function readAs(words, list) {
  const lit = (source, on) => list.querySelectorAll("mark").forEach((mark) =>
    mark.classList.toggle("lit", on && mark.dataset.source === source));
  const chips = words.slice(0, 12).map(({ word, mass }) => element("button", {
    type: "button", title: `${Math.round(100 * mass)}% of the mass; shows where it goes`,
    onmouseenter: () => lit(word, true), onmouseleave: () => lit(word, false),
    onfocus: () => lit(word, true), onblur: () => lit(word, false),
  }, visible(word)));
  const more = words.length > 12 ? [` and ${words.length - 12} more`] : [];
  at("read-as").replaceChildren("Read as ", ...chips, ...more);
  at("read-as").hidden = false;
}

function card(hit, asked, most, farthest) {
  const text = element("p", { class: "text" });
  const [start, end] = hit.passage ?? [0, 320];
  const letters = Array.from(hit.text ?? "");
  const whole = start === 0 && end >= letters.length;
  let full = false;
  const write = () => text.replaceChildren(...(hit.text === null ? [element("em", { class: "muted" }, "The index keeps no texts.")]
    : marked(letters, hit.spans ?? [], full ? [0, letters.length] : [start, end], most)),
    full && hit.cut ? "…" : "");
  write();
  const more = whole ? null : element("button", {
    type: "button", "aria-expanded": "false",
    onclick: () => { full = !full; write(); more.textContent = full ? "Show less" : "Show all"; more.setAttribute("aria-expanded", full); },
  }, "Show all");
  const place = element("div", { class: "plan-place", hidden: true });
  const why = element("button", { type: "button", class: "why", "aria-expanded": "false", "aria-label": `Why document ${hit.id}` }, "Why?");
  why.addEventListener("click", () => toggle(why, place, { a: asked.query, id: hit.id, eta: asked.eta }));
  return element("li", { class: "hit" }, text,
    element("div", { class: "facts" },
      element("span", { class: "distance" },
        element("b", {}, hit.distance.toFixed(4)),
        shape("svg", { class: "track", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
          shape("rect", { width: 100 * Math.min(hit.distance / farthest, 1), height: 6 })),
        element("span", { title: "The distance is proven to lie in this interval" }, `in ${interval(hit.lower, hit.upper)}`)),
      element("span", { class: "where" }, visible(String(hit.id))),
      hit.label === null ? null : element("span", { class: "label" }, visible(String(hit.label))),
      more, asked.metric === "hellinger" ? null : why),
    place);
}

function marked(letters, spans, [start, end], most) {
  const out = [start > 0 ? "…" : ""];
  const slice = (from, to) => visible(letters.slice(from, to).join(""));
  let done = start;
  for (const span of spans) {
    if (span.start < done || span.end > end || span.carried < CRUMB * most) continue;
    out.push(slice(done, span.start));
    // By the root: half of the heaviest should look like more than half as dark.
    const level = Math.max(Math.ceil(LEVELS * Math.sqrt(span.carried / most)), 1);
    const from = span.source === span.word ? "" : ` from ${visible(span.source)}`;
    out.push(element("mark", { class: `l${level}`, "data-source": span.source, title: `carries ${short(span.carried)}${from}` },
      slice(span.start, span.end)));
    done = span.end;
  }
  out.push(slice(done, end), end < letters.length ? "…" : "");
  return out;
}

async function toggle(why, place, asked) {
  const open = why.getAttribute("aria-expanded") !== "true";
  why.setAttribute("aria-expanded", open);
  why.textContent = open ? "Close" : "Why?";
  place.hidden = !open;
  if (!open || place.dataset.done) return;
  const lamp = element("div", { class: "light", role: "status" });
  place.replaceChildren(lamp);
  light.busy(lamp, "Opening the plan…");
  place.ask ??= asker();
  try {
    const answer = await place.ask("/api/explain", asked);
    if (!answer) return;
    place.dataset.done = "yes";
    const draw = () => place.replaceChildren(figure(answer, place.clientWidth || 600));
    draw();
    redrawn(place, draw);
  } catch (error) {
    light.failed(lamp, error);
  }
}

export function redrawn(place, draw) {
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (!place.clientWidth || Math.abs(place.clientWidth - width) < 2) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
}

function walk(event, list, query) {
  const buttons = [...list.querySelectorAll(".why")];
  const hit = event.target.closest(".hit");
  const here = buttons.findIndex((button) => hit?.contains(button));
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (event.target.closest(".scroll")) return;
    event.preventDefault();
    const next = here + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0) query.focus();
    else buttons[Math.min(next, buttons.length - 1)]?.focus();
  } else if (event.key === "Escape" && buttons[here]?.getAttribute("aria-expanded") === "true") {
    buttons[here].click();
    buttons[here].focus();
  }
}
