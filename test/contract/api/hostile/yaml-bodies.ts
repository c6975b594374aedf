import { CORE, type HostileBody, join, repeated } from "./hostile-body.ts";

const yaml = (name: string, body: () => string): HostileBody => ({
  name: `YAML: ${name}`,
  path: `${CORE}/configmaps`,
  type: "application/yaml",
  body,
});
const HEAD = "metadata: {generateName: hostile-}\n";

/** Texts that take a parser of YAML long. */
export const YAML_BODIES: readonly HostileBody[] = [
  yaml("dashes", () => repeated("- ")),
  yaml("dashes in lines", () => repeated("- a\n")),
  yaml("brackets", () => repeated("[")),
  yaml("braces", () => repeated("{")),
  yaml("braces and keys", () => repeated("{a: ")),
  yaml("tags", () => repeated("!a ")),
  yaml("anchors", () => repeated("&a ")),
  yaml("aliases", () => `${HEAD}a: &a 1\nx: [${repeated("*a,")}]`),
  yaml("anchors and aliases", () => `${HEAD}x: [${join(60_000, (i) => `&a${i} 1,*a${i}`)}]`),
  yaml("question marks", () => repeated("? ")),
  yaml("colons", () => repeated(": ")),
  yaml("commas", () => `[${repeated(",")}]`),
  yaml("empty pairs", () => `${HEAD}x: {${repeated("a: ,")}}`),
  yaml("numbers", () => `${HEAD}x: [${repeated("1,")}]`),
  yaml("keys in lines", () => `${HEAD}data:\n${join(80_000, (i) => `  k${i}: v`, "\n")}`),
  yaml("comments", () => `${HEAD}${repeated("#\n")}`),
  yaml("line breaks", () => `${HEAD}${repeated("\n")}`),
  yaml("spaces", () => `${HEAD}${repeated(" ")}`),
  yaml("tabs", () => `${HEAD}${repeated("\t")}`),
  yaml("documents", () => repeated("---\n")),
  yaml("ends of documents", () => repeated("...\n")),
  yaml("directives", () => repeated("%TAG ! a\n")),
  yaml("quotes", () => repeated("'")),
  yaml("an open quote", () => `"${repeated("a ")}`),
  yaml("escapes", () => `${HEAD}x: "${repeated("\\n")}"`),
  yaml("escapes that are none", () => `${HEAD}x: "${repeated("\\q")}"`),
  yaml("a plain scalar of many lines", () => `${HEAD}x: ${repeated("a\n ")}`),
  yaml("a block scalar of many lines", () => `${HEAD}x: |\n${repeated(" a\n")}`),
  yaml("a folded scalar of many lines", () => `${HEAD}x: >\n${repeated(" a\n\n")}`),
  yaml("indicators of block scalars", () => repeated("- |\n")),
  yaml("ever deeper lines", () => join(1_400, (i) => `${" ".repeat(i)}a:`, "\n")),
  yaml("merges", () => `a: &a {b: 1}\n${HEAD}x: {${repeated("<<: *a, ")}}`),
  yaml(
    "a merge of many keys, many times",
    () => `a: &a {${join(2_000, (i) => `k${i}: 1`)}}\nx: [${join(500, () => "{<<: *a}")}]`,
  ),
  yaml("digits", () => `${HEAD}x: ${repeated("1")}`),
  yaml("errors", () => repeated("]\n")),
];
