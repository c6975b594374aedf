import { ApiError } from "../../../../api/api-error.ts";
import type { Container, Pod, PodStatus, ResourceResourceClaim } from "../../../../api/gen/types.ts";
import { podUid } from "../../../../api/pods.ts";
import { silentLog } from "../../../../base/log.ts";
import { createMetrics } from "../../../../base/metrics.ts";
import { createFakeDraDriver, type FakeDraDriver } from "../../../../dra/fake/create-fake-dra-driver.ts";
import { DRA_VERSIONS } from "../../../../dra/port.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { Plugin } from "../../../storage/plugins/plugin-handler.ts";
import { createNodeDeviceClaims } from "../node-device-claims.ts";

export const DRIVER = "gpu.example.com";
export const CHECKPOINT = "/var/lib/kubelet/dra_manager_state";

interface ClaimOptions {
  readonly uid?: string;
  readonly reservedFor?: readonly string[];
  readonly ownerUid?: string;
  readonly drivers?: readonly string[];
  readonly request?: string;
}

/** A claim that has a device of each driver, reserved for the pod `uid-1`. */
export function makeClaim(name: string, options: ClaimOptions = {}): ResourceResourceClaim {
  const { uid = `uid-of-${name}`, reservedFor = ["uid-1"], drivers = [DRIVER], request = "gpu", ownerUid } = options;
  const results = drivers.map((driver) => ({ driver, pool: "pool", device: name, request }));
  const owner = { apiVersion: "v1", kind: "Pod", name: "web", controller: true };
  return {
    metadata: { name, namespace: "default", uid, ...(ownerUid && { ownerReferences: [{ ...owner, uid: ownerUid }] }) },
    spec: { devices: { requests: [{ name: "gpu" }] } },
    status: {
      allocation: { devices: { results } },
      reservedFor: reservedFor.map((podUid) => ({ resource: "pods", name: "web", uid: podUid })),
    },
  };
}

/** A pod whose container `main` uses all of these claims. */
export function makePod(claims: readonly string[], uid = "uid-1"): Pod {
  const names = claims.map((name) => ({ name, resourceClaimName: name }));
  return {
    metadata: { uid, name: "web", namespace: "default" },
    spec: { resourceClaims: names, containers: [makeContainer(...claims.map((name) => ({ name })))] },
  };
}

/** The container `main` with claims. */
export function makeContainer(...claims: Array<{ name: string; request?: string }>): Container {
  return { name: "main", resources: { claims } };
}

/** A node agent's claims on a fake machine. A rig on the same host is the next agent. */
export async function createClaimRig(host = createFakeHost()) {
  const { clock, files } = host;
  await files.makeDirectory("/var/lib/kubelet", 0o750);
  const metrics = createMetrics();
  const sockets = new Map<string, FakeDraDriver>();
  const claims = new Map<string, ResourceResourceClaim>();
  const statuses = new Map<string, PodStatus>();
  const active = new Set<string>();
  const changed: string[] = [];
  const wiped: string[] = [];
  const errors: string[] = [];
  const nodeClaims = await createNodeDeviceClaims(
    {
      clock,
      files,
      metrics,
      log: { ...silentLog, error: (message) => errors.push(message) },
      connect(path, options) {
        const driver = sockets.get(path);
        if (driver === undefined) throw new Error(`nobody listens at ${path}`);
        return driver.connect(options.onCall);
      },
      statusOf: (uid) => statuses.get(uid),
      async readClaim(_namespace, name) {
        const claim = claims.get(name);
        if (claim === undefined) throw new ApiError("NotFound", `resourceclaims "${name}" not found`);
        return claim;
      },
      wipeSlices: async (driver) => void wiped.push(driver ?? "all"),
      onPodChanged: (uid) => changed.push(uid),
    },
    { directory: "/var/lib/kubelet", tellsHealth: true, tellsMessages: true },
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = nodeClaims
    .parts({ activePods: () => [...active] })
    .map(async ({ run }) => run(signal).catch(() => undefined));
  await clock.settle();
  return {
    host,
    claims,
    statuses,
    active,
    changed,
    wiped,
    errors,
    metrics,
    signal,
    ...nodeClaims,
    /** A plugin of the driver comes up at the socket, and registers. */
    async register(
      options: Partial<Parameters<typeof createFakeDraDriver>[0]> & { driver?: string; socket?: string } = {},
    ) {
      const { driver = DRIVER, socket = `/run/${driver}.sock`, ...rest } = options;
      const fake = createFakeDraDriver({ clock, ...rest });
      sockets.set(socket, fake);
      const plugin: Plugin = {
        type: "DRAPlugin",
        name: driver,
        endpoint: socket,
        socketPath: `/registry${socket}`,
        supportedVersions: [...DRA_VERSIONS],
      };
      await nodeClaims.handler.register(plugin, signal);
      await clock.settle();
      return { fake, plugin };
    },
    prepare: async (pod: Pod, hasSandbox = false) => await nodeClaims.prepare(pod, { hasSandbox, signal }),
    unprepare: async (pod: Pod) => await nodeClaims.unprepare(podUid(pod), signal),
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
