import { posix } from "node:path";

/**
 * The order of the folders under `src/`. A file imports from folders of a lower rank only, so that every cycle of
 * concerns shows up as a violation here, and two folders of one rank meet in a `compose.ts` above them.
 */
export interface Layer {
  /** A folder with all below it, or `folder/*` for the files directly in it; the longest entry that fits counts. */
  path: string;
  rank: number;
  /** May use the clock, timers, randomness, files, sockets, processes and the console. Default false. */
  touchesWorld?: true;
  /** Folders of the same rank that may be imported nevertheless, each for the reason above the entry. */
  alsoImports?: readonly string[];
}

/** A new folder under `src/` needs an entry here before anything in it passes. */
export const LAYERS: readonly Layer[] = [
  { path: "src/base", rank: 0, touchesWorld: true },

  { path: "src/api", rank: 1 },
  // The configuration speaks the API's vocabulary: quantities, taints, durations.
  { path: "src/config", rank: 1, alsoImports: ["src/api"] },

  // Why a pod is as it is, in words: the node's API, the commands and tests say the same.
  { path: "src/explain", rank: 1, alsoImports: ["src/api"] },

  // The wire under all that is local: the runtime, storage drivers, plugins.
  { path: "src/grpc", rank: 1, touchesWorld: true },
  // The wire of what kubectl streams, over any connection.
  { path: "src/spdy", rank: 1 },

  { path: "src/cri", rank: 2, touchesWorld: true },
  // The fake driver mounts what it publishes on the fake machine.
  { path: "src/csi", rank: 2, touchesWorld: true, alsoImports: ["src/host"] },
  { path: "src/device-plugin", rank: 2, touchesWorld: true },
  { path: "src/dra", rank: 2, touchesWorld: true },
  { path: "src/host", rank: 2, touchesWorld: true },
  { path: "src/journal", rank: 2, touchesWorld: true },
  { path: "src/kube", rank: 2, touchesWorld: true },
  { path: "src/pki", rank: 2, touchesWorld: true },
  { path: "src/plugin-registration", rank: 2, touchesWorld: true },
  { path: "src/pod-resources", rank: 2 },
  { path: "src/pods-api", rank: 2 },
  { path: "src/tracing", rank: 2, touchesWorld: true },

  // What clients stream by WebSockets, at the node and at the API server.
  { path: "src/streams", rank: 2.1 },

  // The cluster's names: a server of its own, beside the node and the control plane.
  { path: "src/dns", rank: 3 },

  // What was decided about pods, on the disk: of the node agent, and of the control plane.
  { path: "src/history", rank: 2.1 },

  // The rooms of the node agent, in the order in which they build on each other; a decimal orders the folders of one room.
  { path: "src/node/server", rank: 3 },
  { path: "src/node/resources/capacity", rank: 3 },
  { path: "src/node/resources/checkpoints", rank: 3 },
  { path: "src/node/resources/file-access", rank: 3 },
  { path: "src/node/resources/kernel", rank: 3 },
  { path: "src/node/resources/local-sockets", rank: 3 },
  { path: "src/node/resources/sizes", rank: 3 },
  { path: "src/node/resources/topology", rank: 3 },
  { path: "src/node/resources/cgroups", rank: 3.1 },
  { path: "src/node/resources/cpus", rank: 3.1 },
  { path: "src/node/resources/device-claims", rank: 3.1 },
  { path: "src/node/resources/devices", rank: 3.1 },
  { path: "src/node/resources/memory", rank: 3.1 },
  { path: "src/node/resources/records", rank: 3.1 },
  { path: "src/node/resources/allocation", rank: 3.2 },
  { path: "src/node/resources/pod-resources", rank: 3.2 },
  { path: "src/node/cluster/certificates", rank: 3 },
  { path: "src/node/cluster/events", rank: 3 },
  { path: "src/node/cluster/node-status", rank: 3.1 },
  { path: "src/node/cluster/refs", rank: 3 },
  { path: "src/node/cluster/pod-certificates", rank: 3.1 },
  { path: "src/node/storage/plugins", rank: 3 },
  { path: "src/node/storage/volumes", rank: 3 },
  { path: "src/node/storage/csi", rank: 3.1 },

  { path: "src/node/runtime/credential-providers", rank: 4 },
  { path: "src/node/runtime/identity", rank: 4 },
  { path: "src/node/runtime/images", rank: 4 },
  { path: "src/node/runtime/logs", rank: 4 },
  { path: "src/node/runtime/streaming", rank: 4 },
  { path: "src/node/runtime/config", rank: 4.1 },
  { path: "src/node/runtime/reading", rank: 4.1 },
  { path: "src/node/runtime/plan", rank: 4.2 },
  { path: "src/node/runtime/pod-runtime", rank: 4.3 },

  { path: "src/node/pods/admission", rank: 5 },
  { path: "src/node/pods/mirror-pods", rank: 5 },
  { path: "src/node/pods/pleg", rank: 5 },
  { path: "src/node/pods/probes", rank: 5 },
  { path: "src/node/pods/sources", rank: 5 },
  { path: "src/node/pods/status", rank: 5 },
  { path: "src/node/pods/workers", rank: 5 },
  { path: "src/node/pods/desired", rank: 5.1 },
  { path: "src/node/pods/podsync", rank: 5.1 },
  { path: "src/node/pods/preemption", rank: 5.1 },
  { path: "src/node/pods/resize", rank: 5.1 },
  { path: "src/node/pods/loop", rank: 5.2 },
  { path: "src/node/pods/reporting", rank: 5.2 },

  { path: "src/node/upkeep/eviction", rank: 6 },
  { path: "src/node/upkeep/iptables", rank: 6 },
  { path: "src/node/upkeep/shutdown", rank: 6 },
  { path: "src/node/upkeep/stats", rank: 6 },
  { path: "src/node/view", rank: 6 },

  // Where they meet: node-agent.ts and what it is made of.
  { path: "src/node/compose", rank: 7 },

  // The embedded control plane. Its ports first: the store, the kinds' table, requests, users.
  { path: "src/control-plane/ports", rank: 3 },
  // The parts of every control loop (queues, indexes, events), and the rules by which claims and volumes belong together.
  { path: "src/control-plane/control-loop", rank: 3.1 },
  { path: "src/control-plane/claims", rank: 3.2 },
  // Common Expression Language, for rules of custom definitions and of admission policies.
  { path: "src/control-plane/cel", rank: 3 },
  // What objects use of the quotas of their namespace, for admission and for the controller that counts.
  { path: "src/control-plane/quota", rank: 3.3 },
  { path: "src/control-plane/access", rank: 4 },
  { path: "src/control-plane/admission", rank: 4 },
  { path: "src/control-plane/audit", rank: 4 },
  { path: "src/control-plane/controllers", rank: 4 },
  { path: "src/control-plane/custom", rank: 4 },
  { path: "src/control-plane/decisions", rank: 4 },
  { path: "src/control-plane/discovery", rank: 4 },
  // Which requests are served at a time, by flow schemas and priority levels.
  { path: "src/control-plane/flow-control", rank: 4 },
  { path: "src/control-plane/kinds", rank: 4 },
  { path: "src/control-plane/manifests", rank: 4 },
  { path: "src/control-plane/node-proxy", rank: 4 },
  { path: "src/control-plane/node-lifecycle", rank: 4 },
  { path: "src/control-plane/resource-metrics", rank: 4 },
  { path: "src/control-plane/scheduler", rank: 4 },
  { path: "src/control-plane/store", rank: 4 },
  { path: "src/control-plane/volumes", rank: 4 },
  { path: "src/control-plane/webhooks", rank: 4.1 },
  // What the controllers of workloads share, and each of them in a folder of its own above it.
  { path: "src/control-plane/workloads/pod-control", rank: 4 },
  { path: "src/control-plane/workloads/autoscaler", rank: 4.1 },
  { path: "src/control-plane/workloads/deployments", rank: 4.1 },
  { path: "src/control-plane/workloads/disruption", rank: 4.1 },
  { path: "src/control-plane/workloads/replicas", rank: 4.1 },
  { path: "src/control-plane/workloads/job", rank: 4.1 },
  { path: "src/control-plane/workloads/cron-job", rank: 4.2 },
  { path: "src/control-plane/workloads/revisions", rank: 4.2 },
  { path: "src/control-plane/workloads/stateful-set", rank: 4.3 },
  { path: "src/control-plane/workloads/daemon-set", rank: 4.3 },
  { path: "src/control-plane/aggregation", rank: 4.1 },
  { path: "src/control-plane/registry", rank: 5 },
  // The objects that every cluster begins with, written through the registry.
  { path: "src/control-plane/bootstrap", rank: 6 },
  { path: "src/control-plane/rest", rank: 6 },
  { path: "src/control-plane/compose", rank: 7 },

  // The service proxy: the language of its rules, what compiles objects into them, and the loop that applies them.
  { path: "src/proxy/rules", rank: 3 },
  { path: "src/proxy/policy", rank: 4 },
  { path: "src/proxy/services", rank: 4 },
  { path: "src/proxy/loop", rank: 5 },
  { path: "src/proxy/compose", rank: 6 },

  // The entry points: they build the real world and hand it down.
  { path: "src/cluster", rank: 8, touchesWorld: true },
  // The page of `nodelet dashboard`: what it shows, computed and pure; the server that asks for it; and what runs in the
  // browser, which is a program of its own.
  { path: "src/dashboard/model", rank: 8.1 },
  { path: "src/dashboard", rank: 8.2 },
  { path: "src/dashboard/page", rank: 8.3, touchesWorld: true },
  { path: "src/cli", rank: 9, touchesWorld: true },
  // What `nodelet/testing` exports: the same, in a test's process.
  { path: "src/testing", rank: 10, touchesWorld: true },
];

/** Stand-ins for the outside world: any test may import them, and nothing but tests and other fakes. */
export const FAKES: readonly string[] = [
  "src/cri/fake",
  "src/csi/fake",
  "src/device-plugin/fake",
  "src/dra/fake",
  "src/grpc/fake",
  "src/host/fake",
  "src/kube/fake",
  "src/plugin-registration/fake",
];

/** Files that are started and not imported: what they export is used by whoever starts them. */
export const ENTRY_POINTS: readonly string[] = [
  "src/cli/main.ts",
  "src/cli/executable/main.ts",
  "src/dashboard/page/main.tsx",
  "bench/main.ts",
  "test/sim/main.ts",
];

/** The layer of a file under `src/`; undefined for a file that has none. */
export function layerOf(path: string, layers: readonly Layer[] = LAYERS): Layer | undefined {
  const files = `${posix.dirname(path)}/*`;
  const fitting = layers.filter((layer) => layer.path === files || isBelow(path, layer.path));
  return fitting.sort((a, b) => b.path.length - a.path.length)[0];
}

/** True for the folder or file itself and for everything below it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
