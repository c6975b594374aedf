import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aborted } from "../../src/base/abort.ts";
import type { Metrics } from "../../src/base/metrics.ts";
import { connectCsi } from "../../src/csi/connect.ts";
import { createFakeCsi, type FakeCsi } from "../../src/csi/fake/create-fake-csi.ts";
import { newFakeVolume } from "../../src/csi/fake/fake-driver.ts";
import type { DriverCall } from "../../src/csi/fake/intercept-driver.ts";
import { refusal } from "../../src/csi/fake/refusal.ts";
import type {
  CsiNode,
  CsiNodeCapability,
  CsiPublishRequest,
  CsiStageRequest,
  CsiVolumeUse,
} from "../../src/csi/port.ts";
import type { GrpcErrorCode } from "../../src/grpc/port.ts";
import { type GrpcServer, serveGrpc } from "../../src/grpc/serve.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { createLinuxHost } from "../../src/host/linux/create-linux-host.ts";
import type { Control } from "../e2e/csi-driver/control.ts";
import { type CsiDriverProcess, startCsiDriver } from "../e2e/csi-driver/start-csi-driver.ts";

/** A driver that the contract's cases run on. */
export interface CsiUnderTest {
  readonly name: string;
  /** Another connection each time. */
  connect(options?: { requestTimeoutMs?: number; metrics?: Metrics }): CsiNode;
  /** A new volume, an existing directory to stage it, and a path to publish it at. No other volume exists. */
  makeVolume(): Promise<VolumeUnderTest>;
  configure(identity: {
    capabilities?: CsiNodeCapability[];
    maxVolumes?: number;
    topology?: Record<string, string>;
  }): void;
  /** Until `mend`. A driver that crashes takes calls again after `restart`. */
  breakRpc(rpc: string, fault: ContractFault): void;
  mend(): void;
  restart(): Promise<void>;
  /** Settles as the promise does, with time passing meanwhile. */
  settled<T>(promise: Promise<T>): Promise<T>;
  dispose(): Promise<void>;
}

interface VolumeUnderTest {
  volumeId: string;
  stagingPath: string;
  targetPath: string;
}

interface ContractFault {
  when: "before" | "after";
  action: "fail" | "hang" | "crash";
  code?: GrpcErrorCode;
  detail?: string;
}

export const CAPABILITIES: CsiNodeCapability[] = ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"];

/** For what comes about by itself, on a machine that may be busy. */
export const PATIENCE = { timeout: 30_000 };

/** The fake, on a clock that passes as fast as the cases wait, messages and errors as over a socket. */
export async function startMemoryDriver(): Promise<CsiUnderTest> {
  const clock = createFakeClock();
  const fake = createFakeCsi({ clock });
  return {
    ...controlFake(fake, async () => fake.stop()),
    connect: (options) => fake.connect(options),
    restart: async () => {
      fake.stop();
      fake.start();
    },
    async settled(promise) {
      let pending = true;
      const done = promise.finally(() => {
        pending = false;
      });
      done.catch(() => undefined);
      await clock.settle();
      while (pending) await clock.advance(clock.untilNextTimer() ?? 1);
      return await done;
    },
    dispose: async () => undefined,
  };
}

