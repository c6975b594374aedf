import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { FULL, QUICK, QUICK_TURN, REPORT, type Sizes, TURN } from "./sizes.ts";

const NODE_CASES = ["single", "burst", "exit", "back-off", "idle", "ready"] as const;
const API_CASES = [
  "api-ready",
  "api-create",
  "api-watch",
  "api-list",
  "api-memory",
  "api-fair",
  "grow-objects",
  "grow-watchers",
  "grow-nodes",
] as const;
const CLUSTER_CASES = [
  "cluster-ready",
  "cluster-single",
  "cluster-delete",
  "cluster-burst",
  "cluster-delete-burst",
  "cluster-exit",
  "cluster-idle",
  "cluster-memory",
  "volumes-single",
  "volumes-burst",
  "volumes-watch",
  "cluster-restart",
  "cluster-files",
  "grow-volumes",
  "grow-pods",
  "grow-churn",
  "grow-secrets",
  "grow-relist",
] as const;
const UP_CASES = ["up-deployment", "up-idle", "up-dns", "up-endpoints"] as const;
const CASE_NAMES = [...NODE_CASES, ...CLUSTER_CASES, ...API_CASES, ...UP_CASES];
/** What the page tells of. */
const REPORT_CASES: readonly CaseName[] = [
  "ready",
  "single",
  "cluster-ready",
  "cluster-single",
  "cluster-delete",
  "cluster-burst",
  "cluster-delete-burst",
  "cluster-exit",
  "cluster-idle",
  "cluster-memory",
  "cluster-restart",
  "cluster-files",
  "grow-volumes",
  "grow-pods",
  "grow-churn",
  "grow-secrets",
  "grow-relist",
  "api-ready",
  "api-create",
  "api-list",
  "grow-objects",
  "grow-watchers",
  "grow-nodes",
  ...UP_CASES,
];
/** Cases of the node agent; they need root and containerd. */
export type NodeCaseName = (typeof NODE_CASES)[number];
/** Cases of the control plane; they need neither. */
export type ApiCaseName = (typeof API_CASES)[number];
/** Cases of the node agent as a node of a cluster; they need root and, but for some, containerd. */
export type ClusterCaseName = (typeof CLUSTER_CASES)[number];
/** Cases of a whole cluster, as `nodelet up` starts it; they need root and containerd. */
export type UpCaseName = (typeof UP_CASES)[number];
export type CaseName = NodeCaseName | ClusterCaseName | ApiCaseName | UpCaseName;

/** The cases that are run. */
export interface ChosenCases {
  nodeCases: readonly NodeCaseName[];
  clusterCases: readonly ClusterCaseName[];
  apiCases: readonly ApiCaseName[];
  upCases: readonly UpCaseName[];
}

export interface BenchOptions extends ChosenCases {
  json: boolean;
  sizes: Sizes;
  isQuick: boolean;
  /** How often each build has its turn. */
  rounds: number;
  /** The JavaScript file of nodelet. */
  program: string;
  /** What nodelet is compared with; undefined where it is measured by itself. */
  compare: Comparison | undefined;
  /** Whether the page is written: of this run, or anew of the run that it was written of. */
  report: "run" | "render" | undefined;
}

interface Comparison {
  /** A commit, by any name that git knows. */
  base: string;
  /** The cases are those that the changes since then may have slowed. */
  touched: boolean;
}

const PROGRAM = new URL("../dist/nodelet.js", import.meta.url).pathname;

export const USAGE = `Usage: npm run bench -- [--quick] [--json] [--only <case>]... [--program <file>]
       npm run bench -- --report [--quick] [--only <case>]... [--program <file>]
       npm run bench -- --compare <commit> [--touched] [--quick] [--only <case>]... [--program <file>]

Measures the node agent against bare CRI calls on a containerd of its own, which needs root and containerd: alone, and
as a node of a cluster (the cases cluster-… and volumes-…), where KUBELET_BIN names a Go kubelet beside that, and a whole
cluster that \`nodelet up\` starts (the cases up-…), where KUBE_PROXY_BIN, COREDNS_BIN and KUBE_CONTROLLER_MANAGER_BIN name
Go programs beside the same cluster with those in place of ours. Measures the control plane (the cases api-…) against bare disk writes and
HTTPS, which needs neither; where KUBEBUILDER_ASSETS names the directory of kube-apiserver and etcd, against those too. Needs \`npm run build\`.

With --compare it builds that commit beside this tree, lets the two have turns within the cases and prints the ratio of
each figure with its confidence interval. With --report it writes docs/performance.md.

  --quick        few samples: whether it works, not how fast it is
  --json         print one line of JSON instead of a table
  --only <case>  one of ${CASE_NAMES.join(", ")}; repeatable
  --program <f>  measure this build rather than dist/nodelet.js
  --report       run the cases of the page, in 25 to 45 minutes on a quiet machine, and write it: the figures go to
                 bench/report/newest-run.jsonl, the prose comes from bench/report/page-template.txt
  --render       write the page anew of the figures that are there
  --compare <c>  compare with the build of this commit
  --touched      only the cases that what was changed since that commit may slow; a run that fails says why and ends with
                 0, for this is what CI prints and nothing that it decides by`;

/** Undefined when help is asked for. Throws, saying why, for arguments that cannot be. */
export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      program: { type: "string", default: PROGRAM },
      report: { type: "boolean", default: false },
      render: { type: "boolean", default: false },
      compare: { type: "string" },
      touched: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const unknown = values.only.find((name) => !CASE_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no case ${JSON.stringify(unknown)}`);
  if (values.touched && values.compare === undefined) throw new Error("--touched needs --compare");
  if (values.touched && values.only.length > 0) throw new Error("--touched chooses the cases; --only does too");
  if ([values.json, values.report, values.render, values.compare !== undefined].filter(Boolean).length > 1) {
    throw new Error("one of --json, --report, --render and --compare at a time");
  }
  const all = values.report ? REPORT_CASES : CASE_NAMES;
  const sizes = chooseSizes(values);
  return {
    json: values.json,
    ...chooseCases(values.only.length === 0 ? all : values.only),
    sizes,
    isQuick: values.quick,
    rounds: sizes.rounds,
    program: resolve(values.program),
    compare: values.compare === undefined ? undefined : { base: values.compare, touched: values.touched },
    report: values.report ? "run" : values.render ? "render" : undefined,
  };
}

function chooseSizes({
  quick,
  compare,
  report,
}: {
  quick: boolean;
  compare?: string | undefined;
  report: boolean;
}): Sizes {
  if (compare !== undefined) return quick ? QUICK_TURN : TURN;
  if (quick) return QUICK;
  return report ? REPORT : FULL;
}

/** Those of these names, each kind in its order. */
export function chooseCases(names: readonly string[]): ChosenCases {
  const isAsked = (name: string) => names.includes(name);
  return {
    nodeCases: NODE_CASES.filter(isAsked),
    clusterCases: CLUSTER_CASES.filter(isAsked),
    apiCases: API_CASES.filter(isAsked),
    upCases: UP_CASES.filter(isAsked),
  };
}
