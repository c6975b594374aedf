import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { AbortedError } from "../../src/base/abort.ts";
import { connectDraPlugin, type DraCall } from "../../src/dra/connect.ts";
import { createFakeDraDriver, type FakeDraDriver } from "../../src/dra/fake/create-fake-dra-driver.ts";
import { type DeviceHealth, DRA_VERSIONS, type DraPlugin, type DraVersion } from "../../src/dra/port.ts";
import { type GrpcServer, serveGrpc } from "../../src/grpc/serve.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";

const CLAIM = { namespace: "default", name: "gpu", uid: "uid-1" };
const HEALTHY: DeviceHealth = {
  poolName: "pool",
  deviceName: "gpu",
  health: "Healthy",
  message: "cool",
  timeoutMs: 5_000,
};

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Connection {
  readonly plugin: DraPlugin;
  /** The driver's process dies, and comes back. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface Wiring {
  readonly driver: FakeDraDriver;
  readonly version: DraVersion;
  onCall(call: DraCall): void;
}

async function connectInMemory({ driver, onCall }: Wiring): Promise<Connection> {
  return { plugin: driver.connect(onCall), stop: async () => driver.stop(), start: async () => driver.start() };
}

async function connectBySocket({ driver, version, onCall }: Wiring): Promise<Connection> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-dra-"));
  closers.push(async () => await rm(directory, { recursive: true }));
  const path = join(directory, "dra.sock");
  let server: GrpcServer | undefined;
  const stop = async () => await server?.close();
  const start = async () => {
    server = await serveGrpc({ path, services: driver.services });
  };
  await start();
  closers.push(stop);
  return { plugin: connectDraPlugin(path, { version, onCall }), stop, start };
}

describe.each([
  ["in memory", connectInMemory],
  ["behind a socket", connectBySocket],
])("a driver of device claims %s", (_where, connect) => {
  const begin = async (options: { version?: DraVersion; watchesHealth?: boolean } = {}) => {
    const { version = "v1.DRAPlugin" } = options;
    const driver = createFakeDraDriver({ clock: createFakeClock(), ...options });
    const measured: DraCall[] = [];
    const connection = await connect({ driver, version, onCall: (call) => measured.push(call) });
    closers.push(() => connection.plugin.close());
    return { driver, measured, ...connection };
  };

  it.each(DRA_VERSIONS)("prepares claims and takes them back in %s", async (version) => {
    const { driver, plugin, measured } = await begin({ version });
    const device = {
      poolName: "pool",
      deviceName: "gpu",
      shareId: undefined,
      requestNames: [],
      cdiDeviceIds: ["example.com/device=gpu"],
    };
    expect(await plugin.prepare([CLAIM])).toEqual(new Map([["uid-1", { devices: [device], error: "" }]]));
    expect([...driver.prepared.keys()]).toEqual(["uid-1"]);
    expect(await plugin.unprepare([CLAIM])).toEqual(new Map([["uid-1", ""]]));
    expect(driver.prepared.size).toBe(0);
    const service = `k8s.io.kubelet.pkg.apis.dra.${version}`;
    expect(measured.map(({ method, code }) => [method, code])).toEqual([
      [`/${service}/NodePrepareResources`, "OK"],
      [`/${service}/NodeUnprepareResources`, "OK"],
    ]);
  });

  it("fails a call with what the driver says, and is told the code", async () => {
    const { driver, plugin, measured } = await begin();
    driver.faults.before = () => {
      throw new Error("out of gas");
    };
    await expect(plugin.prepare([CLAIM])).rejects.toMatchObject({ code: "unknown", detail: "out of gas" });
    expect(measured.map(({ code }) => code)).toEqual(["Unknown"]);
  });

  it("is given up when the signal fires, although the driver hangs", async () => {
    const { driver, plugin } = await begin();
    const controller = new AbortController();
    driver.faults.before = async (_call, signal) => {
      controller.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    };
    await expect(plugin.prepare([CLAIM], { signal: controller.signal })).rejects.toThrow(AbortedError);
  });

  it("tells the health of its devices at once, and again when it changes", async () => {
    const { driver, plugin } = await begin();
    const ill = { ...HEALTHY, health: "Unhealthy", message: "", timeoutMs: undefined } as const;
    driver.tellHealth([HEALTHY]);
    const seen: Array<readonly DeviceHealth[]> = [];
    for await (const devices of plugin.watchHealth()) {
      seen.push(devices);
      if (seen.length === 2) break;
      driver.tellHealth([ill]);
    }
    expect(seen).toEqual([[HEALTHY], [ill]]);
  });

  it("has no health to tell where the driver watches none", async () => {
    const { plugin } = await begin({ watchesHealth: false });
    const next = plugin.watchHealth()[Symbol.asyncIterator]().next();
    await expect(next).rejects.toMatchObject({ code: "unimplemented" });
  });

  it("connects without a call, and again when the driver is back", async () => {
    const { plugin, stop, start } = await begin();
    const heard = { last: false, wake: () => {} };
    plugin.followConnection((isConnected) => {
      heard.last = isConnected;
      heard.wake();
    });
    const until = async (isConnected: boolean) => {
      while (heard.last !== isConnected) await new Promise<void>((resolve) => (heard.wake = resolve));
    };
    await until(true);
    await stop();
    await until(false);
    await start();
    await until(true);
    plugin.close();
  });
});
