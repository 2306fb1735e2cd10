// The page: its tabs, its address, and the token where the server wants one.

import { get, onToken } from "./api.js";
import { compare } from "./compare.js";
import { count } from "./dom.js";
import * as light from "./light.js";
import { search } from "./search.js";

const at = (id) => document.getElementById(id);
const tabs = ["search", "compare"];
const kept = new URLSearchParams(location.hash.slice(1));

onToken((wrong) => new Promise((resolve) => {
  const form = at("token-form"), field = at("token");
  form.hidden = false;
  field.setCustomValidity(wrong ? "That was not the token" : "");
  if (wrong) field.reportValidity();
  field.oninput = () => field.setCustomValidity("");
  field.focus();
  form.onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem("wayfare-token", field.value.trim());
    form.hidden = true;
    resolve();
  };
}));

function keep(values) {
  for (const [name, value] of Object.entries(values)) {
    if (value) kept.set(name, value);
    else kept.delete(name);
  }
  history.replaceState(null, "", `#${kept}`);
}

function choose(name, focus) {
  for (const tab of tabs) {
    const button = at(`tab-${tab}`), mine = tab === name;
    button.setAttribute("aria-selected", mine);
    button.tabIndex = mine ? 0 : -1;
    at(`panel-${tab}`).hidden = !mine;
    if (mine && focus) button.focus();
  }
  keep({ tab: name === "search" ? "" : name });
}

function listen() {
  tabs.forEach((name, n) => {
    at(`tab-${name}`).addEventListener("click", () => choose(name));
    at(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); choose(tabs[(n + step + tabs.length) % tabs.length], true); }
    });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea")) return;
    event.preventDefault();
    choose("search");
    at("query").select();
  });
}

async function start() {
  listen();
  choose(tabs.includes(kept.get("tab")) ? kept.get("tab") : "search");
  let about;
  try {
    about = await get("/api/index");
  } catch (error) {
    light.failed(at("search-light"), error);
    at("search-empty").hidden = true;
    return;
  }
  at("about").textContent = `${about.name} · ${count(about.documents)} documents`;
  const find = search(about, (q) => keep({ q }));
  const set = compare(about, (a, b) => keep({ a, b }));
  at("query").value = kept.get("q") ?? "";
  at("first").value = kept.get("a") ?? "";
  at("second").value = kept.get("b") ?? "";
  if (at("query").value) find();
  if (at("first").value) set();
  if (!at("panel-search").hidden) at("query").focus();
  document.documentElement.dataset.ready = "yes";
}

start();
