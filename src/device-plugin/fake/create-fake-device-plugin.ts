import type { Clock } from "../../base/clock.ts";
import { createMemoryServer } from "../../grpc/fake/memory-server.ts";
import { implement, type ServedService } from "../../grpc/served-service.ts";
import { createDevicePlugin } from "../connect.ts";
import { ContainerAllocateResponse, DevicePluginDefinition } from "../gen/device-plugin-v1beta1.ts";
import type { DevicePlugin, DevicePluginOptions, PluginDevice } from "../port.ts";

/** The calls that a test may delay or break. */
type DevicePluginCall = "GetDevicePluginOptions" | "GetPreferredAllocation" | "Allocate" | "PreStartContainer";

/** A device plugin in memory. */
export interface FakeDevicePlugin {
  /** Lists other devices from now on. */
  list(devices: readonly PluginDevice[]): void;
  /** What the plugin was asked, oldest first: the call, and the devices that it named. */
  readonly calls: ReadonlyArray<readonly [call: DevicePluginCall, ...deviceIds: string[]]>;
  /** The hook by which a test breaks or delays the plugin before it answers. */
  readonly faults: { before?(call: DevicePluginCall, signal: AbortSignal): Promise<void> | void };
  /** The devices that it prefers; tests may change it. Default: none. */
  preferred: readonly string[];
  /** The services, to be served on a socket. */
  readonly services: readonly ServedService[];
  connect(): DevicePlugin;
  /** The plugin's process dies: its streams break, and new calls fail until `start`. */
  stop(): void;
  start(): void;
}

interface FakeDevicePluginOptions extends Partial<DevicePluginOptions> {
  readonly clock: Clock;
  /** Default: none. */
  readonly devices?: readonly PluginDevice[];
  /**
   * What it answers to Allocate. Default: the devices in a variable, a mount, a device each, an annotation and a CDI
   * name.
   */
  readonly answer?: (deviceIds: readonly string[]) => Partial<ContainerAllocateResponse>;
}

/** Serves what the test tells it to, and notes what it is asked. */
export function createFakeDevicePlugin(options: FakeDevicePluginOptions): FakeDevicePlugin {
  const calls: Array<readonly [DevicePluginCall, ...string[]]> = [];
  const watchers = new Set<() => void>();
  const faults: FakeDevicePlugin["faults"] = {};
  let listed = options.devices ?? [];
  const { preStartRequired = false, preferredAllocationAvailable = false, answer = answerFor } = options;
  const count = async (call: DevicePluginCall, ids: readonly string[], signal: AbortSignal) => {
    calls.push([call, ...ids]);
    await faults.before?.(call, signal);
  };

  const service = implement(DevicePluginDefinition, {
    async getDevicePluginOptions(_request, { signal }) {
      await count("GetDevicePluginOptions", [], signal);
      return { preStartRequired, getPreferredAllocationAvailable: preferredAllocationAvailable };
    },
    async *listAndWatch(_request, { signal }) {
      while (!signal.aborted) {
        const shown = listed;
        yield {
          devices: shown.map(({ id: ID, isHealthy, numaNodes }) => ({
            ID,
            health: isHealthy ? "Healthy" : "Unhealthy",
            topology: numaNodes.length > 0 ? { nodes: numaNodes.map((node) => ({ ID: BigInt(node) })) } : undefined,
          })),
        };
        if (listed === shown) await untilWoken(watchers, signal);
      }
    },
    async getPreferredAllocation({ containerRequests }, { signal }) {
      await count("GetPreferredAllocation", containerRequests[0]?.availableDeviceIDs ?? [], signal);
      return { containerResponses: [{ deviceIDs: [...plugin.preferred] }] };
    },
    async allocate({ containerRequests }, { signal }) {
      const containerResponses: ContainerAllocateResponse[] = [];
      for (const { devicesIds } of containerRequests) {
        await count("Allocate", devicesIds, signal);
        containerResponses.push(ContainerAllocateResponse.fromPartial(answer(devicesIds)));
      }
      return { containerResponses };
    },
    async preStartContainer({ devicesIds }, { signal }) {
      await count("PreStartContainer", devicesIds, signal);
      return {};
    },
  });
  const endpoint = "unix:///run/fake-device.sock";
  const server = createMemoryServer({ clock: options.clock, endpoint, services: [service] });
  const plugin: FakeDevicePlugin = {
    list(devices) {
      listed = devices;
      for (const wake of watchers) wake();
    },
    calls,
    faults,
    preferred: [],
    services: [service],
    connect: () => createDevicePlugin(server.connect({ requestTimeoutMs: 10_000 })),
    stop: () => server.stop(),
    start: () => server.start(),
  };
  return plugin;
}

function answerFor(deviceIds: readonly string[]): Partial<ContainerAllocateResponse> {
  const first = deviceIds[0] ?? "none";
  return {
    envs: { DEVICES: deviceIds.join(",") },
    mounts: [{ containerPath: "/opt/driver", hostPath: "/usr/lib/driver", readOnly: true }],
    devices: deviceIds.map((id) => ({ containerPath: `/dev/${id}`, hostPath: `/dev/host-${id}`, permissions: "rw" })),
    annotations: { "example.com/devices": deviceIds.join(",") },
    cdiDevices: [{ name: `example.com/device=${first}` }],
  };
}

async function untilWoken(watchers: Set<() => void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      watchers.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    watchers.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}
