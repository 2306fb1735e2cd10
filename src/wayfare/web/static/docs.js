// The API, as openapi.json describes it.

import { element } from "./dom.js";

const place = document.getElementById("api");

function type(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return [...new Set(schema.anyOf.map(type))].filter((one) => one !== "null").join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? type(schema.items) : "anything"}`;
  return schema.type ?? "anything";
}

function says(schema) {
  const parts = [schema.description, ...(schema.anyOf ?? []).map((one) => one.description)].filter(Boolean);
  const inner = [schema, ...(schema.anyOf ?? [])], range = [];
  for (const [name, word] of [["minimum", "from"], ["maximum", "to"]]) {
    const found = inner.find((one) => one[name] !== undefined);
    if (found && Math.abs(found[name]) < 1e9) range.push(`${word} ${found[name]}`);
  }
  if (range.length) parts.push(`(${range.join(" ")})`);
  return parts.join(" ").replaceAll("`", "");
}

function table(title, schema) {
  if (!schema?.properties) return [];
  const wanted = new Set(title === "Send" ? schema.required ?? [] : []);
  return [element("p", { class: "muted small" }, title), element("table", {}, element("tbody", {},
    ...Object.entries(schema.properties).map(([name, one]) => element("tr", {},
      element("td", {}, name), element("td", {}, type(one) + (wanted.has(name) ? ", required" : "")),
      element("td", { class: "muted" }, says(one))))))];
}

function curl(path, schema) {
  if (!schema) return `curl ${location.origin}${path}`;
  const body = Object.fromEntries(Object.entries(schema.properties)
    .filter(([name, one]) => schema.required.includes(name) || (name === "b" && one.examples))
    .map(([name, one]) => [name, one.examples[0]]));
  return `curl ${location.origin}${path} --json '${JSON.stringify(body)}'`;
}

const told = await (await fetch("/openapi.json")).json();
const named = (schema) => (schema?.$ref ? told.components.schemas[schema.$ref.split("/").pop()] : schema);
for (const [path, methods] of Object.entries(told.paths)) {
  for (const [method, about] of Object.entries(methods)) {
    const sent = about.requestBody?.content["application/json"].schema;
    const given = named(about.responses["200"].content?.["application/json"]?.schema);
    place.append(element("section", {},
      element("h2", {}, `${method.toUpperCase()} ${path}`),
      element("p", {}, (about.description ?? about.summary).replaceAll("`", "")),
      element("pre", { tabindex: "0" }, curl(path, sent)),
      ...table("Send", sent), ...table("Get", given)));
  }
}
const error = told.components.schemas.Trouble;
place.append(element("section", {}, element("h2", {}, "Errors"),
  element("p", {}, "Every error of every path is {\"error\": {…}} with the status of HTTP."), ...table("Get", error)));
document.documentElement.dataset.ready = "yes";
