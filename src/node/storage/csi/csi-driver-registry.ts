import { throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { rememberNewest } from "../../../base/remember-newest.ts";
import type { CsiDriver, CsiDrivers, CsiNode, CsiNodeInfo } from "../../../csi/port.ts";
import type { Plugin, PluginHandler } from "../plugins/plugin-handler.ts";
import type { CsiFacts } from "./csi-node-facts.ts";
import type { CsiVersion } from "./csi-version.ts";
import { createDrainingNode, type DrainingNode } from "./draining-node.ts";
import { DriverRegistrationError, readDriver, readNodeInfo } from "./read-driver.ts";
import { checkVersions, findPlaceProblem } from "./registration-checks.ts";
import { findTopologyCollision, findTopologyProblem } from "./topology.ts";

/**
 * The CSI drivers on this node (upstream: RegistrationHandler of pkg/volume/csi/csi_plugin.go).
 *
 * Unlike upstream, this registry registers a driver whether or not the API server can be told of it, because its
 * volumes must be unmounted and mounted again while the server is away. Of several plugins under one name the newest
 * serves, unless it is of a lower version. The others stand by and serve when the newest is gone.
 */
export interface CsiDriverRegistry extends CsiDrivers {
  /** The handler that the plugin watcher calls. */
  readonly handler: PluginHandler;
  /** The drivers in the order of their names. */
  list(): readonly CsiDriver[];
  facts(): CsiFacts;
  /**
   * The listener gets the name of each driver that came, went, was replaced or changed what it reports about the node.
   */
  subscribe(listener: (name: string) => void): () => void;
  /**
   * Asks the driver again what it reports about this node, mostly how many volumes it can take. Nothing happens where
   * it is not registered (any more). Rejects with the driver's error, or with AbortedError.
   */
  refresh(name: string, signal: AbortSignal): Promise<void>;
  /** Closes all clients when the node agent ends. Registered drivers stay in the API. */
  close(): void;
}

interface CsiDriverRegistryDeps {
  readonly clock: Clock;
  /**
   * Makes a client of the driver. It need not connect before the first call. Throws for an endpoint that cannot be one.
   */
  connect(driver: { readonly endpoint: string; readonly driverName: string }): CsiNode;
  /** Returns the labels of the node object as it was last seen; undefined before. */
  nodeLabels(): Readonly<Record<string, string>> | undefined;
}

interface Registration {
  readonly plugin: Plugin;
  readonly version: CsiVersion;
  readonly draining: DrainingNode;
  readonly driver: CsiDriver;
}

/**
 * The number of removed names that are remembered. Beyond it the oldest is forgotten, and the API goes on naming that
 * driver.
 */
const MAX_REMOVED = 1_000;

export function createCsiDriverRegistry(deps: CsiDriverRegistryDeps): CsiDriverRegistry {
  /** The registrations by name, the newest last; a list is never empty. */
  const registrations = new Map<string, readonly Registration[]>();
  const removed = new Set<string>();
  const listeners = new Set<(name: string) => void>();

  const newest = (name: string) => registrations.get(name)?.at(-1);
  const tell = (name: string) => {
    for (const listener of [...listeners]) listener(name);
  };
  /** The versions registered under the plugin's name, without those that the plugin replaces. */
  const versionsBeside = ({ name, socketPath }: Plugin) =>
    (registrations.get(name) ?? [])
      .filter(({ plugin }) => plugin.socketPath !== socketPath)
      .map(({ version }) => version);

  const put = (registration: Registration) => {
    const { name } = registration.plugin;
    registrations.set(name, [...(registrations.get(name) ?? []), registration]);
    removed.delete(name);
    tell(name);
  };

  const drop = (plugin: Plugin) => {
    const all = registrations.get(plugin.name) ?? [];
    const gone = all.find((registration) => registration.plugin === plugin);
    if (gone === undefined) return;
    const wasServing = newest(plugin.name) === gone;
    const others = all.filter((registration) => registration !== gone);
    if (others.length > 0) registrations.set(plugin.name, others);
    else registrations.delete(plugin.name);
    if (others.length === 0) rememberNewest(removed, plugin.name, MAX_REMOVED);
    gone.draining.retire();
    if (wasServing) tell(plugin.name);
  };

  /** The node's labels, with the topology labels of the other drivers, which the node has or is about to get. */
  const labelsBeside = (name: string): Readonly<Record<string, string>> => {
    const others = [...registrations.keys()].filter((other) => other !== name);
    const topologies = others.flatMap((other) => Object.entries(newest(other)?.driver.nodeInfo.topology ?? {}));
    return { ...Object.fromEntries(topologies), ...deps.nodeLabels() };
  };

  const register = async (plugin: Plugin, signal: AbortSignal): Promise<void> => {
    const verdict = checkVersions("RegisterPlugin", plugin, versionsBeside(plugin));
    if ("error" in verdict) throw new DriverRegistrationError("version", verdict.error);
    const draining = createDrainingNode(deps.connect({ endpoint: plugin.endpoint, driverName: plugin.name }));
    try {
      const { info, capabilities } = await readDriver(deps.clock, draining.node, signal);
      throwIfAborted(signal);
      checkTopology(info, labelsBeside(plugin.name));
      // Another registration of the same name may have come while this driver was asked.
      const again = checkVersions("RegisterPlugin", plugin, versionsBeside(plugin));
      if ("error" in again) throw new DriverRegistrationError("version", again.error);
      const driver: CsiDriver = { name: plugin.name, node: draining.node, nodeInfo: info, capabilities };
      put({ plugin, version: verdict.version, draining, driver });
    } catch (error) {
      draining.node.close();
      throw error;
    }
  };

  return {
    handler: {
      type: "CSIPlugin",
      validate(plugin) {
        const verdict = checkVersions("ValidatePlugin", plugin, versionsBeside(plugin));
        const problem = "error" in verdict ? verdict.error : findPlaceProblem(plugin);
        const place = `CSI Driver ${plugin.name} at endpoint ${plugin.endpoint}`;
        return problem === undefined ? undefined : `validation failed for ${place}: ${problem}`;
      },
      register,
      deregister: drop,
    },
    get: (name) => newest(name)?.driver,
    list: () => [...registrations.keys()].sort().flatMap((name) => newest(name)?.driver ?? []),
    facts() {
      const drivers = [...registrations.keys()].sort().flatMap((name) => newest(name)?.driver ?? []);
      return { drivers: new Map(drivers.map(({ name, nodeInfo }) => [name, nodeInfo])), removed: new Set(removed) };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async refresh(name, signal) {
      const before = newest(name);
      if (before === undefined) return;
      const nodeInfo = await readNodeInfo(before.driver.node, { signal });
      const all = registrations.get(name);
      if (all === undefined || newest(name) !== before || isSameInfo(nodeInfo, before.driver.nodeInfo)) return;
      checkTopology(nodeInfo, labelsBeside(name));
      registrations.set(name, [...all.slice(0, -1), { ...before, driver: { ...before.driver, nodeInfo } }]);
      tell(name);
    },
    close() {
      for (const all of registrations.values()) for (const { draining } of all) draining.node.close();
    },
  };
}

/** Throws in upstream's words where the node cannot have the topology. */
function checkTopology({ topology }: CsiNodeInfo, existing: Readonly<Record<string, string>>): void {
  const problem = findTopologyProblem(topology) ?? findTopologyCollision(topology, existing);
  if (problem === undefined) return;
  const message = `error updating Node object with CSI driver node info: ${problem}`;
  throw new DriverRegistrationError("topology", message);
}

function isSameInfo(a: CsiNodeInfo, b: CsiNodeInfo): boolean {
  const [labels, others] = [a, b].map(({ topology }) => JSON.stringify(Object.entries(topology).sort()));
  return a.nodeId === b.nodeId && a.maxVolumes === b.maxVolumes && labels === others;
}
