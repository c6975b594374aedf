import type { Container, Pod, PodStatus, ResourceResourceClaim, ResourceStatus } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Part } from "../../../base/run-parts.ts";
import type { ConnectDraPlugin } from "../../../dra/connect.ts";
import type { Files } from "../../../host/port.ts";
import { type ClaimAccount, createClaimAccount } from "./claim-account.ts";
import { createClaimCheckpointFile } from "./claim-checkpoint-file.ts";
import { createClaimHealth } from "./claim-health.ts";
import { listClaimedDevices, listUsedClaims } from "./claim-uses.ts";
import { createClaimWork } from "./claim-work.ts";
import { createDraDrivers, type DraDrivers } from "./dra-drivers.ts";
import { declareClaimMetrics } from "./metrics.ts";
import { listPodClaims, usesClaims } from "./pod-claims.ts";

/** The device claims of this node's pods (dynamic resource allocation), and the drivers that make them ready. */
export interface NodeDeviceClaims {
  readonly handler: DraDrivers["handler"];
  /**
   * Makes the pod's claims ready before its sandbox is made. A pod that has a sandbox keeps what it has, unless this node
   * agent does not know of it. Rejects with a ClaimError.
   */
  prepare(pod: Pod, options: { readonly hasSandbox: boolean; readonly signal: AbortSignal }): Promise<void>;
  /** Gives back what the pod had, when nothing of it runs any more. Rejects with a ClaimError. */
  unprepare(podUid: string, signal: AbortSignal): Promise<void>;
  /** The CDI devices that the container gets by its claims, or why it gets none. */
  cdiDevicesOf(pod: Pod, container: Container): CdiDevices;
  /** What a container's status tells of its devices. */
  healthOf(pod: Pod, container: Container): ResourceStatus[];
  /** The claims of the container with all their devices. */
  usesOf(pod: Pod, container: Container): ClaimedResources[];
  parts(reconciliation: ReconciliationDeps): readonly Part[];
}

type CdiDevices = { readonly ok: true; readonly names: readonly string[] } | { readonly ok: false; error: string };

/** A claim as monitoring agents see it. */
interface ClaimedResources {
  readonly namespace: string;
  readonly name: string;
  readonly devices: ReturnType<typeof listClaimedDevices>;
}

interface ReconciliationDeps {
  /** The pods that are wanted here, or of which something may run; undefined while not all sources of pods are known. */
  activePods(): readonly string[] | undefined;
}

interface NodeDeviceClaimsDeps {
  readonly clock: Clock;
  readonly files: Pick<Files, "read" | "writeAtomically">;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The status of the pod as the API server has it: it names the claims that were made for the pod. */
  statusOf(podUid: string): PodStatus | undefined;
  readClaim(namespace: string, name: string, signal: AbortSignal): Promise<ResourceResourceClaim>;
  wipeSlices(driver: string | undefined, signal: AbortSignal): Promise<void>;
  readonly connect: ConnectDraPlugin;
  /** The pod may go on, or has news to tell in its status. */
  onPodChanged(podUid: string): void;
}

interface NodeDeviceClaimsOptions {
  /** Where the checkpoint is. */
  readonly directory: string;
  /** The gates ResourceHealthStatus and ResourceHealthStatusMessage. */
  readonly tellsHealth: boolean;
  readonly tellsMessages: boolean;
}

/** Upstream's `defaultReconcilePeriod`. */
const RECONCILE_PERIOD_MS = MINUTE;

