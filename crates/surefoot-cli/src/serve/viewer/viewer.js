"use strict";

// Shows an OpenAPI document: its operations and its types.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const nameOf = (reference) => reference.split("/").pop();

// The type of a schema: text, and links to the types that it names.
function typeOf(schema) {
  if (!schema) return ["anything"];
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    return [element("a", { href: `#type-${name}` }, name)];
  }
  const choices = schema.oneOf || schema.anyOf || schema.allOf;
  if (choices) return choices.flatMap((choice, place) => (place ? [" or ", ...typeOf(choice)] : typeOf(choice)));
  const types = [].concat(schema.type ?? "anything");
  return types.flatMap((type, place) => {
    let words = [type];
    if (type === "array") words = ["list of ", ...typeOf(schema.items || (schema.prefixItems || [])[0])];
    if (type === "object" && schema.additionalProperties) words = ["map to ", ...typeOf(schema.additionalProperties)];
    return place ? [" or ", ...words] : words;
  });
}

function fields(schema) {
  const required = new Set(schema.required || []);
  const rows = Object.entries(schema.properties || {}).map(([name, field]) =>
    element(
      "tr",
      {},
      element("td", {}, element("code", {}, name), required.has(name) ? "" : " (optional)"),
      element("td", {}, ...typeOf(field)),
      element("td", {}, field.description || ""),
    ),
  );
  const head = element("tr", {}, ...["field", "type", "meaning"].map((text) => element("th", { scope: "col" }, text)));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function operation(path, method, described) {
  const body = Object.values(described.requestBody?.content || {})[0];
  const answer = Object.values(described.responses?.["200"]?.content || {})[0];
  const parts = [
    element("h2", {}, element("code", {}, `${method.toUpperCase()} ${path}`)),
    element("p", {}, described.summary || described.description || ""),
  ];
  for (const parameter of described.parameters || []) {
    parts.push(element("p", {}, "Query ", element("code", {}, parameter.name), `: ${parameter.description || ""}`));
  }
  if (body) parts.push(element("p", {}, "Request: ", ...typeOf(body.schema)));
  if (answer) parts.push(element("p", {}, "Response: ", ...typeOf(answer.schema)));
  return element("section", {}, ...parts);
}

async function show() {
  const shown = await (await fetch("/openapi.json")).json();
  document.getElementById("description").textContent = shown.info.description || "";
  const operations = document.getElementById("operations");
  for (const [path, methods] of Object.entries(shown.paths)) {
    for (const [method, described] of Object.entries(methods)) operations.append(operation(path, method, described));
  }
  const types = document.getElementById("types");
  for (const [name, schema] of Object.entries(shown.components?.schemas || {})) {
    types.append(
      element(
        "section",
        { id: `type-${name}` },
        element("h3", {}, name),
        element("p", {}, schema.description || ""),
        fields(schema),
      ),
    );
  }
}

show();
