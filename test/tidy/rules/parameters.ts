import ts from "typescript";
import { nodeRule, type Rule } from "../source.ts";

/** Three are wanted, then one options object. */
const PARAMETER_LIMIT = 4;

/** Few parameters: a call must be readable without its declaration. */
export const parameters: Rule = nodeRule("parameters", (node, source) => {
  if (!ts.isFunctionLike(node) || (source.isTest && isArgument(node))) return undefined;
  const counted = node.parameters.filter((parameter) => parameter.name.getText() !== "this");
  if (counted.length <= PARAMETER_LIMIT) return undefined;
  return `${counted.length} parameters; at most ${PARAMETER_LIMIT}, then one options object`;
});

/** The columns of a table of cases: their number is the table's, not the function's. */
function isArgument(node: ts.SignatureDeclaration): boolean {
  return ts.isCallExpression(node.parent) && node.parent.expression !== node;
}
