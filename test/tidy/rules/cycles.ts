import type { Rule, Source } from "../source.ts";

/** No file imports itself by way of others, not even for its types. */
export const cycles: Rule = {
  name: "cycles",
  check({ sources }) {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const reported = new Set<string>();
    return findCycles(byPath).flatMap((cycle) => {
      const [first = "", second = ""] = cycle;
      // One violation for one ring of files, wherever the walk entered it.
      const ring = [...cycle].sort().join();
      if (reported.has(ring)) return [];
      reported.add(ring);
      const line = byPath.get(first)?.imports.find((item) => item.target === second)?.line ?? 1;
      return [{ file: first, line, message: `import cycle: ${[...cycle, first].join(" -> ")}` }];
    });
  },
};

/** At least one cycle of every group of files that import each other. */
function findCycles(byPath: ReadonlyMap<string, Source>): string[][] {
  const found: string[][] = [];
  const finished = new Set<string>();
  const walk = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      found.push(trail.slice(at));
      return;
    }
    if (finished.has(path)) return;
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (byPath.has(target)) walk(target, [...trail, path]);
    }
    finished.add(path);
  };
  for (const path of byPath.keys()) walk(path, []);
  return found;
}
