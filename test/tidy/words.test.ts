import { describe, expect, it } from "vitest";
import { checkRule, formatViolations } from "./apply-exceptions.ts";
import { noEnum } from "./rules/declarations.ts";
import { dependencies } from "./rules/dependencies.ts";
import { foreignPaths, links } from "./rules/foreign-paths.ts";
import { noFragments } from "./rules/fragments.ts";
import { everyTestRuns, noLooseEnds } from "./rules/left-behind.ts";
import { declaredNames, fileNames } from "./rules/names.ts";
import { findIn, linesFoundIn, treeOf } from "./tree-of.ts";

/** Written apart, so that this file keeps the rule that it tests. */
const NOTE = ["TO", "DO"].join("");
const HOME = ["", "home", "ann", "nodelet"].join("/");

describe("file-names", () => {
  it.each(["pod-actions.ts", "pod-actions.test.ts", "plan.property.test.ts", "v1.ts", "start.mjs"])(
    "accepts %s",
    (name) => {
      expect(findIn(fileNames, { [`src/a/${name}`]: "" })).toEqual([]);
    },
  );

  it.each([
    "podActions.ts",
    "PodActions.ts",
    "pod_actions.mjs",
    "plan.property.ts",
    "util.ts",
    "pod-utils.ts",
    "test-helpers.test.ts",
  ])("refuses %s", (name) => {
    expect(findIn(fileNames, { [`src/a/${name}`]: "" })).toEqual([`src/a/${name}:1`]);
  });
});

describe("declared-names", () => {
  it.each([
    "class PodManager {}",
    "function helperFor() {}",
    "const podUtils = 1;",
    "interface Manager {}",
    "type IoHelper = 1;",
  ])("refuses %s", (line) => {
    expect(linesFoundIn(declaredNames, "src/a.ts", line)).toEqual([1]);
  });

  it.each([
    'import { inspect } from "node:util";',
    "const utilization = 1;",
    "config.cpuManagerPolicy;",
    "interface C { cpuManagerPolicy: string }",
  ])("accepts %s", (line) => {
    expect(linesFoundIn(declaredNames, "src/a.ts", line)).toEqual([]);
  });
});

describe("no-fragments", () => {
  it("finds a comment without a subject, of every kind", () => {
    const lines = ["// Of a pod.", "/** Of the node. */", "const a = 1; // Of a.", "/**", " * Of all of them.", " */"];
    expect(linesFoundIn(noFragments, "src/a.ts", ...lines)).toEqual([1, 2, 3, 4]);
  });

  it("leaves sentences and strings alone", () => {
    const lines = ["// The names of pods.", 'const text = "// Of a pod.";', "// Offers a pod."];
    expect(linesFoundIn(noFragments, "src/a.ts", ...lines)).toEqual([]);
  });
});

describe("no-loose-ends", () => {
  it("finds a note in every kind of comment", () => {
    const lines = [
      `// ${NOTE} later`,
      "function f() {",
      `  g(); // ${NOTE}`,
      `  /* ${NOTE} */`,
      "}",
      `function g() { /* ${NOTE} */ }`,
      "/**",
      ` * ${NOTE} starts on the line of its comment`,
      " */",
    ];
    expect(linesFoundIn(noLooseEnds, "src/a.ts", ...lines)).toEqual([1, 3, 4, 6, 7]);
  });

  it("looks for words, and in comments only", () => {
    expect(linesFoundIn(noLooseEnds, "src/a.ts", `const text = "// ${NOTE}";`, `// a${NOTE}b`)).toEqual([]);
  });
});

describe("every-test-runs", () => {
  const member = (name: string) => ["it", name].join(".");

  it.each(["only", "skip", "todo"])("refuses a test that is marked %s", (name) => {
    expect(linesFoundIn(everyTestRuns, "src/a.test.ts", `${member(name)}("a", () => 1);`)).toEqual([1]);
    expect(linesFoundIn(everyTestRuns, "src/a.test.ts", `describe.${name}.each([])("a", () => 1);`)).toEqual([1]);
  });

  it("accepts a test that says what it needs", () => {
    expect(linesFoundIn(everyTestRuns, "src/a.test.ts", 'it.skipIf(!isRoot)("a", () => 1); reader.skip(1);')).toEqual(
      [],
    );
  });
});

describe("foreign-paths", () => {
  it("refuses homes, and what lies above the repository", () => {
    const climbing = "../".repeat(2);
    const files = {
      "README.md": `see ${HOME}/notes\nand ${climbing}elsewhere`,
      "docs/a.md": "see ../README.md",
      "src/a.ts": `import "${climbing}other/x.ts";`,
    };
    expect(findIn(foreignPaths, files)).toEqual(["README.md:1", "README.md:2", "src/a.ts:1"]);
  });

  it("accepts paths of every machine", () => {
    expect(
      findIn(foreignPaths, { "docs/a.md": "/var/lib/kubelet, /usr/share/home/x, https://example.com/home/page" }),
    ).toEqual([]);
  });
});

describe("links", () => {
  it("finds a link to nothing", () => {
    const text = "[a](b.md) [c](../README.md#top) [d](#here) [e](https://example.com)\n[f](gone.md) ![g](../gone.svg)";
    expect(findIn(links, { "docs/a.md": text, "docs/b.md": "", "README.md": "[docs](docs/)" })).toEqual([
      "docs/a.md:2",
      "docs/a.md:2",
    ]);
  });
});

describe("dependencies", () => {
  const manifest = JSON.stringify({ dependencies: { pino: "10.3.1" }, devDependencies: { tsx: "^4.0.0" } });

  it("wants exact versions, and one register line for each package", () => {
    const files = { "package.json": manifest, "docs/dependencies.md": "| `tsx`    | runs |\n| `zod` | gone |" };
    expect(dependencies.check(treeOf(files)).map(({ message }) => message)).toEqual([
      "pino has no line in docs/dependencies.md",
      "tsx ^4.0.0: versions are exact",
      "zod is not in package.json",
    ]);
  });
});

describe("exceptions", () => {
  const tree = treeOf({ "src/a.ts": "enum A {}\nenum B {}" });
  const allowing = (count: number) => [{ rule: "no-enum", file: "src/a.ts", count, reason: "for the test" }];

  it.each([
    ["fewer than there are", 1, ["src/a.ts:1", "src/a.ts:2"]],
    ["as many as there are", 2, []],
    ["more than there are", 3, ["src/a.ts:1"]],
  ])("that allow %s", (_, count, expected) => {
    const violations = checkRule(noEnum, tree, allowing(count));
    expect(violations.map(({ file, line }) => `${file}:${line}`)).toEqual(expected);
  });

  it("of other rules and files change nothing", () => {
    const others = [
      { rule: "casts", file: "src/a.ts", count: 2, reason: "for the test" },
      { rule: "no-enum", file: "src/b.ts", count: 0, reason: "for the test" },
    ];
    expect(checkRule(noEnum, tree, others)).toHaveLength(2);
  });

  it("leave a message that names file, line and rule", () => {
    expect(formatViolations(noEnum, checkRule(noEnum, tree, []))).toBe(
      [
        "2 violations of no-enum",
        "src/a.ts:1 [no-enum] enum A: use a union of literals",
        "src/a.ts:2 [no-enum] enum B: use a union of literals",
      ].join("\n"),
    );
  });
});
