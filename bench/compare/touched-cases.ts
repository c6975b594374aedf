import type { CaseName } from "../options.ts";

const POD: readonly CaseName[] = ["single", "cluster-single", "cluster-delete"];
const BURST: readonly CaseName[] = ["cluster-burst", "cluster-delete-burst"];
const API: readonly CaseName[] = ["api-ready", "api-create", "api-watch", "api-list", "api-memory"];
const START: readonly CaseName[] = ["ready", "cluster-ready", "api-ready"];

/** What a change beneath a path may slow. A path may have several rows; no row of `src` is missing. */
const ROWS: ReadonlyArray<readonly [path: string, cases: readonly CaseName[]]> = [
  ["src/api", [...POD, "api-create", "api-list"]],
  ["src/base", [...POD, "api-create"]],
  ["src/cli", START],
  ["src/cluster", START],
  ["src/config", START],
  ["src/control-plane", API],
  ["src/control-plane/flow-control", ["api-fair"]],
  ["src/cri", [...POD, ...BURST]],
  ["src/csi", []],
  ["src/dashboard", []],
  ["src/device-plugin", []],
  ["src/dns", ["up-dns"]],
  ["src/dra", []],
  ["src/explain", []],
  ["src/grpc", [...POD, ...BURST]],
  ["src/history", POD],
  ["src/host", [...POD, "api-create", "api-watch"]],
  ["src/journal", API],
  ["src/kube", [...POD, "cluster-ready"]],
  ["src/node", POD],
  ["src/node/compose", ["ready", "cluster-ready", "cluster-memory"]],
  ["src/node/pods", BURST],
  ["src/node/runtime", BURST],
  ["src/node/storage", ["volumes-single"]],
  ["src/node/upkeep", ["cluster-idle", "cluster-memory"]],
  ["src/pki", START],
  ["src/plugin-registration", []],
  ["src/pod-resources", []],
  ["src/pods-api", []],
  ["src/proxy", ["up-endpoints"]],
  ["src/spdy", []],
  ["src/streams", []],
  ["src/testing", []],
  ["src/tracing", POD],
  ["package-lock.json", [...POD, ...START, "api-create"]],
  ["scripts/bundle.ts", [...POD, ...START, "api-create"]],
];

/** What is no part of the program. */
const NO_PROGRAM = /\.test\.ts$|\/__fixtures__\/|\/fake\//;

/** The cases that a change of these files may slow, each once. */
export function findTouchedCases(paths: readonly string[]): CaseName[] {
  const changed = paths.filter((path) => !NO_PROGRAM.test(path));
  const touched = ROWS.filter(([path]) => changed.some((of) => of === path || of.startsWith(`${path}/`)));
  return [...new Set(touched.flatMap(([, cases]) => cases))];
}

/** Whether it is known what changes beneath the folder may slow, be it nothing. */
export function hasCases(folder: string): boolean {
  return ROWS.some(([path]) => path === folder);
}
