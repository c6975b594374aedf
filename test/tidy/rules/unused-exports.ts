import { exportsOf } from "../exports.ts";
import { ENTRY_POINTS } from "../ranks.ts";
import type { Rule, Source } from "../source.ts";

/** What is exported is imported somewhere: a type that only its own file speaks of needs no export. */
export const unusedExports: Rule = {
  name: "unused-exports",
  check({ sources }) {
    const used = collectUses(sources);
    const isUsed = (path: string, name: string) => used.has(`${path} ${name}`) || used.has(`${path} *`);
    return sources
      .filter(({ path }) => !ENTRY_POINTS.includes(path))
      .flatMap((source) =>
        exportsOf(source)
          .filter(({ name }) => !isUsed(source.path, name))
          .map(({ name, line }) => ({
            file: source.path,
            line,
            message: `${name} is exported, but nothing imports it`,
          })),
      );
  },
};

/** `path name` of every import; a re-export counts as one. */
function collectUses(sources: readonly Source[]): Set<string> {
  return new Set(
    sources.flatMap(({ imports }) => imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))),
  );
}
