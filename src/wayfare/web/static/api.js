// The API, asked one thing at a time: a new question of the same asker ends the old one.

let wantsToken = () => Promise.reject(new Error("this server wants a token"));

export function onToken(ask) { wantsToken = ask; }

export class Failed extends Error {}

async function send(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem("wayfare-token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const request = body === undefined ? { headers, signal }
    : { method: "POST", headers, body: JSON.stringify(body), signal };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("The server does not answer. Is it still running?");
  }
  if (answer.status === 401) {
    await wantsToken(Boolean(token));
    return send(path, body, signal);
  }
  const text = await answer.text();
  let found;
  try {
    found = JSON.parse(text, exactIds);
  } catch {
    throw new Failed(`The server answered ${answer.status} with something else than JSON.`);
  }
  if (!answer.ok) throw new Failed(found.error?.message ?? `The server answered ${answer.status}.`);
  return found;
}

// Ids of 64 bits do not fit into a number here; their digits do into a string.
function exactIds(key, value, context) {
  const long = key === "id" && typeof value === "number" && !Number.isSafeInteger(value);
  return long && context?.source ? context.source : value;
}

export const get = (path) => send(path);

// Asks, and gives undefined where a later question has overtaken this one.
export function asker() {
  let running = null;
  const ask = async (path, body) => {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const found = await send(path, body, mine.signal);
      return mine === running ? found : undefined;
    } catch (error) {
      if (mine !== running || error.name === "AbortError") return undefined;
      throw error;
    }
  };
  ask.stop = () => { running?.abort(); running = null; };
  return ask;
}

export function debounced(work, milliseconds) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(work, milliseconds, ...given); };
}
