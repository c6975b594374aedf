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

  // The wire under all that is local: the runtime, storage drivers, plugins.
  { path: "src/grpc", rank: 1, touchesWorld: true },
  // The wire of what kubectl streams, over any connection.
  { path: "src/spdy", rank: 1 },

  { path: "src/cri", rank: 2, touchesWorld: true },
  // The fake driver mounts what it publishes on the fake machine.
  { path: "src/csi", rank: 2, touchesWorld: true, alsoImports: ["src/host"] },
  { path: "src/host", rank: 2, touchesWorld: true },
  { path: "src/journal", rank: 2, touchesWorld: true },
  { path: "src/kube", rank: 2, touchesWorld: true },
  { path: "src/pki", rank: 2, touchesWorld: true },
  { path: "src/plugin-registration", rank: 2, touchesWorld: true },

  { path: "src/node/admission", rank: 3 },
  { path: "src/node/certificates", rank: 3 },
  { path: "src/node/credential-providers", rank: 3 },
  { path: "src/node/events", rank: 3 },
  { path: "src/node/identity", rank: 3 },
  { path: "src/node/images", rank: 3 },
  { path: "src/node/mirror-pods", rank: 3 },
  { path: "src/node/node-status", rank: 3 },
  { path: "src/node/plugins", rank: 3 },
  { path: "src/node/probes", rank: 3 },
  { path: "src/node/refs", rank: 3 },
  { path: "src/node/resources", rank: 3 },
  { path: "src/node/cgroups", rank: 3 },
  { path: "src/node/server", rank: 3 },
  { path: "src/node/sources", rank: 3 },
  { path: "src/node/volumes", rank: 3 },

  { path: "src/node/csi", rank: 4 },
  { path: "src/node/desired", rank: 4 },
  { path: "src/node/logs", rank: 4 },
  { path: "src/node/runtime", rank: 4 },
  { path: "src/node/streaming", rank: 4 },

  { path: "src/node/pleg", rank: 5 },
  { path: "src/node/status", rank: 5 },
  { path: "src/node/workers", rank: 5 },

  { path: "src/node/eviction", rank: 6 },
  { path: "src/node/loop", rank: 6 },
  { path: "src/node/podsync", rank: 6 },
  { path: "src/node/preemption", rank: 6 },
  { path: "src/node/shutdown", rank: 6 },
  { path: "src/node/stats", rank: 6 },

  // Where the concerns meet: compose.ts and what it is made of.
  { path: "src/node/*", rank: 7 },

  // The embedded control plane. Its ports first: the store, the kinds' table, requests, users.
  { path: "src/control-plane/ports", rank: 3 },
  { path: "src/control-plane/access", rank: 4 },
  { path: "src/control-plane/admission", rank: 4 },
  { path: "src/control-plane/controllers", rank: 4 },
  { path: "src/control-plane/custom", rank: 4 },
  { path: "src/control-plane/discovery", rank: 4 },
  { path: "src/control-plane/kinds", rank: 4 },
  { path: "src/control-plane/node-proxy", rank: 4 },
  // Controllers like those, on their queue; taints are tolerated, and conditions written, as by the scheduler.
  {
    path: "src/control-plane/node-lifecycle",
    rank: 4,
    alsoImports: ["src/control-plane/controllers", "src/control-plane/scheduler"],
  },
  // A controller, with a queue of its own.
  { path: "src/control-plane/scheduler", rank: 4, alsoImports: ["src/control-plane/controllers"] },
  { path: "src/control-plane/store", rank: 4 },
  { path: "src/control-plane/streams", rank: 4 },
  // Controllers, too; they match claims with volumes and record events as the scheduler does.
  {
    path: "src/control-plane/volumes",
    rank: 4,
    alsoImports: ["src/control-plane/controllers", "src/control-plane/scheduler"],
  },
  { path: "src/control-plane/registry", rank: 5 },
  { path: "src/control-plane/rest", rank: 6 },
  { path: "src/control-plane/*", rank: 7 },

  // The entry points: they build the real world and hand it down.
  { path: "src/cluster", rank: 8, touchesWorld: true },
  { path: "src/cli", rank: 9, touchesWorld: true },
  // What `nodelet/testing` exports: the same, in a test's process.
  { path: "src/testing", rank: 10, touchesWorld: true },
];

/** Stand-ins for the outside world: any test may import them, and nothing but tests and other fakes. */
export const FAKES: readonly string[] = [
  "src/cri/fake",
  "src/csi/fake",
  "src/grpc/fake",
  "src/host/fake",
  "src/kube/fake",
  "src/plugin-registration/fake",
];

/** Files that are started and not imported: what they export is used by whoever starts them. */
export const ENTRY_POINTS: readonly string[] = ["src/cli/main.ts", "bench/main.ts", "test/sim/main.ts"];

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
