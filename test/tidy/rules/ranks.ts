import { FAKES, isBelow, LAYERS, type Layer, layerOf } from "../ranks.ts";
import { type Import, isTestPath, type Rule, type Source } from "../source.ts";

/** Imports point down only; folders of one rank do not import each other; fakes are for tests. */
export const ranks: Rule = createRanksRule(LAYERS, FAKES);

/** The rule over a table of layers. */
export function createRanksRule(layers: readonly Layer[], fakes: readonly string[]): Rule {
  const isFake = (path: string) => fakes.some((fake) => isBelow(path, fake));

  const judgeImport = (source: Source, layer: Layer, { target }: Import): string | undefined => {
    if (!target.startsWith("src/")) return `src/ does not import from ${target}: what it needs lives in src/`;
    const to = layerOf(target, layers);
    if (!to) return undefined; // Reported once, at the file itself.
    if (isFake(target) && !isFake(source.path) && source.isTest) return undefined;
    if ((isFake(target) || isTestPath(target)) && !isFake(source.path) && !source.isTest) {
      return `${target} is for tests: only tests and fakes import it`;
    }
    if (to.path === layer.path || to.rank < layer.rank || layer.alsoImports?.includes(to.path)) return undefined;
    const why = to.rank === layer.rank ? "folders of one rank do not import each other" : "imports point down only";
    return `${layer.path} (rank ${layer.rank}) imports ${target} of ${to.path} (rank ${to.rank}): ${why}`;
  };

  const checkSource = (source: Source) => {
    const layer = layerOf(source.path, layers);
    if (!layer) return [{ file: source.path, line: 1, message: "its folder has no rank: give it one in ranks.ts" }];
    return source.imports
      .filter((item) => item.isRelative)
      .flatMap((item) => {
        const message = judgeImport(source, layer, item);
        return message === undefined ? [] : [{ file: source.path, line: item.line, message }];
      });
  };

  return {
    name: "ranks",
    check: ({ sources }) => sources.filter(({ path }) => path.startsWith("src/")).flatMap(checkSource),
  };
}
