import type { Clock } from "../../base/clock.ts";
import { createMemoryServer } from "../../grpc/fake/memory-server.ts";
import { implement, type ServedService } from "../../grpc/served-service.ts";
import { createDraPlugin, DRA_SERVICES, type DraCall } from "../connect.ts";
import { DRAResourceHealthDefinition, HealthStatus } from "../gen/dra-health-v1alpha1.ts";
import type { Claim } from "../gen/dra-v1.ts";
import type { ClaimReference, DeviceHealth, DraPlugin, DraVersion, PrepareAnswer } from "../port.ts";

/** The calls that a test may delay or break. */
type DraDriverCall = "NodePrepareResources" | "NodeUnprepareResources";

/** A driver of device claims in memory. */
export interface FakeDraDriver {
  /** What the driver was asked, oldest first: the call, and the names of the claims. */
  readonly calls: ReadonlyArray<readonly [call: DraDriverCall, ...claims: string[]]>;
  /** The claims that are prepared, by UID. */
  readonly prepared: ReadonlyMap<string, ClaimReference>;
  /** The hooks by which a test breaks or delays the driver before it answers, or has it lie. */
  readonly faults: {
    before?(call: DraDriverCall, signal: AbortSignal): Promise<void> | void;
    /** The answers by UID in the place of the true ones. */
    prepareAnswers?(claims: readonly ClaimReference[]): Record<string, Partial<PrepareAnswer>>;
    unprepareAnswers?(claims: readonly ClaimReference[]): Record<string, string>;
  };
  /** Tells the health of devices from now on. */
  tellHealth(devices: readonly DeviceHealth[]): void;
  /** The services, to be served on a socket. */
  readonly services: readonly ServedService[];
  connect(onCall?: (call: DraCall) => void): DraPlugin;
  /** The driver's process dies: its streams break, and new calls fail until `start`. */
  stop(): void;
  start(): void;
}

interface FakeDraDriverOptions {
  readonly clock: Clock;
  /** Default: `v1.DRAPlugin`. */
  readonly version?: DraVersion;
  /** The devices of a claim. Default: one, named as the claim, with one CDI name, for all requests. */
  readonly devicesOf?: (claim: ClaimReference) => PrepareAnswer["devices"];
  /** Default: it serves the health of devices. */
  readonly watchesHealth?: boolean;
}

const HEALTH = { Healthy: HealthStatus.HEALTHY, Unhealthy: HealthStatus.UNHEALTHY, Unknown: HealthStatus.UNKNOWN };

/** Serves what the test tells it to, and notes what it is asked. */
export function createFakeDraDriver(options: FakeDraDriverOptions): FakeDraDriver {
  const { version = "v1.DRAPlugin", devicesOf = devicesFor, watchesHealth = true } = options;
  const calls: Array<readonly [DraDriverCall, ...string[]]> = [];
  const prepared = new Map<string, ClaimReference>();
  const faults: FakeDraDriver["faults"] = {};
  const count = async (call: DraDriverCall, claims: readonly Claim[], signal: AbortSignal) => {
    calls.push([call, ...claims.map(({ name }) => name)]);
    await faults.before?.(call, signal);
  };

  const service = implement(DRA_SERVICES[version], {
    async nodePrepareResources({ claims }, { signal }) {
      await count("NodePrepareResources", claims, signal);
      for (const claim of claims) prepared.set(claim.uid, claim);
      const answers: Record<string, Partial<PrepareAnswer>> = faults.prepareAnswers?.(claims) ??
      Object.fromEntries(claims.map((claim) => [claim.uid, { devices: devicesOf(claim) }]));
      const written = Object.entries(answers).map(([uid, { devices = [], error = "" }]) => {
        const copies = devices.map((device) => ({
          ...device,
          requestNames: [...device.requestNames],
          cdiDeviceIds: [...device.cdiDeviceIds],
        }));
        return [uid, { devices: copies, error }] as const;
      });
      return { claims: Object.fromEntries(written) };
    },
    async nodeUnprepareResources({ claims }, { signal }) {
      await count("NodeUnprepareResources", claims, signal);
      for (const { uid } of claims) prepared.delete(uid);
      const errors = faults.unprepareAnswers?.(claims) ?? Object.fromEntries(claims.map(({ uid }) => [uid, ""]));
      return { claims: Object.fromEntries(Object.entries(errors).map(([uid, error]) => [uid, { error }])) };
    },
  });
  const { service: health, tell } = createHealthService();
  const services = watchesHealth ? [service, health] : [service];
  const server = createMemoryServer({ clock: options.clock, endpoint: "unix:///run/fake-dra.sock", services });
  return {
    calls,
    prepared,
    faults,
    tellHealth: tell,
    services,
    connect: (onCall) =>
      createDraPlugin(server.connect({ requestTimeoutMs: 45_000 }), { version, ...(onCall && { onCall }) }),
    stop: () => server.stop(),
    start: () => server.start(),
  };
}

/** A device that the claim named `gpu` gets: `example.com/device=gpu`. */
function devicesFor({ name }: ClaimReference): PrepareAnswer["devices"] {
  const cdiDeviceIds = [`example.com/device=${name}`];
  return [{ poolName: "pool", deviceName: name, shareId: undefined, requestNames: [], cdiDeviceIds }];
}

function createHealthService() {
  const watchers = new Set<() => void>();
  let told: readonly DeviceHealth[] | undefined;
  const service = implement(DRAResourceHealthDefinition, {
    async *nodeWatchResources(_request, { signal }) {
      let shown: typeof told;
      while (!signal.aborted) {
        if (told !== undefined && told !== shown) {
          shown = told;
          yield { devices: shown.map(writeHealth) };
        } else {
          await new Promise<void>((resolve) => {
            watchers.add(resolve);
            signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
      }
    },
  });
  const tell = (devices: readonly DeviceHealth[]) => {
    told = devices;
    for (const wake of watchers) wake();
    watchers.clear();
  };
  return { service, tell };
}

function writeHealth({ poolName, deviceName, health, message, timeoutMs }: DeviceHealth) {
  const seconds = BigInt((timeoutMs ?? 0) / 1000);
  const device = { poolName, deviceName };
  return { device, health: HEALTH[health], lastUpdatedTime: 0n, healthCheckTimeoutSeconds: seconds, message };
}