/** The same fake behind a socket: what `connectCsi` and `serveGrpc` make of it. */
export async function startSocketDriver(): Promise<CsiUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-csi-"));
  const path = join(directory, "csi.sock");
  const fake = createFakeCsi({ clock: createLinuxHost().clock });
  let server: GrpcServer | undefined = await serveGrpc({ path, services: fake.services });
  const stop = async () => {
    const ended = server;
    server = undefined;
    await ended?.close();
  };
  return {
    // A process that dies does not wait for the call that it dies in.
    ...controlFake(fake, async () => void stop()),
    connect: (options) => connectCsi({ endpoint: path, driverName: fake.identity.name, ...options }),
    async restart() {
      await stop();
      server = await serveGrpc({ path, services: fake.services });
    },
    settled: async (promise) => await promise,
    async dispose() {
      await stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** A driver as a process of its own, which really mounts. */
export async function startDriverProcess(): Promise<CsiUnderTest & { process: CsiDriverProcess }> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-csi-"));
  const name = "process.csi.example.com";
  const volumes: Control["volumes"] = {};
  const control = { capabilities: CAPABILITIES, volumes, otherVolumes: undefined };
  const process = await startCsiDriver({
    name,
    rootDirectory: directory,
    directory: join(directory, "driver"),
    control,
  });
  return {
    name,
    process,
    connect: (options) => connectCsi({ endpoint: process.socket, driverName: name, ...options }),
    async makeVolume() {
      const volumeId = `volume-${Object.keys(volumes).length + 1}`;
      volumes[volumeId] = { kind: "directory" };
      process.control({ volumes });
      const stagingPath = join(directory, `${volumeId}-staging`);
      await mkdir(stagingPath);
      return { volumeId, stagingPath, targetPath: join(directory, `${volumeId}-target`) };
    },
    configure: (identity) => process.control(identity),
    breakRpc: (rpc, fault) => process.control({ faults: { [rpc]: fault } }),
    mend: () => process.control({ faults: {} }),
    restart: async () => await process.restart(),
    settled: async (promise) => await promise,
    async dispose() {
      await process.stop({ cleanUp: true });
      await rm(directory, { recursive: true });
    },
  };
}

/** What the two drivers that are a fake have in common. `die` ends the fake's process, so to speak. */
function controlFake(fake: FakeCsi, die: () => Promise<void>) {
  let volumes = 0;
  let mended = new AbortController();
  const strike = async ({ action, code = "internal", detail = "injected" }: ContractFault): Promise<void> => {
    if (action === "fail") throw refusal(code, detail);
    if (action === "crash") await die();
    await aborted(mended.signal);
  };
  const mend = () => {
    mended.abort();
    mended = new AbortController();
    delete fake.faults.before;
    delete fake.faults.after;
  };
  return {
    name: fake.identity.name,
    makeVolume: async (): Promise<VolumeUnderTest> => {
      const volumeId = `volume-${++volumes}`;
      fake.volumes.set(volumeId, newFakeVolume());
      return { volumeId, stagingPath: `/staging/${volumeId}`, targetPath: `/target/${volumeId}` };
    },
    configure: ({ capabilities, maxVolumes, topology }: Parameters<CsiUnderTest["configure"]>[0]) => {
      if (capabilities) fake.identity.capabilities = new Set(capabilities);
      if (maxVolumes !== undefined) fake.identity.maxVolumes = maxVolumes > 0 ? BigInt(maxVolumes) : undefined;
      if (topology) fake.identity.topology = topology;
    },
    breakRpc: (rpc: string, fault: ContractFault) => {
      fake.faults[fault.when] = async (call: DriverCall) => {
        if (call.rpc === rpc) await strike(fault);
      };
    },
    mend,
  };
}

/** A request to stage the volume as a file system for one node. */
export function stageRequest(
  { volumeId, stagingPath }: VolumeUnderTest,
  changes: Partial<CsiStageRequest> = {},
): CsiStageRequest {
  const rest = { publishContext: {}, secrets: {}, volumeContext: {} };
  return { volumeId, stagingPath, use: mountUse, ...rest, ...changes };
}

/** A request to publish the volume from where it is staged. */
export function publishRequest(volume: VolumeUnderTest, changes: Partial<CsiPublishRequest> = {}): CsiPublishRequest {
  return { ...stageRequest(volume), targetPath: volume.targetPath, readOnly: false, ...changes };
}

export const mountUse: CsiVolumeUse = {
  accessMode: "SINGLE_NODE_WRITER",
  access: { kind: "mount", fsType: "", mountFlags: [] },
};
