import { resolve } from "node:path";
import { parseArgs } from "node:util";

const NODE_CASES = ["single", "burst", "exit", "back-off", "idle", "ready"] as const;
const API_CASES = ["api-ready", "api-create", "api-watch", "api-list", "api-memory"] as const;
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
] as const;
const CASE_NAMES = [...NODE_CASES, ...CLUSTER_CASES, ...API_CASES];
/** Cases of the node agent; they need root and containerd. */
export type NodeCaseName = (typeof NODE_CASES)[number];
/** Cases of the control plane; they need neither. */
export type ApiCaseName = (typeof API_CASES)[number];
/** Cases of the node agent as a node of a cluster; they need root and containerd. */
export type ClusterCaseName = (typeof CLUSTER_CASES)[number];
export type CaseName = NodeCaseName | ClusterCaseName | ApiCaseName;

export interface BenchOptions {
  json: boolean;
  nodeCases: readonly NodeCaseName[];
  clusterCases: readonly ClusterCaseName[];
  apiCases: readonly ApiCaseName[];
  sizes: Sizes;
  /** The JavaScript file of nodelet. */
  program: string;
}

/** How much is measured. */
export interface Sizes {
  /** Pods that are started and stopped one at a time, on either side. */
  singlePods: number;
  burstPods: number;
  burstRounds: number;
  /** Pods whose containers end one after another, and how many containers each has. */
  exitPods: number;
  exitContainers: number;
  crashingPods: number;
  idlePods: number;
  idleSeconds: number;
  agentStarts: number;
  /** Pods that are created at once, and how often. */
  clusterBursts: ReadonlyArray<{ pods: number; rounds: number }>;
  clusterIdlePods: number;
  clusterIdleSeconds: number;
  /** Pods with volumes, and as many without, started one at a time. */
  volumePairs: number;
  /** The same at once. */
  volumeBurstPods: number;
  /** Config maps that are mounted, and by how many pods. */
  volumeConfigMaps: number;
  volumeConfigMapPods: number;
  /** Starts of the control plane on nothing, and as many on what the one before left. */
  apiStarts: number;
  /** Pods created one at a time. */
  apiCreates: number;
  /** Pods created by several clients at a time. */
  apiParallelCreates: number;
  apiWatchers: number;
  apiWatchSeconds: number;
  /** Pods that are listed, and whose memory is measured. */
  apiPods: number;
  apiLists: number;
  apiSettleSeconds: number;
}

const FULL: Sizes = {
  singlePods: 30,
  burstPods: 30,
  burstRounds: 3,
  exitPods: 10,
  exitContainers: 10,
  crashingPods: 20,
  idlePods: 50,
  idleSeconds: 30,
  agentStarts: 10,
  clusterBursts: [
    { pods: 30, rounds: 3 },
    { pods: 100, rounds: 1 },
  ],
  clusterIdlePods: 100,
  clusterIdleSeconds: 60,
  volumePairs: 60,
  volumeBurstPods: 100,
  volumeConfigMaps: 1_000,
  volumeConfigMapPods: 20,
  apiStarts: 10,
  apiCreates: 2_000,
  apiParallelCreates: 4_000,
  apiWatchers: 1_000,
  apiWatchSeconds: 10,
  apiPods: 5_000,
  apiLists: 20,
  apiSettleSeconds: 60,
};

const QUICK: Sizes = {
  singlePods: 5,
  burstPods: 10,
  burstRounds: 1,
  exitPods: 1,
  exitContainers: 5,
  crashingPods: 3,
  idlePods: 10,
  idleSeconds: 5,
  agentStarts: 2,
  clusterBursts: [{ pods: 10, rounds: 1 }],
  clusterIdlePods: 10,
  clusterIdleSeconds: 5,
  volumePairs: 3,
  volumeBurstPods: 10,
  volumeConfigMaps: 20,
  volumeConfigMapPods: 2,
  apiStarts: 2,
  apiCreates: 200,
  apiParallelCreates: 400,
  apiWatchers: 200,
  apiWatchSeconds: 2,
  apiPods: 500,
  apiLists: 5,
  apiSettleSeconds: 2,
};

const PROGRAM = new URL("../dist/nodelet.js", import.meta.url).pathname;

export const USAGE = `Usage: npm run bench -- [--quick] [--json] [--only <case>]... [--program <file>]

Measures the node agent against bare CRI calls on a containerd of its own, which needs root and containerd: alone, and
as a node of a cluster (the cases cluster-… and volumes-…), where KUBELET_BIN names a Go kubelet beside that. Measures the control
plane (the cases api-…) against bare disk writes and HTTPS, which needs neither; where KUBEBUILDER_ASSETS names the
directory of kube-apiserver and etcd, against those too. Needs \`npm run build\`.

  --quick        few samples: whether it works, not how fast it is
  --json         print one line of JSON instead of a table
  --only <case>  one of ${CASE_NAMES.join(", ")}; repeatable
  --program <f>  measure this build rather than dist/nodelet.js`;

/** Undefined when help is asked for. Throws, saying why, for arguments that cannot be. */
export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      program: { type: "string", default: PROGRAM },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const unknown = values.only.find((name) => !CASE_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no case ${JSON.stringify(unknown)}`);
  const isAsked = (name: string) => values.only.length === 0 || values.only.includes(name);
  const cases = {
    nodeCases: NODE_CASES.filter(isAsked),
    clusterCases: CLUSTER_CASES.filter(isAsked),
    apiCases: API_CASES.filter(isAsked),
  };
  return { json: values.json, ...cases, sizes: values.quick ? QUICK : FULL, program: resolve(values.program) };
}
