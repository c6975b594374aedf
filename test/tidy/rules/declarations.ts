import ts from "typescript";
import { nodeRule, type Rule } from "../source.ts";

/** One name for one thing, everywhere: default exports get a new one at each import. */
export const noDefaultExport: Rule = nodeRule("no-default-export", (node) => {
  const isAssignment = ts.isExportAssignment(node);
  const isModifier = ts.canHaveModifiers(node) && hasModifier(node, ts.SyntaxKind.DefaultKeyword);
  const isRenamed = ts.isExportSpecifier(node) && node.name.text === "default";
  return isAssignment || isModifier || isRenamed ? "export it by its name" : undefined;
});

/** Unions of literals need no run time and narrow by themselves. */
export const noEnum: Rule = nodeRule("no-enum", (node) =>
  ts.isEnumDeclaration(node) ? `enum ${node.name.text}: use a union of literals` : undefined,
);

/** Behaviour is composed; only errors extend. */
export const noInheritance: Rule = nodeRule("no-inheritance", (node) => {
  if (!ts.isHeritageClause(node) || node.token !== ts.SyntaxKind.ExtendsKeyword) return undefined;
  if (!ts.isClassLike(node.parent)) return undefined;
  const base = node.types[0]?.expression.getText() ?? "";
  return /Error$/.test(base) ? undefined : `extends ${base}: classes do not inherit, except errors`;
});

function hasModifier(node: ts.HasModifiers, kind: ts.SyntaxKind): boolean {
  return ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false;
}
