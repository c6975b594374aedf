import { posix } from "node:path";
import ts from "typescript";

/** What the rules look at. Paths are relative to the repository, with `/`. */
export interface Tree {
  /** Hand-written TypeScript and JavaScript, parsed once. */
  sources: readonly Source[];
  /** Everything that people read, sources included. */
  texts: readonly TextFile[];
  /** Every path of the repository that may be linked to, folders included. */
  paths: ReadonlySet<string>;
}

/** A file of text, which the rules about words look at. */
export interface TextFile {
  path: string;
  text: string;
}

export interface Source extends TextFile {
  ast: ts.SourceFile;
  lineCount: number;
  /** A test beside its source, what several of those share (`__fixtures__/`), or anything under `test/` and `bench/`. */
  isTest: boolean;
  imports: readonly Import[];
}

/** One import, re-export or `import()`. */
export interface Import {
  /** The file's path where the specifier is relative, else the package or Node.js module. */
  target: string;
  isRelative: boolean;
  /** The imported names; `*` for all of them. */
  names: readonly string[];
  line: number;
}

/** What is wrong, and where. */
export interface Violation {
  file: string;
  line: number;
  message: string;
}

/** One rule of the style, pure over the tree. */
export interface Rule {
  /** As the exceptions name it. */
  name: string;
  check(tree: Tree): Violation[];
}

/** Parses without resolving anything: the rules are syntactic, so that the whole run takes seconds. */
export function parseSource(path: string, text: string): Source {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const lineCount = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return { path, text, ast, lineCount, isTest: isTestPath(path), imports: importsOf(path, ast) };
}

/** True for what exists for tests and benches only. */
export function isTestPath(path: string): boolean {
  return /^(test|bench)\/|\/__fixtures__\/|\.test\.ts$/.test(path);
}

/** 1-based. */
export function lineOf(ast: ts.SourceFile, position: number): number {
  return ast.getLineAndCharacterOfPosition(position).line + 1;
}

/** A violation at a node of a source. */
export function violationAt(source: Source, node: ts.Node, message: string): Violation {
  return { file: source.path, line: lineOf(source.ast, node.getStart(source.ast)), message };
}

/** A rule that looks at each node by itself: `judge` returns what is wrong with it, or undefined. */
export function nodeRule(name: string, judge: (node: ts.Node, source: Source) => string | undefined): Rule {
  return {
    name,
    check: ({ sources }) =>
      sources.flatMap((source) =>
        nodesOf(source).flatMap((node) => {
          const message = judge(node, source);
          return message === undefined ? [] : [violationAt(source, node, message)];
        }),
      ),
  };
}

const nodesBySource = new WeakMap<Source, ts.Node[]>();

/** Every node, parents first. Kept, because most rules ask. */
export function nodesOf(source: Source): readonly ts.Node[] {
  const known = nodesBySource.get(source);
  if (known) return known;
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source.ast);
  nodesBySource.set(source, nodes);
  return nodes;
}

function importsOf(path: string, ast: ts.SourceFile): Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, names: string[]) => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    const isRelative = specifier.text.startsWith(".");
    const target = isRelative ? posix.join(posix.dirname(path), specifier.text) : specifier.text;
    imports.push({ target, isRelative, names, line: lineOf(ast, specifier.getStart(ast)) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOfImport(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, namesOfReExport(node.exportClause));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, ["*"]);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], ["*"]);
    }
    ts.forEachChild(node, visit);
  };
  visit(ast);
  return imports;
}

function namesOfImport(clause: ts.ImportClause | undefined): string[] {
  if (!clause) return [];
  const names = clause.name ? ["default"] : [];
  const bindings = clause.namedBindings;
  if (!bindings) return names;
  if (ts.isNamespaceImport(bindings)) return [...names, "*"];
  return [...names, ...bindings.elements.map((element) => (element.propertyName ?? element.name).text)];
}

function namesOfReExport(clause: ts.NamedExportBindings | undefined): string[] {
  if (!clause || ts.isNamespaceExport(clause)) return ["*"];
  return clause.elements.map((element) => (element.propertyName ?? element.name).text);
}
