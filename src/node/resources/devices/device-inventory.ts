import { rememberNewest } from "../../../base/remember-newest.ts";
import type { DevicePlugin, DevicePluginOptions, PluginDevice } from "../../../device-plugin/port.ts";

/** A plugin that has registered. Each registration is one of its own. */
export interface ConnectedPlugin {
  readonly client: DevicePlugin;
  readonly options: DevicePluginOptions;
}

/** A resource that a plugin has, or had a short while ago. */
export interface DeviceResource {
  /** Undefined: the plugin is gone, and its devices are nobody's to give. */
  readonly plugin: ConnectedPlugin | undefined;
  readonly devices: ReadonlyMap<string, PluginDevice>;
  /** The IDs of those that may be given to containers. */
  readonly healthy: ReadonlySet<string>;
}

/** The numbers of devices by resource, as the node's object tells them. */
export interface DeviceCapacity {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * The devices of this node, as their plugins list them.
 *
 *     connected ──► listed ──► stopped ──► removed
 *         ▲            │          │           │
 *         └────────────┴──────────┴───────────┘ registered again
 */
export interface DeviceInventory {
  /** A plugin has registered; it takes the place of an older one. */
  connect(name: string, plugin: ConnectedPlugin): void;
  /** Returns the IDs of devices whose health has changed or that are new. An older plugin's list is ignored. */
  list(name: string, plugin: ConnectedPlugin, devices: readonly PluginDevice[]): ReadonlySet<string>;
  /** The plugin is gone: no device is healthy. False where another plugin has taken its place. */
  stop(name: string, plugin: ConnectedPlugin): boolean;
  /** Removes a resource whose plugin is still gone. False where it has come back or was removed already. */
  remove(name: string): boolean;
  /** The resource had devices before this agent started, and its plugin has yet to register. */
  expect(name: string): void;
  get(name: string): DeviceResource | undefined;
  names(): string[];
  /**
   * Resources that were removed are told with 0, because an absent one would count as nobody's. Of more than a thousand
   * the oldest is not told any more.
   */
  capacity(): DeviceCapacity;
}

/** A plugin may come and go under another name each time, and the node's object has room for a few thousand. */
const MAX_REMOVED = 1_000;

const NONE: DeviceResource = { plugin: undefined, devices: new Map(), healthy: new Set() };

export function createDeviceInventory(): DeviceInventory {
  const resources = new Map<string, DeviceResource>();
  const removed = new Set<string>();
  return {
    connect(name, plugin) {
      removed.delete(name);
      resources.set(name, { ...(resources.get(name) ?? NONE), plugin });
    },
    list(name, plugin, devices) {
      const before = resources.get(name);
      if (before?.plugin !== plugin) return new Set();
      const changed = devices.filter(({ id, isHealthy }) => before.devices.get(id)?.isHealthy !== isHealthy);
      resources.set(name, {
        plugin,
        devices: new Map(devices.map((device) => [device.id, device])),
        healthy: new Set(devices.flatMap(({ id, isHealthy }) => (isHealthy ? [id] : []))),
      });
      return new Set(changed.map(({ id }) => id));
    },
    stop(name, plugin) {
      const before = resources.get(name);
      if (before?.plugin !== plugin) return false;
      resources.set(name, { ...before, plugin: undefined, healthy: new Set() });
      return true;
    },
    remove(name) {
      const before = resources.get(name);
      if (before === undefined || before.plugin !== undefined) return false;
      resources.delete(name);
      rememberNewest(removed, name, MAX_REMOVED);
      return true;
    },
    expect: (name) => resources.set(name, NONE),
    get: (name) => resources.get(name),
    names: () => [...resources.keys()],
    capacity() {
      const gone = [...removed].map((name) => [name, "0"] as const);
      const count = (of: (resource: DeviceResource) => number) =>
        Object.fromEntries([...gone, ...[...resources].map(([name, one]) => [name, String(of(one))] as const)]);
      return { capacity: count(({ devices }) => devices.size), allocatable: count(({ healthy }) => healthy.size) };
    },
  };
}
