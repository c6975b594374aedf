import ts from "typescript";
import { commentsOf } from "../comments.ts";
import { nodeRule, type Rule } from "../source.ts";

/** No `any`: what comes from outside is `unknown` until it is decoded. */
export const noAny: Rule = nodeRule("no-any", (node) =>
  node.kind === ts.SyntaxKind.AnyKeyword ? "`any` switches the compiler off: use `unknown` and decode it" : undefined,
);

/** No `x!`: absence is handled or asserted with a message. */
export const noNonNull: Rule = nodeRule("no-non-null", (node) => {
  const isDefinite =
    ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) ? node.exclamationToken : undefined;
  if (!ts.isNonNullExpression(node) && !isDefinite) return undefined;
  return "`!` claims what nobody checked: handle the absence, or `assert` it with a message";
});

/** No comment that silences the compiler. */
export const noSilencing: Rule = {
  name: "no-silencing",
  check: ({ sources }) =>
    sources.flatMap((source) =>
      commentsOf(source)
        .filter(({ text }) => /^\W*@ts-(ignore|nocheck|expect-error)\b/.test(text))
        .map(({ line }) => ({ file: source.path, line, message: "the compiler is right until proven otherwise" })),
    ),
};
