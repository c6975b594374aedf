import { exportsOf } from "../exports.ts";
import { FAKES, isBelow } from "../ranks.ts";
import type { Rule, Source } from "../source.ts";

/**
 * An exported name is defined once in `src/`, so that its reader need not look which one is meant: what is the same
 * thing lives in one place, and what is not has a name of its own. Fakes and what tests share may repeat a name.
 */
export const oneName: Rule = {
  name: "one-name",
  check({ sources }) {
    const firstFiles = new Map<string, string>();
    return sources.filter(isProduct).flatMap((source) =>
      exportsOf(source).flatMap(({ name, line, isDefinition }) => {
        if (!isDefinition) return [];
        const first = firstFiles.get(name);
        if (first === undefined) {
          firstFiles.set(name, source.path);
          return [];
        }
        const message = `${name} is exported by ${first}, too: use that one, or find a name of its own`;
        return [{ file: source.path, line, message }];
      }),
    );
  },
};

function isProduct({ path, isTest }: Source): boolean {
  return path.startsWith("src/") && !isTest && !FAKES.some((fake) => isBelow(path, fake));
}
