import ts from "typescript";
import { commentsOf } from "../comments.ts";
import { nodeRule, type Rule } from "../source.ts";

const NOTE = /\b(TODO|FIXME|XXX|HACK)\b/;
const TEST_FUNCTIONS = new Set(["it", "test", "describe", "bench"]);
const LEFTOVERS = new Set(["only", "skip", "todo", "fails"]);

/** Work that is left goes into an issue; a comment says what is, and why. */
export const noLooseEnds: Rule = {
  name: "no-loose-ends",
  check: ({ sources }) =>
    sources.flatMap((source) =>
      commentsOf(source).flatMap(({ text, line }) => {
        const note = NOTE.exec(text)?.[1];
        return note
          ? [{ file: source.path, line, message: `${note}: do it, or open an issue and say what holds now` }]
          : [];
      }),
    ),
};

/** Every test runs; one that needs a machine it may not have says so with `skipIf`, which counts. */
export const everyTestRuns: Rule = nodeRule("every-test-runs", (node) => {
  if (!ts.isPropertyAccessExpression(node) || !LEFTOVERS.has(node.name.text)) return undefined;
  const subject = node.expression.getText().split(".")[0] ?? "";
  return TEST_FUNCTIONS.has(subject)
    ? `${node.getText()}: every test runs, or says with skipIf what it lacks`
    : undefined;
});
