import { describe, expect, it } from "vitest";
import { type ManifestDocument, parseManifest } from "./manifest.ts";

const pod = (name: string, more = "") =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers: []\n${more}`;
const only = (documents: ManifestDocument[]): ManifestDocument => {
  expect(documents).toHaveLength(1);
  return documents[0] ?? { document: 0, errors: [], warnings: [] };
};
const names = (documents: ManifestDocument[]) => documents.map((document) => document.pod?.metadata?.name);
const containerWith = (field: string) =>
  pod("a").replace("containers: []", `containers:\n  - name: main\n    ${field}`);

describe("documents", () => {
  it("reads one pod", () => {
    const { pod: read, errors, warnings, document } = only(parseManifest(pod("a")));
    expect({ errors, warnings, document }).toEqual({ errors: [], warnings: [], document: 1 });
    expect(read).toEqual({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [] } });
  });

  it("reads several and skips the empty ones, which still count", () => {
    const documents = parseManifest(`---\n${pod("a")}---\n# nothing\n---\n${pod("b")}---\n`);
    expect(documents.map(({ document }) => document)).toEqual([1, 3]);
    expect(names(documents)).toEqual(["a", "b"]);
  });

  it.each([
    ["nothing", ""],
    ["spaces", "\n  \n"],
    ["comments", "# a\n# b\n"],
    ["separators", "---\n---\n"],
    ["null", "null"],
  ])("finds no document in %s", (_, text) => {
    expect(parseManifest(text)).toEqual([]);
  });

  it("takes a good pod beside a bad one", () => {
    const documents = parseManifest(`${pod("a")}---\nkind: Nonsense\n---\n${pod("c")}`);
    expect(names(documents)).toEqual(["a", undefined, "c"]);
    expect(documents[1]?.errors).toHaveLength(1);
  });

  it("reads a byte order mark, CRLF and bytes", () => {
    const text = `\uFEFF${pod("a").replaceAll("\n", "\r\n")}`;
    expect(names(parseManifest(text))).toEqual(["a"]);
    expect(names(parseManifest(Buffer.from(text)))).toEqual(["a"]);
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(only(parseManifest(Buffer.from([0x61, 0xff, 0xfe]))).errors).toEqual(["not UTF-8 text"]);
  });
});

describe("JSON", () => {
  const json = { apiVersion: "v1", kind: "Pod", metadata: { name: "j" }, spec: { containers: [] } };

  it("is read, also with tabs and several documents", () => {
    expect(names(parseManifest(JSON.stringify(json, null, "\t")))).toEqual(["j"]);
    expect(names(parseManifest(`${JSON.stringify(json)}\n---\n${JSON.stringify(json)}\n`))).toEqual(["j", "j"]);
  });

  it("reads a flow mapping that only looks like JSON", () => {
    expect(names(parseManifest("{apiVersion: v1, kind: Pod, metadata: {name: f}, spec: {containers: []}}"))).toEqual([
      "f",
    ]);
  });

  it("that is cut off is one error with its place", () => {
    expect(only(parseManifest('{\n  "kind": "Pod",\n  "metadata": {"na')).errors[0]).toMatch(/line 3/);
  });
});

