import ts from "typescript";
import { lineOf, nodeRule, type Rule, type Source } from "../source.ts";

/** Lines, from its first word to its closing brace. */
export const FUNCTION_LIMIT = 70;
export const TEST_FUNCTION_LIMIT = 120;

/**
 * A factory (`createX`) is a class without the word: what it returns and its inner functions are members, and each is
 * counted by itself. Together they may be this long.
 */
const FACTORY_LIMIT = 150;

/** A function fits on a screen; functions inside it count by themselves and not with it. */
export const functionLength: Rule = nodeRule("function-length", (node, source) => {
  if (!ts.isFunctionLike(node) || isDescribeBody(node)) return undefined;
  const limit = source.isTest ? TEST_FUNCTION_LIMIT : FUNCTION_LIMIT;
  const whole = countLines(node, source);
  const own = whole - countInner(node, source);
  if (own > limit) return `${nameOf(node)} has ${own} lines of its own; at most ${limit}`;
  if (!source.isTest && whole > FACTORY_LIMIT) return `${nameOf(node)} has ${whole} lines; at most ${FACTORY_LIMIT}`;
  return undefined;
});

/** Lines of the functions directly inside, without the one on which each begins. */
function countInner(node: ts.Node, source: Source): number {
  let lines = 0;
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child)) lines += countLines(child, source) - 1;
    else ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return lines;
}

function countLines(node: ts.Node, { ast }: Source): number {
  return lineOf(ast, node.getEnd()) - lineOf(ast, node.getStart(ast)) + 1;
}

/** `describe` groups tests; each of them is counted by itself. */
function isDescribeBody(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named ? named.getText() : "this function";
}
