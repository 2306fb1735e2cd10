// Compare: two texts, and their plan redrawn as eta moves.

import { asker, debounced } from "./api.js";
import { short } from "./dom.js";
import { fromSlider, toSlider } from "./eta.js";
import * as light from "./light.js";
import { figure } from "./plan.js";
import { redrawn } from "./search.js";

const EXAMPLE = [
  "Obama speaks to the media in Illinois",
  "The president greets the press in Chicago after a night of rain",
];
const at = (id) => document.getElementById(id);

export function compare(about, remember) {
  const ask = asker();
  const first = at("first"), second = at("second"), slider = at("eta"), shown = at("eta-shown");
  const lamp = at("compare-light"), place = at("compare-plan"), empty = at("compare-empty");
  let answer = null;
  slider.value = toSlider(about.eta);
  const eta = () => (Number(slider.value) === toSlider(about.eta) ? about.eta : fromSlider(slider.value));

  const draw = () => {
    if (!answer) return;
    const open = place.querySelector(".ledger")?.open;
    place.replaceChildren(figure(answer, place.clientWidth || 600));
    if (open) place.querySelector(".ledger").open = true;
  };

  async function run() {
    const asked = { a: first.value, b: second.value, eta: eta() };
    remember(asked.a, asked.b);
    empty.hidden = Boolean(asked.a.trim() && asked.b.trim());
    if (!empty.hidden) { ask.stop(); answer = null; place.replaceChildren(); light.clear(lamp); return; }
    const slow = setTimeout(() => light.busy(lamp, "Solving…"), 250);
    try {
      const found = await ask("/api/explain", asked);
      clearTimeout(slow);
      if (!found) return;
      answer = found;
      draw();
      if (found.words.includes(0)) light.show(lamp, "error", ["One of the texts has no word that is known; small words such as “the” are left out."]);
      else light.ofPair(lamp, found);
    } catch (error) {
      clearTimeout(slow);
      answer = null;
      place.replaceChildren();
      light.failed(lamp, error);
    }
  }

  const soon = debounced(run, 250), verySoon = debounced(run, 60);
  const tell = () => { shown.value = short(eta()); slider.setAttribute("aria-valuetext", short(eta())); };
  tell();
  first.addEventListener("input", soon);
  second.addEventListener("input", soon);
  slider.addEventListener("input", () => { tell(); verySoon(); });
  at("example").addEventListener("click", () => { [first.value, second.value] = EXAMPLE; run(); slider.focus(); });
  redrawn(place, draw);
  return run;
}
