import { throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import { createMemoryServer } from "../../grpc/fake/memory-server.ts";
import type { ServedService } from "../../grpc/served-service.ts";
import { createCsiNode } from "../create-csi-node.ts";
import type { CsiNode, CsiNodeCapability } from "../port.ts";
import { createFakeDriver, type FakeCsiIdentity, type FakeVolume, newFakeVolume } from "./fake-driver.ts";
import type { FakeVolumeMounts } from "./fake-volume-mounts.ts";
import { type Around, createVolumeLocks, type DriverCall, interceptDriver } from "./intercept-driver.ts";
import { createCsiServices } from "./serve-csi.ts";
import type { PublishedVolume, StagedVolume } from "./volume-ledger.ts";

/** See `createFakeCsi`. */
export interface FakeCsiOptions {
  /** The clock for time-outs; a hung driver hangs until it fires them. */
  clock: Clock;
  /** Default `csi.example.com`. */
  name?: string;
  /** Default: staging, statistics, expansion. */
  capabilities?: readonly CsiNodeCapability[];
  /** The volumes that exist from the start, by their ids. More can be put into `volumes`. */
  volumes?: Readonly<Record<string, Partial<FakeVolume>>>;
  /** The machine on which a volume is really mounted. Without one nothing is mounted, and only the tables record it. */
  mounts?: FakeVolumeMounts;
}

/**
 * The hooks by which a test breaks the driver. A hook that waits delays the call. A hook that rejects fails the call,
 * and a CodedError with a GrpcErrorCode decides how.
 */
export interface FakeCsiFaults {
  /** Called before the effect: a call that fails here did nothing. */
  before?(call: DriverCall): Promise<void> | void;
  /**
   * Called after the effect: a call that fails here did everything. If it calls `stop`, the driver dies before it
   * answers.
   */
  after?(call: DriverCall): Promise<void> | void;
}

/** A call that the driver took, with how it ended: `ok`, an error's code, or undefined while it lasts. */
interface FakeCsiCall extends Pick<DriverCall, "rpc" | "request"> {
  outcome: string | undefined;
}

/** A driver in memory, with the volumes behind it. */
export interface FakeCsi {
  readonly identity: FakeCsiIdentity;
  readonly volumes: Map<string, FakeVolume>;
  /** The staged volumes by staging path. */
  readonly staged: ReadonlyMap<string, StagedVolume>;
  /** The published volumes by target path. */
  readonly published: ReadonlyMap<string, PublishedVolume>;
  readonly faults: FakeCsiFaults;
  /** The latest ten thousand calls, oldest first, with their secrets, so that tests can see them. */
  readonly calls: readonly FakeCsiCall[];
  /** The services, to be served on a socket. */
  readonly services: readonly ServedService[];
  connect(options?: { requestTimeoutMs?: number; metrics?: Metrics }): CsiNode;
  /** The driver's process dies: calls in flight break, and new calls fail until `start`. Mounts stay. */
  stop(): void;
  start(): void;
  /** The machine starts anew: nothing is staged or published any more. The mounts of a fake host are that host's. */
  reboot(): void;
}

const DEFAULT_CAPABILITIES: readonly CsiNodeCapability[] = [
  "STAGE_UNSTAGE_VOLUME",
  "GET_VOLUME_STATS",
  "EXPAND_VOLUME",
];
const DEFAULT_REQUEST_TIMEOUT_MS = 120_000;
const MAX_CALLS = 10_000;

/**
 * The fake passes the contract suite of drivers (`test/contract/csi.test.ts`), except for what only a kernel can do.
 */
export function createFakeCsi(options: FakeCsiOptions): FakeCsi {
  const identity: FakeCsiIdentity = {
    name: options.name ?? "csi.example.com",
    version: "v1.0.0",
    nodeId: "node-1",
    maxVolumes: undefined,
    topology: {},
    capabilities: new Set(options.capabilities ?? DEFAULT_CAPABILITIES),
  };
  const volumes = new Map(Object.entries(options.volumes ?? {}).map(([id, volume]) => [id, newFakeVolume(volume)]));
  const { driver, ledger, forgetAll } = createFakeDriver({ identity, volumes, mounts: options.mounts });
  const faults: FakeCsiFaults = {};
  const calls: FakeCsiCall[] = [];

  const record: Around = async ({ rpc, request }, run) => {
    const call: FakeCsiCall = { rpc, request, outcome: undefined };
    calls.push(call);
    if (calls.length > MAX_CALLS) calls.shift();
    try {
      const response = await run();
      call.outcome = "ok";
      return response;
    } catch (error) {
      call.outcome = codeOf(error) ?? "unknown";
      throw error;
    }
  };
  const withFaults: Around = async (call, run) => {
    await faults.before?.(call);
    throwIfAborted(call.signal);
    const response = await run();
    await faults.after?.(call);
    return response;
  };
  const locked = interceptDriver(interceptDriver(driver, withFaults), createVolumeLocks());
  const services = createCsiServices(interceptDriver(locked, record));
  const server = createMemoryServer({ clock: options.clock, endpoint: "unix:///run/fake-csi.sock", services });
  return {
    identity,
    volumes,
    staged: ledger.staged,
    published: ledger.published,
    faults,
    calls,
    services,
    connect({ requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS, metrics } = {}) {
      return createCsiNode(server.connect({ requestTimeoutMs }), { driverName: identity.name, metrics });
    },
    stop: () => server.stop(),
    start: () => server.start(),
    reboot: forgetAll,
  };
}
