import { expect, it } from "vitest";
import { composition } from "./rules/composition.ts";
import { linesFoundIn } from "./tree-of.ts";

const FILE = "src/node/compose/loop.ts";

it.each([
  "let states = new Array();",
  "for (let i = 0; ; ) f();",
  "const outlived = new Set<string>();",
  "const known = new WeakMap();",
  "for (const keeper of keepers) keeper.forget(uid);",
  "while (f()) g();",
  "keepers.forEach((keeper) => keeper.forget(uid));",
  "if (isStaticPod(pod)) f();",
  "if (kind !== 'readiness' && subject.kind === 'pod') f();",
  "switch (state.phase) { default: f(); }",
  "const shown = mirrorPod === undefined ? a : b;",
  "const shown = mirror ?? fallback;",
  "const name = pod.metadata?.name;",
  "const labels = node?.metadata.labels ?? {};",
  "const isOver = phase === last;",
  "const isWanted = !status.phase;",
  "const one = list.find(({ metadata }) => f(metadata));",
  "const running = all.filter(({ state }) => state === 'running');",
])("refuses in composition: %s", (line) => {
  expect(linesFoundIn(composition, FILE, line)).not.toEqual([]);
});

it.each([
  "const workers = composeWorkers(foundation, { runtime });",
  "if (cluster === undefined) return [];",
  "if (kubelet.cgroupsPerQOS === false) return NONE;",
  "const refs = cluster?.refs;",
  "const collect = cgroups.pods?.collect;",
  "const errors = [csi.error()].filter((error) => error !== undefined);",
  "const forget = (uid) => statuses.get(uid)?.podIP;",
  "const root = path === '' ? '/' : path;",
  "const observe = (node) => network.observe(readPodCidrs(node));",
  "const pod = f(), status = g(pod);",
])("has nothing against: %s", (line) => {
  expect(linesFoundIn(composition, FILE, line)).toEqual([]);
});

it("says nothing of other rooms, nor of tests", () => {
  const line = "let pod = new Map();";
  expect(linesFoundIn(composition, "src/node/pods/loop/sync-loop.ts", line)).toEqual([]);
  expect(linesFoundIn(composition, "src/node/compose/cgroups.test.ts", line)).toEqual([]);
});
