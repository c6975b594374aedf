import type { Node } from "../../../src/api/gen/types.ts";
import { NODES } from "../../../src/api/kube-resource.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { FakeHost } from "../../../src/host/fake/create-fake-host.ts";
import type { KubeClient } from "../../../src/kube/port.ts";
import type { KubePorts } from "../../../src/node/compose/node-agent-ports.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import { NODE_NAME } from "../manifests.ts";
import { createStorage, type Storage, type StorageDeps } from "../storage/create-storage.ts";
import type { Trace } from "../trace.ts";
import { type ApiFaults, createApiFaults } from "./api-faults.ts";
import { type ApiPods, followApiPods, type PodVersion } from "./api-pods.ts";
import { createSimulatedApiServer } from "./create-api-server.ts";
import { createDirectKubeClient } from "./direct-client.ts";
import { type ApiRequestSeen, type CallGate, createGatedClient } from "./gated-client.ts";
import { createWrongAnswers, type WrongAnswers } from "./wrong-answers.ts";

/** The API server that a node has beside its manifests, and what stands between the two. */
export interface Cluster {
  readonly pods: ApiPods;
  readonly faults: ApiFaults;
  /** Undefined where nobody lies. */
  readonly wrong: WrongAnswers | undefined;
  /** An administrator's, whom no fault meets. */
  readonly admin: KubeClient;
  readonly dice: Dice;
  /** Undefined where there is none but what pods have of themselves. */
  readonly storage: Storage | undefined;
  /** How secrets and config maps are followed. */
  readonly strategy: "Watch" | "Cache" | "Get";
  /** The clients of a process that starts. */
  connect(process: { gate: CallGate; clock: Clock }): KubePorts;
  stop(): Promise<void>;
}

interface ClusterDeps {
  host: FakeHost;
  faults: Faults;
  trace: Trace;
  /** `wrong`: undefined where the API server says what is so. */
  dice: { options: Dice; faults: Dice; user: Dice; wrong: Dice | undefined };
  seed: number;
  /** Undefined for a cluster without storage drivers. */
  storage: Omit<StorageDeps, "host" | "admin" | "feed" | "faults" | "trace"> | undefined;
  onVersion(version: PodVersion): void;
  /** The node object is there, or has changed, by whomever. */
  onNode(node: Node, previous: Node | undefined): void;
  onCalled(request: ApiRequestSeen): void;
  onWritten(request: ApiRequestSeen, answer: unknown): void;
}

const NODE_USER = { commonName: `system:node:${NODE_NAME}`, organizations: ["system:nodes"] };
const ADMIN = { commonName: "admin", organizations: ["system:masters"] };
const TIMEOUTS_MS = { client: 30_000, heartbeat: 10_000, events: 30_000 };

export async function createCluster(deps: ClusterDeps): Promise<Cluster> {
  const { host, faults, trace, dice } = deps;
  const { clock } = host;
  const latencyMs = dice.options.pick([0, 0, 2, 25]);
  const strategy = dice.options.pick(["Watch", "Watch", "Cache", "Get"] as const);
  const server = await createSimulatedApiServer({ clock, seed: deps.seed });
  const { controlPlane } = server;
  const wrong = dice.wrong && createWrongAnswers({ dice: dice.wrong, faults, trace });
  const api = createApiFaults({ clock, dice: dice.faults, faults, trace, latencyMs, isOdd: wrong !== undefined });
  const trouble = { clock, dice: dice.faults, faults, api };
  const { onCalled, onWritten } = deps;
  const admin = createDirectKubeClient(controlPlane, ADMIN, { clock });
  const { feed } = controlPlane;
  const pods = followApiPods({ feed, clock }, deps.onVersion);
  const storage = deps.storage && (await createStorage({ ...deps.storage, host, admin, feed, faults, trace }));
  feed.follow("nodes", ({ type, object, previous }) => {
    if (object.metadata.name !== NODE_NAME || type === "DELETED") return;
    deps.onNode(NODES.read(object), previous && NODES.read(previous));
  });
  return {
    pods,
    faults: api,
    wrong,
    admin,
    dice: dice.user,
    storage,
    strategy,
    connect(process) {
      const connect = (timeoutMs: number) => {
        const client = createDirectKubeClient(controlPlane, NODE_USER, {
          ...{ clock: process.clock, timeoutMs },
          ...(wrong && { wrong }),
        });
        return createGatedClient({ client, gate: process.gate, trouble, timeoutMs, onCalled, onWritten });
      };
      return {
        client: connect(TIMEOUTS_MS.client),
        heartbeat: connect(TIMEOUTS_MS.heartbeat),
        events: connect(TIMEOUTS_MS.events),
      };
    },
    stop: server.stop,
  };
}
