import { exportsOf } from "../exports.ts";
import type { Rule } from "../source.ts";

const WANTED = "meaning, units, defaults, errors";

/**
 * Exported functions, classes and interfaces say what they mean to whoever calls them. An interface may do so at its
 * members, and for `createPleg` it is enough that `Pleg`, exported from the same file, does.
 */
export const docComments: Rule = {
  name: "doc-comments",
  check: ({ sources }) =>
    sources.flatMap((source) => {
      const exported = exportsOf(source);
      const documented = new Set(exported.filter(({ hasDoc }) => hasDoc).map(({ name }) => name));
      return exported
        .filter(({ name, needsDoc, hasDoc }) => needsDoc && !hasDoc && !documented.has(name.replace(/^create/, "")))
        .map(({ name, line }) => ({
          file: source.path,
          line,
          message: `${name} is exported without a doc comment: ${WANTED}`,
        }));
    }),
};