describe("lists", () => {
  const indented = (text: string) => text.trimEnd().replaceAll("\n", "\n  ");

  it.each(["List", "PodList"])("flattens a %s", (kind) => {
    const text = `apiVersion: v1\nkind: ${kind}\nitems:\n- ${indented(pod("a"))}\n- ${indented(pod("b"))}\n`;
    const documents = parseManifest(text);
    expect(names(documents)).toEqual(["a", "b"]);
    expect(documents.map(({ item }) => item)).toEqual([0, 1]);
  });

  it("lets the items of a PodList, but not of a List, leave out what they are", () => {
    const list = (kind: string) => JSON.stringify({ apiVersion: "v1", kind, items: [{ metadata: { name: "a" } }] });
    expect(names(parseManifest(list("PodList")))).toEqual(["a"]);
    expect(only(parseManifest(list("List"))).errors).toEqual([
      'items[0]: expected a Pod of apiVersion "v1", got kind "" of apiVersion ""',
    ]);
  });

  it("reports a bad item with its path and takes the good one", () => {
    const items = [{ apiVersion: "v1", kind: "Pod", spec: 1 }, JSON.parse('{"apiVersion":"v1","kind":"Pod"}')];
    const documents = parseManifest(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    expect(documents[0]?.errors).toEqual(["items[0].spec: expected object, got integer 1"]);
    expect(documents[1]?.pod).toBeDefined();
  });

  it.each([
    ["null", null],
    ["no", undefined],
    ["empty", []],
  ])("with %s items holds no pods", (_, items) => {
    expect(parseManifest(JSON.stringify({ apiVersion: "v1", kind: "PodList", items }))).toEqual([]);
  });

  it("is bounded", () => {
    const items = Array.from({ length: 5000 }, () => ({}));
    const documents = parseManifest(JSON.stringify({ apiVersion: "v1", kind: "PodList", items }));
    expect(documents).toHaveLength(2001);
    expect(documents.at(-1)?.errors).toEqual(["more than 2000 pods: the rest is not taken"]);
  });
});

describe("other kinds are refused by name", () => {
  const accepted = 'expected a Pod, PodList or List of apiVersion "v1"';
  it.each([
    [
      "apiVersion: apps/v1\nkind: Deployment\n",
      `${accepted}, got kind "Deployment" of apiVersion "apps/v1" without metadata`,
    ],
    ["apiVersion: v2\nkind: Pod\n", `${accepted}, got kind "Pod" of apiVersion "v2" without metadata`],
    ["apiVersion: v1\nkind: pod\n", `${accepted}, got kind "pod" of apiVersion "v1" without metadata`],
    ["metadata:\n  name: x\n", `${accepted}, got kind "" of apiVersion ""`],
    ["just text\n", `${accepted}, got no object`],
    ["- a\n- b\n", `${accepted}, got no object`],
  ])("%j", (text, error) => {
    expect(only(parseManifest(text)).errors).toEqual([error]);
  });
});

describe("YAML by Go's rules", () => {
  it.each([
    ["defaultMode: 0644", 420],
    ["defaultMode: 0o644", 420],
    ["defaultMode: 420", 420],
    ["defaultMode: 0x1A4", 420],
  ])("%s is %i", (field, mode) => {
    const text = `${pod("a")}  volumes:\n  - name: v\n    configMap:\n      ${field}\n`;
    expect(only(parseManifest(text)).pod?.spec?.volumes?.[0]?.configMap?.defaultMode).toBe(mode);
  });

  it.each([
    ['image: "yes"', "yes"],
    ["image: 2001-12-14", "2001-12-14"],
    ["image: 190:20:30", "190:20:30"],
    ["image: !!str 5", "5"],
    ["image: >-\n      a\n      b", "a b"],
    ["image: !!binary aGk=", "hi"],
  ])("%s is a string", (field, image) => {
    expect(only(parseManifest(containerWith(field))).pod?.spec?.containers[0]?.image).toBe(image);
  });

  it.each([
    ["image: yes", "got boolean true"],
    ["image: off", "got boolean false"],
    ["image: 1.10", "got number 1.1"],
    ["image: 0644", "got integer 420"],
    ["image: .nan", "got number NaN"],
  ])("%s is not", (field, got) => {
    expect(only(parseManifest(containerWith(field))).errors).toEqual([
      `spec.containers[0].image: expected string, ${got}`,
    ]);
  });

  it("merges maps, and shares nothing between those who alias", () => {
    const text = pod("a").replace(
      "containers: []",
      "containers:\n  - &base {name: a, image: x}\n  - <<: *base\n    name: b\n  - *base",
    );
    const containers = only(parseManifest(text)).pod?.spec?.containers ?? [];
    expect(containers).toEqual([
      { name: "a", image: "x" },
      { name: "b", image: "x" },
      { name: "a", image: "x" },
    ]);
    expect(containers[0]).not.toBe(containers[2]);
  });

  it("a label whose key reads as a boolean or number gets its JSON text", () => {
    const { pod: read } = only(parseManifest(pod("a").replace("  name: a", "  name: a\n  labels: {on: a, 010: b}")));
    expect(read?.metadata?.labels).toEqual({ true: "a", 8: "b" });
  });

  it("the last of duplicate keys wins, with a warning that names the line", () => {
    const { pod: read, warnings } = only(parseManifest(containerWith("image: a\n    image: b")));
    expect(read?.spec?.containers[0]?.image).toBe("b");
    expect(warnings).toEqual(['line 9: key "image" already set in map']);
  });

  it("warns about unknown fields", () => {
    expect(only(parseManifest(containerWith("imagee: a"))).warnings).toEqual([
      'unknown field "spec.containers[0].imagee"',
    ]);
  });
});

describe("text that cannot be read", () => {
  it.each([
    ["a tab as indentation", pod("a").replace("  name", "\tname"), /^line 4, column \d+: .*[Tt]ab/],
    ["an open quote", 'kind: "Pod\n', /^line \d+, column \d+: /],
    ["an unknown anchor", "kind: *nope\n", /^line 1, column 7: /],
    ["an anchor within itself", "kind: &a [*a]\n", /^line 1, column 11: anchor "a" contains itself/],
    ["an empty key", "? \n: x\n", /a key is empty/],
    ["a map as a key", "{a: b}: x\n", /a key is not a scalar/],
    ["a wrong tag", "kind: !!int x\n", /line 1, column \d+: cannot read "x" as !!int/],
    ["a wrong merge", "<<: x\n", /a merge/],
    ["deep nesting", `a: ${"[".repeat(1000)}${"]".repeat(1000)}\n`, /nested/],
    ["very deep nesting", `a: ${"[".repeat(100_000)}\n`, /nested|line 1/],
    ["NUL bytes", "\0\0\0", /expected a Pod|line 1/],
  ])("%s", (_, text, error) => {
    const { errors, pod: read } = only(parseManifest(text));
    expect(read).toBeUndefined();
    expect(errors[0]).toMatch(error);
  });

  it("CVE-2019-11253: bounds aliases of aliases", () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const previous = Array.from({ length: 10 }, () => (level === 0 ? "x" : `*l${level - 1}`));
      return `l${level}: &l${level} [${previous.join(", ")}]`;
    });
    const text = `${levels.join("\n")}\n${pod("a")}  initContainers: *l11\n`;
    expect(only(parseManifest(text)).errors.length).toBeGreaterThan(0);
  });
});
