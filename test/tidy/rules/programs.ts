import ts from "typescript";
import { isBelow } from "../ranks.ts";
import { nodesOf, type Rule, type Source, type Violation, violationAt } from "../source.ts";

const MODULE = /^(node:)?child_process$/;
/** What takes one text for a shell to read; `execFile` and `spawn` take a list of arguments. */
const SHELL_NAMES = new Set(["exec", "execSync", "*", "default"]);
/** Where programs are started: behind the port `Programs`, and by the commands that start the parts of a cluster. */
const STARTERS = ["src/host/linux/system/start-process.ts", "src/cluster", "src/cli", "src/testing"];

/**
 * Nothing is started through a shell, in tests and scripts neither: what a pod's author writes would be read as a
 * command. The node's own programs are started in one place, which bounds their time and their output.
 */
export const programs: Rule = {
  name: "programs",
  check: ({ sources }) => sources.filter(startsPrograms).flatMap(checkSource),
};

function startsPrograms({ imports }: Source): boolean {
  return imports.some(({ target }) => MODULE.test(target));
}

function checkSource(source: Source): Violation[] {
  const imports = source.imports.filter(({ target }) => MODULE.test(target));
  const texts = imports.flatMap(({ names, line }) =>
    names
      .filter((name) => SHELL_NAMES.has(name))
      .map((name) => ({ file: source.path, line, message: `${name} of child_process may start a shell: use spawn` })),
  );
  const shells = nodesOf(source)
    .filter((node) => ts.isPropertyAssignment(node) && node.name.getText() === "shell" && !isFalse(node.initializer))
    .map((node) => violationAt(source, node, "a shell reads what was meant as an argument: give a list"));
  return [...texts, ...shells, ...checkPlace(source, imports)];
}

function checkPlace(source: Source, imports: Source["imports"]): Violation[] {
  const isProduct = source.path.startsWith("src/") && !source.isTest;
  if (!isProduct || STARTERS.some((place) => isBelow(source.path, place))) return [];
  const message = "starts programs: take the port Programs, which bounds their time and their output";
  return imports.map(({ line }) => ({ file: source.path, line, message }));
}

const isFalse = (node: ts.Expression) => node.kind === ts.SyntaxKind.FalseKeyword;
