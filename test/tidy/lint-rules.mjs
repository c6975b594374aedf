/**
 * Refuses `void` before a promise, also as the body of an arrow function, where `no-floating-promises` does not look.
 * The operator hides a promise that may reject, and a rejection that nobody catches ends the process.
 */
export const noVoidPromise = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      uncaught: "`void` hides a promise: await it, or start it by `runInBackground`, which says what a failure ends",
    },
  },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
    const checker = program.getTypeChecker();
    const isPromise = (type) =>
      type.isUnion() ? type.types.some(isPromise) : checker.getPropertyOfType(type, "then") !== undefined;
    return {
      'UnaryExpression[operator="void"]'(node) {
        const type = checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(node.argument));
        if (isPromise(type)) context.report({ node, messageId: "uncaught" });
      },
    };
  },
};