/** Reads the account that is on the disk. */
export async function createNodeDeviceClaims(
  deps: NodeDeviceClaimsDeps,
  { directory, tellsHealth, tellsMessages }: NodeDeviceClaimsOptions,
): Promise<NodeDeviceClaims> {
  const { clock, files, log, onPodChanged } = deps;
  const account = createClaimAccount();
  const checkpoint = createClaimCheckpointFile({ files, log, account }, directory);
  await checkpoint.restore();
  const { measure, countCall } = declareClaimMetrics({ metrics: deps.metrics, clock, account });
  const health = createClaimHealth({ clock, log, account, onPodChanged }, { tellsMessages });
  /** The pods that wait for a driver to come. */
  const waiting = new Set<string>();
  const drivers = createDraDrivers({
    clock,
    log,
    connect: ({ socketPath, driver, version }) =>
      deps.connect(socketPath, { version, onCall: (call) => countCall(driver, call) }),
    onUsable() {
      for (const uid of waiting) onPodChanged(uid);
    },
    wipeSlices: deps.wipeSlices,
    followHealth: tellsHealth ? health.follow : async () => false,
  });
  const work = createClaimWork({ account, save: checkpoint.save, drivers, readClaim: deps.readClaim, log });
  const newest = (pod: Pod): Pod => {
    const status = deps.statusOf(podUid(pod));
    return status === undefined ? pod : { ...pod, status };
  };
  const unprepare = async (uid: string, signal: AbortSignal) => {
    waiting.delete(uid);
    if (account.ofPod(uid).length === 0) return;
    await measure("UnprepareResources", async () => await work.unprepare(uid, signal));
  };

  return {
    handler: drivers.handler,
    async prepare(synced, { hasSandbox, signal }) {
      const pod = newest(synced);
      if (!usesClaims(pod) || (hasSandbox && isKnown(account, pod))) return;
      waiting.add(podUid(pod));
      await measure("PrepareResources", async () => await work.prepare(pod, signal));
      waiting.delete(podUid(pod));
    },
    unprepare,
    cdiDevicesOf(pod, container) {
      const used = listUsedClaims(account, newest(pod), container);
      const lost = used.find(({ info }) => info === undefined);
      const names = used.flatMap(({ devices }) => devices.flatMap(({ cdiDeviceIds }) => cdiDeviceIds));
      if (lost === undefined) return { ok: true, names: [...new Set(names)] };
      return { ok: false, error: `unable to get claim info for ResourceClaim ${lost.use.claimName}` };
    },
    healthOf: (pod, container) => (tellsHealth ? health.ofContainer(newest(pod), container) : []),
    usesOf(pod, container) {
      const infos = listUsedClaims(account, newest(pod), container).flatMap(({ info }) => info ?? []);
      return [...new Set(infos)].map((info) => ({ ...info, devices: listClaimedDevices(info) }));
    },
    parts: ({ activePods }) => [
      { name: "device claim drivers", run: drivers.run },
      {
        name: "device claims",
        run: async (signal) =>
          await repeat(clock, { periodMs: RECONCILE_PERIOD_MS, signal, delayFirst: true }, async () => {
            const active = activePods();
            if (active !== undefined) await reconcile({ account, checkpoint, log, unprepare }, new Set(active), signal);
          }),
      },
    ],
  };
}

interface ReconcileDeps {
  readonly account: Pick<ClaimAccount, "list">;
  readonly checkpoint: { save(): Promise<void> };
  readonly log: Log;
  unprepare(podUid: string, signal: AbortSignal): Promise<void>;
}

/** Gives back what pods had that went while no node agent looked, and brings to the disk what did not get there. */
async function reconcile(
  { account, checkpoint, log, unprepare }: ReconcileDeps,
  active: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const attempt = async (task: () => Promise<void>, message: string, fields: { uid?: string }) => {
    try {
      await task();
    } catch (error) {
      if (isAbort(error)) throw error;
      log.info(message, { ...fields, error: messageOf(error) });
    }
  };
  const users = new Set(account.list().flatMap(({ podUids }) => [...podUids]));
  const gone = [...users].filter((uid) => !active.has(uid));
  const unprepareOne = async (uid: string) =>
    await attempt(async () => unprepare(uid, signal), "Cannot give back the claims of a pod that is gone, will retry", {
      uid,
    });
  await Promise.all(gone.map(unprepareOne));
  await attempt(checkpoint.save, "Cannot write the checkpoint of device claims, will retry", {});
}

/** The account has all of the pod's claims, of this agent or of one before. */
function isKnown(account: Pick<ClaimAccount, "get">, pod: Pod): boolean {
  const { namespace, uid } = podReference(pod);
  return listPodClaims(pod).every(({ claimName }) => account.get({ namespace, name: claimName })?.podUids.has(uid));
}
