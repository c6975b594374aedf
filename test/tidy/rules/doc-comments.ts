import { documentedInterfaces, exportsOf } from "../exports.ts";
import type { Rule } from "../source.ts";

const WANTED = "meaning, units, defaults, errors";

/**
 * Exported functions, classes and interfaces say what they mean to whoever calls them. An interface may do so at its
 * members, and for `createPleg` it is enough that `Pleg`, declared in the same file, does. What a factory is handed
 * (`PlegDeps`) is explained by the ports that it names. Tests and tools explain themselves by what they do.
 */
export const docComments: Rule = {
  name: "doc-comments",
  check: ({ sources }) =>
    sources.filter(isProduct).flatMap((source) => {
      const documented = documentedInterfaces(source);
      return exportsOf(source)
        .filter(({ name }) => !name.endsWith("Deps"))
        .filter(({ name, needsDoc, hasDoc }) => needsDoc && !hasDoc && !documented.has(name.replace(/^create/, "")))
        .map(({ name, line }) => ({
          file: source.path,
          line,
          message: `${name} is exported without a doc comment: ${WANTED}`,
        }));
    }),
};

function isProduct({ path, isTest }: { path: string; isTest: boolean }): boolean {
  return path.startsWith("src/") && !isTest;
}
