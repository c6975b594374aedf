import { setMaxListeners } from "node:events";
import type { Container } from "../../../../api/gen/types.ts";
import { silentLog } from "../../../../base/log.ts";
import {
  createFakeDevicePlugin,
  type FakeDevicePlugin,
} from "../../../../device-plugin/fake/create-fake-device-plugin.ts";
import type { PluginDevice } from "../../../../device-plugin/port.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createDeviceCheckpointFile } from "../checkpoint-file.ts";
import { createContainerDevices } from "../container-devices.ts";
import { createDeviceAssignments } from "../device-assignments.ts";
import { createDeviceInventory } from "../device-inventory.ts";
import { createDevicePlugins } from "../device-plugins.ts";

export const RESOURCE = "example.com/device";
const DIRECTORY = "/var/lib/kubelet/device-plugins";

/** A node agent's devices on a fake machine, and what of them was told. A rig on the same host is the next agent. */
export function createDeviceRig(host = createFakeHost()) {
  const { clock, files } = host;
  const inventory = createDeviceInventory();
  const assignments = createDeviceAssignments();
  const checkpoint = createDeviceCheckpointFile({ files, log: silentLog, inventory, assignments }, DIRECTORY);
  const sockets = new Map<string, FakeDevicePlugin>();
  const told: string[] = [];
  const plugins = createDevicePlugins(
    {
      clock,
      log: silentLog,
      inventory,
      connect(path) {
        const plugin = sockets.get(path);
        if (plugin === undefined) throw new Error(`nobody listens at ${path}`);
        return plugin.connect();
      },
      onRegistration: (resource) => told.push(`registered ${resource}`),
      onListed: (resource, changed) => told.push(`listed ${resource}: ${[...changed].join(",")}`),
      onGone: () => told.push("gone"),
    },
    DIRECTORY,
  );
  const devices = createContainerDevices({
    inventory,
    assignments,
    save: checkpoint.save,
    measureAllocate: async (_resource, call) => await call(),
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  // As in the node agent, whose calls all listen to one signal.
  setMaxListeners(0, signal);
  let ended: Promise<void> | undefined;
  return {
    host,
    inventory,
    assignments,
    checkpoint,
    plugins,
    devices,
    told,
    signal,
    start() {
      ended ??= plugins.run(signal);
    },
    async stop() {
      stopping.abort();
      await ended;
    },
    /** Serves a plugin at a socket of the directory, and has it register. */
    async register(plugin: FakeDevicePlugin, resourceName = RESOURCE) {
      sockets.set(`${DIRECTORY}/device.sock`, plugin);
      await plugins.register({ version: "v1beta1", endpoint: "device.sock", resourceName }, signal);
      await clock.settle();
    },
    createPlugin: (options: Partial<Parameters<typeof createFakeDevicePlugin>[0]> = {}) =>
      createFakeDevicePlugin({ clock, devices: healthyDevices("a", "b", "c"), ...options }),
  };
}

export function healthyDevices(...ids: string[]): PluginDevice[] {
  return ids.map((id) => ({ id, isHealthy: true, numaNodes: [] }));
}

export function containerWith(amount: number, name = "main"): Container {
  return { name, image: "busybox", resources: { limits: { [RESOURCE]: String(amount), cpu: "1" } } };
}
