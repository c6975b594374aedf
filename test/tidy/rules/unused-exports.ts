import { type ExportedName, exportsOf } from "../exports.ts";
import { ENTRY_POINTS } from "../ranks.ts";
import type { Rule, Source } from "../source.ts";

/**
 * What is exported is imported somewhere. A type may also be exported because an export of the same file speaks of
 * it: callers need its name even if none does yet.
 */
export const unusedExports: Rule = {
  name: "unused-exports",
  check({ sources }) {
    const used = collectUses(sources);
    return sources
      .filter(({ path }) => !ENTRY_POINTS.includes(path))
      .flatMap((source) =>
        exportsOf(source)
          .filter((exported) => !isUsed(source, exported, used))
          .map(({ name, line }) => ({
            file: source.path,
            line,
            message: `${name} is exported, but nothing imports it`,
          })),
      );
  },
};

function isUsed(source: Source, exported: ExportedName, used: ReadonlySet<string>): boolean {
  if (used.has(`${source.path} ${exported.name}`) || used.has(`${source.path} *`)) return true;
  return exported.isType && countWords(source.text, exported.name) > 1;
}

/** `path name` of every import; a re-export counts as one. */
function collectUses(sources: readonly Source[]): Set<string> {
  return new Set(
    sources.flatMap(({ imports }) => imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))),
  );
}

function countWords(text: string, word: string): number {
  return text.split(/[^\w$]+/).filter((part) => part === word).length;
}
