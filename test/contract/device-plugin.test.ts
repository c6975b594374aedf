import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectDevicePlugin, serveDeviceRegistration } from "../../src/device-plugin/connect.ts";
import {
  createFakeDevicePlugin,
  type FakeDevicePlugin,
} from "../../src/device-plugin/fake/create-fake-device-plugin.ts";
import { RegistrationDefinition } from "../../src/device-plugin/gen/device-plugin-v1beta1.ts";
import type { DevicePlugin, PluginDevice } from "../../src/device-plugin/port.ts";
import { openChannel } from "../../src/grpc/channel.ts";
import { parseEndpoint } from "../../src/grpc/endpoint.ts";
import { serveGrpc } from "../../src/grpc/serve.ts";
import { createService } from "../../src/grpc/service.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";

const TWO: readonly PluginDevice[] = [
  { id: "a", isHealthy: true, numaNodes: [0, 1] },
  { id: "b", isHealthy: false, numaNodes: [] },
];

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function makeSocketPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-device-"));
  closers.push(async () => await rm(directory, { recursive: true }));
  return join(directory, "device.sock");
}

function createPlugin(): FakeDevicePlugin {
  const options = { preStartRequired: true, preferredAllocationAvailable: true };
  return createFakeDevicePlugin({ clock: createFakeClock(), devices: TWO, ...options });
}

async function connectInMemory(plugin: FakeDevicePlugin): Promise<DevicePlugin> {
  return plugin.connect();
}

async function connectBySocket(plugin: FakeDevicePlugin): Promise<DevicePlugin> {
  const path = await makeSocketPath();
  const server = await serveGrpc({ path, services: plugin.services });
  closers.push(() => server.close());
  return connectDevicePlugin(path);
}

describe.each([
  ["in memory", connectInMemory],
  ["behind a socket", connectBySocket],
])("a device plugin %s", (_where, connect) => {
  const start = async () => {
    const plugin = createPlugin();
    const client = await connect(plugin);
    closers.push(() => client.close());
    return { plugin, client };
  };

  it("tells what it wants to be asked", async () => {
    const { client } = await start();
    expect(await client.options()).toEqual({ preStartRequired: true, preferredAllocationAvailable: true });
  });

  it("lists its devices at once, and again when they change", async () => {
    const { plugin, client } = await start();
    const seen: Array<readonly PluginDevice[]> = [];
    for await (const devices of client.listAndWatch()) {
      seen.push(devices);
      if (seen.length === 2) break;
      plugin.list(TWO.slice(0, 1));
    }
    expect(seen).toEqual([TWO, TWO.slice(0, 1)]);
  });

  it("ends its list when the signal of the reader fires", async () => {
    const { client } = await start();
    const controller = new AbortController();
    let seen = 0;
    for await (const _devices of client.listAndWatch({ signal: controller.signal })) {
      seen++;
      controller.abort();
    }
    expect(seen).toBe(1);
  });

  it("prefers, gives and prepares devices", async () => {
    const { plugin, client } = await start();
    plugin.preferred = ["b"];
    expect(await client.preferredAllocation({ available: ["a", "b"], mustInclude: [], size: 1 })).toEqual(["b"]);
    expect(await client.allocate(["b"])).toEqual({
      envs: { DEVICES: "b" },
      mounts: [{ containerPath: "/opt/driver", hostPath: "/usr/lib/driver", readOnly: true }],
      devices: [{ containerPath: "/dev/b", hostPath: "/dev/host-b", permissions: "rw" }],
      annotations: { "example.com/devices": "b" },
      cdiDevices: ["example.com/device=b"],
    });
    await client.preStartContainer(["b"]);
    expect(plugin.calls.map(([call]) => call)).toEqual(["GetPreferredAllocation", "Allocate", "PreStartContainer"]);
  });

  it("fails a call with what its handler throws", async () => {
    const { plugin, client } = await start();
    plugin.faults.before = () => {
      throw new Error("the device is on fire");
    };
    await expect(client.allocate(["a"])).rejects.toMatchObject({ code: "unknown", detail: "the device is on fire" });
  });
});

it("a plugin that comes to the socket of the node agent hears why it is refused", async () => {
  const path = await makeSocketPath();
  const service = serveDeviceRegistration(async ({ resourceName }) => {
    throw new Error(`the ResourceName "${resourceName}" is invalid`);
  });
  const server = await serveGrpc({ path, services: [service] });
  closers.push(() => server.close());
  const channel = openChannel({ endpoint: parseEndpoint(`unix://${path}`), requestTimeoutMs: 60_000 });
  closers.push(() => channel.close());
  const registering = createService(RegistrationDefinition, channel).register({
    version: "v1beta1",
    endpoint: "device.sock",
    resourceName: "cpu",
    options: undefined,
  });
  await expect(registering).rejects.toMatchObject({ detail: 'the ResourceName "cpu" is invalid' });
});
