import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal } from "../../src/csi/fake/refusal.ts";
import { isGrpcError } from "../../src/grpc/port.ts";
import { serveGrpc } from "../../src/grpc/serve.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { connectPluginRegistration } from "../../src/plugin-registration/connect.ts";
import { createFakePlugin, type FakePlugin } from "../../src/plugin-registration/fake/create-fake-plugin.ts";
import type { PluginInfo, PluginRegistration, PluginStatus } from "../../src/plugin-registration/port.ts";
import { startCsiDriver } from "../e2e/csi-driver/start-csi-driver.ts";

/** A plugin that the contract's cases run on. */
interface PluginUnderTest {
  info: PluginInfo;
  connect(): PluginRegistration;
  notifications(): Promise<readonly PluginStatus[]>;
  /** Its next call of GetInfo fails so. */
  failOnce(code: "internal", detail: string): void;
  dispose(): Promise<void>;
}

const makeDirectory = async () => await mkdtemp(join(tmpdir(), "nodelet-plugin-"));

async function startFake(): Promise<PluginUnderTest> {
  const plugin = createFakePlugin({ clock: createFakeClock() });
  return { ...controlFake(plugin), connect: plugin.connect, dispose: async () => undefined };
}

async function startFakeBehindSocket(): Promise<PluginUnderTest> {
  const directory = await makeDirectory();
  const path = join(directory, "plugin-reg.sock");
  const plugin = createFakePlugin({ clock: createFakeClock() });
  const server = await serveGrpc({ path, services: plugin.services });
  return {
    ...controlFake(plugin),
    connect: () => connectPluginRegistration(path),
    async dispose() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

function controlFake({ info, notifications, faults }: FakePlugin) {
  return {
    info,
    notifications: async () => notifications,
    failOnce(code: "internal", detail: string) {
      faults.before = () => {
        delete faults.before;
        throw refusal(code, detail);
      };
    },
  };
}

async function startProcess(): Promise<PluginUnderTest> {
  const rootDirectory = await makeDirectory();
  const name = "process.csi.example.com";
  const driver = await startCsiDriver({ name, rootDirectory, directory: join(rootDirectory, "driver") });
  return {
    info: { type: "CSIPlugin", name, endpoint: driver.socket, supportedVersions: ["1.0.0"] },
    connect: () => connectPluginRegistration(driver.registrationSocket),
    async notifications() {
      const calls = (await driver.calls()).filter(({ rpc }) => rpc === "NotifyRegistrationStatus");
      return calls.map(({ request }) => ({
        registered: request["pluginRegistered"] === true,
        error: String(request["error"]),
      }));
    },
    failOnce: (code, detail) => driver.control({ faults: { GetInfo: { action: "fail", code, detail, times: 1 } } }),
    async dispose() {
      await driver.stop();
      await rm(rootDirectory, { recursive: true });
    },
  };
}

describe.each([
  { subject: "the fake", start: startFake },
  { subject: "the fake behind a socket", start: startFakeBehindSocket },
  { subject: "a CSI driver's process", start: startProcess },
])("plugin registration: $subject", ({ start }) => {
  let plugin: PluginUnderTest | undefined;
  const current = () => {
    if (plugin === undefined) throw new Error("the plugin did not start");
    return plugin;
  };
  beforeAll(async () => {
    plugin = await start();
  });
  afterAll(async () => await plugin?.dispose());

  it("says who it is and where", async () => {
    const { info, connect } = current();
    expect(await connect().getInfo()).toEqual(info);
  });

  it("hears what became of its registration", async () => {
    const { connect, notifications } = current();
    const failure = { registered: false, error: "no such version" };
    await connect().notify(failure);
    await connect().notify({ registered: true, error: "" });
    expect((await notifications()).slice(-2)).toEqual([failure, { registered: true, error: "" }]);
  });

  it("fails in its own words, once", async () => {
    const { connect, failOnce } = current();
    const registration = connect();
    failOnce("internal", "not yet");
    const error: unknown = await registration.getInfo().catch((thrown: unknown) => thrown);
    expect(isGrpcError(error, "internal")).toBe(true);
    expect(error).toMatchObject({ rpc: "GetInfo", detail: "not yet" });
    await expect(registration.getInfo()).resolves.toBeDefined();
  });

  it("is not called by a signal that has fired, nor over a closed connection", async () => {
    const registration = current().connect();
    await expect(registration.getInfo({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    registration.close();
    await expect(registration.getInfo()).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("what is no plugin", () => {
  it("fails to answer, at a path where nothing is or a file", async () => {
    const directory = await makeDirectory();
    const file = join(directory, "file.sock");
    await writeFile(file, "");
    for (const path of [file, join(directory, "nothing.sock")]) {
      const registration = connectPluginRegistration(path);
      await expect(registration.getInfo({ timeoutMs: 5_000 })).rejects.toMatchObject({ code: "unavailable" });
      registration.close();
    }
    await rm(directory, { recursive: true });
  });

  it("is refused where no socket can be", () => {
    expect(() => connectPluginRegistration(`/${"d".repeat(107)}`)).toThrow("longer than the 107 bytes");
  });
});
