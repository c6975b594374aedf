import type { Clock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { createTokenIssuer } from "../../../src/control-plane/access/service-account-tokens.ts";
import { type ControlPlane, createControlPlane } from "../../../src/control-plane/compose/control-plane.ts";
import type { NodeMonitorSettings } from "../../../src/control-plane/node-lifecycle/monitor-settings.ts";
import type { LocalDirectories } from "../../../src/control-plane/ports/local-directories.ts";
import { createObjectStore } from "../../../src/control-plane/store/create-object-store.ts";
import type { PostCall } from "../../../src/host/post-call.ts";
import type { CallWeb } from "../../../src/host/web-call.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import type { Journal } from "../../../src/journal/port.ts";
import { createTokenKey } from "../../../src/pki/token-key.ts";

/** A control plane under the simulator's clock, in this process and without HTTP. */
export interface SimulatedApiServer {
  readonly controlPlane: ControlPlane;
  /** Rejects when a part of it contradicts itself. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

interface ApiServerDeps {
  readonly clock: Clock;
  readonly seed: number;
  /** Default: one in memory, that is empty. */
  readonly journal?: Journal;
  /** Answers for every webhook. Default: there are none. */
  readonly post?: PostCall;
  /** Default: nodes that say nothing are given up as ever. */
  readonly nodeMonitor?: Partial<NodeMonitorSettings>;
  /** Answers for nodes. Default: no node is called. */
  readonly callNode?: CallWeb;
  /** Default: there is no storage class. */
  readonly localDirectories?: LocalDirectories;
}

const ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Signing keys say nothing about a run: one does for all. */
let tokenKey: ReturnType<typeof createTokenKey> | undefined;

/** Resolves when the cluster's first objects are there. */
export async function createSimulatedApiServer(deps: ApiServerDeps): Promise<SimulatedApiServer> {
  const {
    clock,
    journal = createMemoryJournal(),
    post = unused,
    nodeMonitor,
    callNode = unused,
    localDirectories,
  } = deps;
  tokenKey ??= createTokenKey();
  const key = await tokenKey;
  const random = createSeededRandom(deps.seed);
  const uuid = () => {
    const digits = Array.from({ length: 32 }, () => Math.floor(random.next() * 16).toString(16)).join("");
    return [0, 8, 12, 16, 20].map((from, index, all) => digits.slice(from, all[index + 1])).join("-");
  };
  const now = () => clock.now();
  const store = await createObjectStore({ journal, clock, log: silentLog });
  const controlPlane = createControlPlane(
    {
      store,
      clock,
      log: silentLog,
      metrics: createMetrics(),
      random: { number: () => random.next(), uuid },
      tokens: createTokenIssuer({ ...key, issuer: ISSUER, audiences: [ISSUER], now, randomId: uuid }),
      webhooks: { post, signal: new AbortController().signal },
      nodes: {
        callWeb: callNode,
        callUpgrade: unused,
        acceptWebSocket: () => {
          throw new Error("nothing simulated speaks WebSocket");
        },
        resolveHost: async (host) => await Promise.resolve([host]),
        identity: { certificatePem: "", keyPem: "" },
      },
      localDirectories,
      certificates: {
        certificatePem: "",
        readRequest: unused,
        loadSubjectReader: unused,
        sign: unused,
      },
    },
    {
      serviceCidr: "10.96.0.0/16",
      version: "sim",
      endpoint: { address: "192.0.2.1", port: 6443, serviceAddress: "10.96.0.1" },
      nodeMonitor,
    },
  );
  const stopping = new AbortController();
  const ended = controlPlane.run(stopping);
  await Promise.race([controlPlane.ready, ended]);
  return {
    controlPlane,
    ended,
    async stop() {
      stopping.abort();
      await ended.catch(() => undefined);
      await store.close();
    },
  };
}

async function unused(): Promise<never> {
  throw new Error("the simulator requests no certificates");
}
