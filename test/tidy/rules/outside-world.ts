import ts from "typescript";
import { LAYERS, type Layer, layerOf } from "../ranks.ts";
import { nodesOf, type Rule, type Source, type Violation, violationAt } from "../source.ts";

/** Node.js modules that compute and do nothing else. */
const PURE_MODULES = new Set(["assert", "buffer", "crypto", "path", "path/posix", "string_decoder", "url", "util"]);
/** What computes in a module that otherwise opens sockets or uses threads. */
const PURE_NAMES: Readonly<Record<string, readonly string[]>> = {
  http: ["STATUS_CODES"],
  net: ["BlockList", "isIP", "isIPv4", "isIPv6"],
  stream: ["Duplex", "Readable", "Writable"],
  zlib: ["constants", "deflateRawSync", "inflateRawSync"],
};
/** The names of `node:crypto` that are not pure; `*` and `default` hide which of them is used. */
const RANDOM_NAMES = /^(random.*|generate.*|\*|default)$/;
/** Packages that open sockets, files or streams by themselves. */
const WORLD_PACKAGES = new Set(["@grpc/grpc-js", "commander", "pino", "tar-stream"]);
const WORLD_GLOBALS = new Set([
  ...["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"],
  ...["process", "console", "performance", "fetch", "crypto", "globalThis", "WebSocket", "Worker"],
]);
const WORLD_MEMBERS = new Set(["Date.now", "Math.random", "AbortSignal.timeout"]);

const ADVICE = "take it from a port (Host, Cri, Log), so that the simulator can run this code";

/** Above the doors (rank 2) nothing touches the clock, randomness, files, sockets, processes or the console. */
export const outsideWorld: Rule = createOutsideWorldRule(LAYERS);

/** The rule over a table of layers. */
export function createOutsideWorldRule(layers: readonly Layer[]): Rule {
  const isPure = ({ path }: Source) => path.startsWith("src/") && layerOf(path, layers)?.touchesWorld !== true;
  return {
    name: "outside-world",
    check: ({ sources }) =>
      sources.filter(isPure).flatMap((source) => (source.isTest ? checkSleeps(source) : checkAll(source))),
  };
}

/** Tests may read golden files, but wait only by the fake clock. */
function checkSleeps(source: Source): Violation[] {
  return findGlobals(source, new Set(["setTimeout", "setInterval"])).map((node) =>
    violationAt(source, node, `${node.getText()} in a test: a fake clock, never a sleep`),
  );
}

function checkAll(source: Source): Violation[] {
  const imports = source.imports
    .filter(({ isRelative }) => !isRelative)
    .flatMap(({ target, names, line }) => {
      const module = target.replace(/^node:/, "");
      const areNamesPure = names.length > 0 && names.every((name) => PURE_NAMES[module]?.includes(name));
      const isPure = target.startsWith("node:")
        ? PURE_MODULES.has(module) || areNamesPure
        : !WORLD_PACKAGES.has(target);
      const random = module === "crypto" ? names.filter((name) => RANDOM_NAMES.test(name)) : [];
      if (isPure && random.length === 0) return [];
      return [{ file: source.path, line, message: `imports ${[target, ...random].join(" ")}: ${ADVICE}` }];
    });
  const uses = [...findGlobals(source, WORLD_GLOBALS), ...nodesOf(source).filter(isWorldExpression)];
  return [...imports, ...uses.map((node) => violationAt(source, node, `${node.getText()}: ${ADVICE}`))];
}

function isWorldExpression(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return WORLD_MEMBERS.has(node.getText());
  const isDate = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "Date";
  return isDate && (ts.isCallExpression(node) || (node.arguments?.length ?? 0) === 0);
}

/** Uses of these names where they mean the global: neither a member, nor a key, nor declared in the file. */
function findGlobals(source: Source, globals: ReadonlySet<string>): ts.Node[] {
  const mentions = nodesOf(source).filter((node) => ts.isIdentifier(node) && globals.has(node.text));
  const own = new Set(mentions.filter(isDeclaredHere).map((node) => node.getText()));
  return mentions.filter((node) => !own.has(node.getText()) && !isMemberOrKey(node) && !ts.isPartOfTypeNode(node));
}

function isDeclaredHere(node: ts.Node): boolean {
  const { parent } = node;
  const declares =
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent);
  return declares && parent.name === node;
}

function isMemberOrKey(node: ts.Node): boolean {
  const { parent } = node;
  const names =
    ts.isPropertyAccessExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isAccessor(parent);
  return names && parent.name === node;
}
