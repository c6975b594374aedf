import { posix } from "node:path";
import ts from "typescript";
import { nodeRule, type Rule } from "../source.ts";

/** Where the parts of the node agent are joined. */
const COMPOSITION = "src/node/compose";

/**
 * Names of what somebody asks for or the runtime tells, in any spelling of a variable or a property: a pod and its
 * mirror, a container, an object's parts, the state of a worker.
 */
const DATA = /^(pod|\w+Pod|mirror|\w+Mirror|subject|container|status|phase|state|spec|metadata|annotations|labels)$/;

/** The methods of lists that take a condition. */
const SEARCHES = /^(filter|find|findIndex|findLast|every|some)$/;

/**
 * Composition wires and decides nothing. In the files of `src/node/compose/` there is
 * - no state: no `let` or `var`, and no `new` of a Map, a Set or their weak kinds;
 * - no loop: neither a statement (`for`, `while`, `do`) nor `forEach`;
 * - no branch on data: the condition of an `if`, a `switch`, a `?:`, the left side of `&&`, `||` and `??`, what stands
 *   before `?.`, the sides of a comparison, and the callback of a search through a list name no pod, mirror, container,
 *   subject, status, phase, state, spec, metadata, annotations or labels. Names count and not types, since the rules read
 *   syntax alone. Undefined parts of the node agent and the configuration may be asked.
 */
export const composition: Rule = nodeRule("composition", (node, source) => {
  if (posix.dirname(source.path) !== COMPOSITION || source.isTest) return undefined;
  return findState(node) ?? findLoop(node) ?? findBranch(node);
});

function findState(node: ts.Node): string | undefined {
  if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.Const) === 0) {
    return "composition keeps no state: `let` belongs into the room that it is about";
  }
  if (ts.isNewExpression(node) && /^(Weak)?(Map|Set)$/.test(node.expression.getText())) {
    return `composition keeps no state: a ${node.expression.getText()} belongs into the room that it is about`;
  }
  return undefined;
}

function findLoop(node: ts.Node): string | undefined {
  const isEach = ts.isPropertyAccessExpression(node) && node.name.text === "forEach";
  return ts.isIterationStatement(node, false) || isEach
    ? "composition does nothing one after another: a loop belongs into the room that it is about"
    : undefined;
}

function findBranch(node: ts.Node): string | undefined {
  const name = conditionsOf(node)
    .flatMap(namesIn)
    .find((each) => DATA.test(each));
  return name === undefined
    ? undefined
    : `composition decides nothing: a condition on \`${name}\` belongs into the room that it is about`;
}

/** The expressions that this node asks something about. */
function conditionsOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isIfStatement(node) || ts.isSwitchStatement(node)) return [node.expression];
  if (ts.isConditionalExpression(node)) return [node.condition];
  if (ts.isBinaryExpression(node)) return operandsOf(node);
  if (isOptionalLink(node)) return [node.expression];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) return [node.operand];
  if (ts.isCallExpression(node) && isSearch(node.expression)) return [...node.arguments];
  return [];
}

function operandsOf({ operatorToken, left, right }: ts.BinaryExpression): readonly ts.Node[] {
  switch (operatorToken.kind) {
    case ts.SyntaxKind.AmpersandAmpersandToken:
    case ts.SyntaxKind.BarBarToken:
    case ts.SyntaxKind.QuestionQuestionToken:
      return [left];
    case ts.SyntaxKind.EqualsEqualsEqualsToken:
    case ts.SyntaxKind.ExclamationEqualsEqualsToken:
    case ts.SyntaxKind.LessThanToken:
    case ts.SyntaxKind.LessThanEqualsToken:
    case ts.SyntaxKind.GreaterThanToken:
    case ts.SyntaxKind.GreaterThanEqualsToken:
      return [left, right];
    default:
      return [];
  }
}

function isOptionalLink(
  node: ts.Node,
): node is ts.PropertyAccessExpression | ts.ElementAccessExpression | ts.CallExpression {
  const isLink = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node);
  return isLink && node.questionDotToken !== undefined;
}

function isSearch(callee: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(callee) && SEARCHES.test(callee.name.text);
}

function namesIn(node: ts.Node): string[] {
  const names: string[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isIdentifier(child)) names.push(child.text);
    ts.forEachChild(child, visit);
  };
  visit(node);
  return names;
}
