// A readable page of /openapi.json: requests in groups, their parameters, bodies and answers.
import { bdi, byId, h } from "./dom.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** What a schema says, in a few words; links go to the shapes below. */
function kind(schema, depth = 0) {
  if (!schema || depth > 6) return ["anything"];
  if (schema.$ref) { const name = schema.$ref.split("/").at(-1); return [h("a", { href: `#shape-${name}` }, name)]; }
  const either = schema.anyOf || schema.oneOf;
  if (either) return either.flatMap((one, at) => [at ? " or " : "", ...kind(one, depth + 1)]);
  if (schema.allOf) return schema.allOf.flatMap((one, at) => [at ? " and " : "", ...kind(one, depth + 1)]);
  if (schema.const !== undefined) return [h("code", {}, JSON.stringify(schema.const))];
  if (schema.enum) return schema.enum.flatMap((value, at) => [at ? " | " : "", h("code", {}, JSON.stringify(value))]);
  if (schema.type === "array") return ["list of ",
    ...(schema.prefixItems ? ["[", ...schema.prefixItems.flatMap((one, at) => [at ? ", " : "", ...kind(one, depth + 1)]), "]"]
    : kind(schema.items, depth + 1)), limits(schema)];
  if (schema.type === "object" && schema.additionalProperties) return ["object of ", ...kind(schema.additionalProperties, depth + 1)];
  return [schema.format && schema.format !== "binary" ? schema.format : { integer: "whole number", boolean: "true or false",
    string: schema.format === "binary" ? "file" : "text" }[schema.type] || schema.type || "anything", limits(schema)];
}

function limits(schema) {
  const said = [], put = (name, text) => { if (schema[name] !== undefined) said.push(text(schema[name])); };
  put("minimum", (value) => `≥ ${value}`);
  put("exclusiveMinimum", (value) => `> ${value}`);
  put("maximum", (value) => `≤ ${value}`);
  put("exclusiveMaximum", (value) => `< ${value}`);
  put("minLength", (value) => `at least ${value} characters`);
  put("maxLength", (value) => `at most ${value} characters`);
  put("minItems", (value) => `at least ${value}`);
  put("maxItems", (value) => `at most ${value}`);
  put("pattern", (value) => `like ${value}`);
  return said.length ? h("span", { class: "quiet" }, ` (${said.join(", ")})`) : "";
}

function rows(title, list) {
  if (!list.length) return null;
  return h("div", { class: "scroll" }, h("table", {}, h("caption", {}, title), h("tbody", {}, list.map(({ name, schema, needed, text }) => h("tr", {},
    h("th", { scope: "row" }, h("code", {}, name), needed ? h("span", { class: "needed" }, " needed") : ""),
      h("td", {}, kind(schema), schema && schema.default !== undefined && schema.default !== null
      ? h("span", { class: "quiet" }, `, otherwise ${JSON.stringify(schema.default)}`) : ""), h("td", {}, text || ""))))));
}

function request(method, path, spec) {
  const id = `${method}-${path}`.replace(/[^a-z0-9]+/gi, "-"), params = (spec.parameters || [])
    .map((one) => ({ name: one.name, schema: one.schema, needed: one.required, text: one.description || one.schema?.description }));
  const body = spec.requestBody ? Object.entries(spec.requestBody.content) : [];
  const answers = Object.entries(spec.responses || {}), fine = answers.filter(([code]) => code < "400")
    .map(([code, one]) => h("li", {}, h("code", {}, code), " ", answer(one)));
  const wrong = answers.filter(([code]) => code >= "400");
  if (wrong.length) fine.push(h("li", { class: "quiet" }, "errors ",
    wrong.flatMap(([code], at) => [at ? ", " : "", h("code", { title: wrong[at][1].description || null }, code)]), ": ", shapes(wrong[0][1])));
  return h("section", { class: "request", id, "aria-labelledby": `${id}-title` },
    h("h3", { id: `${id}-title` }, h("span", { class: `method ${method}` }, method.toUpperCase()), " ", h("code", {}, path)),
    paragraphs(spec.description || spec.summary), rows("Parameters", params),
    body.length ? h("p", {}, "Body: ",
      body.flatMap(([type, { schema }], at) => [at ? " or " : "", ...kind(schema), h("span", { class: "quiet" }, ` as ${type}`)])) : null,
    h("ul", { class: "answers", "aria-label": "Answers" }, fine));
}

const shapes = (one) => Object.entries(one.content || {})
  .flatMap(([type, { schema }], at) => [at ? " or " : "", ...kind(schema),
  type === "application/json" ? "" : h("span", { class: "quiet" }, ` as ${type}`)]);
function answer(one) {
  const said = one.description === "Successful Response" ? "" : one.description, list = shapes(one);
  return [said, said && list.length ? ": " : "", list.length || said ? list : "nothing"];
}

const paragraphs = (text) => (text || "").split(/\n\s*\n/).filter(Boolean).map((part) => h("p", {}, part));

function shape(name, schema) {
  const needed = new Set(schema.required || []), fields = Object.entries(schema.properties || {});
  return h("section", { class: "request", id: `shape-${name}`, "aria-labelledby": `shape-${name}-title` },
    h("h3", { id: `shape-${name}-title` }, name), paragraphs(schema.description),
    fields.length ? rows("Fields", fields.map(([field, one]) => ({ name: field, schema: one, needed: needed.has(field), text: one.description })))
      : h("p", {}, kind(schema)));
}

/** Which group a path belongs to: its tag, or the first word of it after /api. */
function group(path, spec) {
  if (spec.tags?.length) return spec.tags[0];
  const parts = path.split("/").filter((part) => part && part !== "api" && !part.startsWith("{"));
  return parts.length > 1 && parts[0] === "runs" ? `a run: ${parts[1]}` : parts[0] || "page";
}

function draw(spec) {
  const groups = new Map();
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const method of METHODS) {
      if (!methods[method]) continue;
      const name = group(path, methods[method]);
      groups.set(name, [...(groups.get(name) || []), request(method, path, methods[method])]);
    }
  }
  const shapes = Object.entries(spec.components?.schemas || {}).sort(([a], [b]) => a.localeCompare(b)).map(([name, schema]) => shape(name, schema));
  if (shapes.length) groups.set("shapes", shapes);
  byId("about").append(`Version ${spec.info.version}. ${spec.info.description || ""} `, h("a", { href: "/openapi.json" }, "openapi.json"));
  const slug = (name) => `group-${name.replace(/[^a-z0-9]+/gi, "-")}`;
  byId("contents").append(...[...groups].map(([name, parts]) => h("div", {}, h("a", { class: "group", href: `#${slug(name)}` }, name),
    h("ul", {}, parts.map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.querySelector("h3").textContent)))))));
  byId("paths").replaceChildren(...[...groups].map(([name, parts]) => h("section", { class: "group", id: slug(name) }, h("h2", {}, name), parts)));
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

async function start() {
  try {
    const response = await fetch("/openapi.json");
    if (!response.ok) throw new Error(`The server returned an error (${response.status}).`);
    draw(await response.json());
  } catch (error) {
    byId("paths").replaceChildren(h("p", { class: "look" }, bdi(error.message)));
  }
}
start();
