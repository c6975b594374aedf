import { posix } from "node:path";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { sleep } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import { createPace } from "../../../base/pace.ts";
import { isPathName } from "../../../base/path-name.ts";
import { createRateLimiter } from "../../../base/rate-limiter.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { DevicePlugin, DeviceRegistration } from "../../../device-plugin/port.ts";
import type { Plugin, PluginHandler } from "../../storage/plugins/plugin-handler.ts";
import { isExtendedResource } from "../capacity/node-capacity.ts";
import type { ConnectedPlugin, DeviceInventory } from "./device-inventory.ts";

/** The plugins of devices: how they register, and what follows from what they list. */
export interface DevicePlugins {
  /** Takes plugins whose registration socket was found. */
  readonly handler: PluginHandler;
  /** Takes a plugin that came to the node agent's own socket. Rejects with upstream's words where it is refused. */
  register(registration: DeviceRegistration, signal: AbortSignal): Promise<void>;
  /** Follows the plugins until the signal fires; then all connections are closed. */
  run(signal: AbortSignal): Promise<void>;
}

interface DevicePluginsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: DeviceInventory;
  /** Connects with the first call. Throws for a path that no socket can have. */
  connect(socketPath: string): DevicePlugin;
  /** A plugin came to the node agent's socket with a name that a resource can have. */
  onRegistration(resource: string): void;
  /** The plugin's list was taken; the devices with these IDs changed. */
  onListed(resource: string, changed: ReadonlySet<string>): void;
  /** The plugin is gone, or was gone for so long that its resource was removed. */
  onGone(): void;
}

const VERSION = "v1beta1";
/** Upstream's limit to connect. */
const CONNECT_TIMEOUT_MS = 10 * SECOND;
/** Upstream's `endpointStopGracePeriod`: a plugin that is updated is back before its resource goes. */
const STOP_GRACE_MS = 5 * MINUTE;
/** A bound on the resources of one node. */
const MAX_PLUGINS = 1_000;
/** A bound on plugins that come at once and do not say yet what they want to be asked: each has a connection. */
const MAX_OPENING = 100;
/** A plugin may register again and again; those beyond this rate wait among the ones that are opening. */
const REGISTRATIONS = { qps: 20, burst: 200 };
/**
 * How many devices a plugin may list: it may list a thousand of them two hundred times at once, and then twenty times a
 * second. A short list costs as much as one of a hundred devices.
 */
const LISTED_DEVICES = { credit: 200_000, perSecond: 20_000 };
const LEAST_LIST_COST = 100;

interface Connection {
  readonly resource: string;
  readonly plugin: ConnectedPlugin;
  /** The plugin of the watcher; undefined for one that came to the node agent's socket. */
  readonly origin: Plugin | undefined;
}

/** @param directory where the node agent's socket is, and those of plugins that come to it */
export function createDevicePlugins(deps: DevicePluginsDeps, directory: string): DevicePlugins {
  const { clock, log, inventory } = deps;
  /** The newest connection of each resource; it stays when the plugin is gone. */
  const connections = new Map<string, Connection>();
  const opened = createMailbox<Connection>(Number.POSITIVE_INFINITY);
  const registrations = createRateLimiter(clock, REGISTRATIONS);
  let opening = 0;

  const open = async (resource: string, socketPath: string, origin: Plugin | undefined, signal: AbortSignal) => {
    if (!connections.has(resource) && connections.size >= MAX_PLUGINS) {
      throw new Error(`this node takes at most ${MAX_PLUGINS} device plugins`);
    }
    if (opening >= MAX_OPENING) throw new Error(`${opening} device plugins are registering, no more are taken`);
    const client = deps.connect(socketPath);
    opening++;
    try {
      await registrations.acquire(signal);
      const options = await client.options({ timeoutMs: CONNECT_TIMEOUT_MS, signal });
      const connection = { resource, plugin: { client, options }, origin };
      connections.get(resource)?.plugin.client.close();
      connections.set(resource, connection);
      inventory.connect(resource, connection.plugin);
      opened.offer(connection);
      log.info("Device plugin connected", { resource, socket: socketPath });
    } catch (error) {
      client.close();
      throw new Error(`failed to get device plugin options: ${messageOf(error)}`, { cause: error });
    } finally {
      opening--;
    }
  };

  const removeUnlessBack = async (resource: string, gone: Connection | undefined, signal: AbortSignal) => {
    await sleep(clock, STOP_GRACE_MS, signal);
    if (connections.get(resource) !== gone || !inventory.remove(resource)) return;
    connections.delete(resource);
    log.info("Device plugin did not come back, its resource is removed", { resource });
    deps.onGone();
  };

  const follow = async (connection: Connection, signal: AbortSignal) => {
    const { resource, plugin } = connection;
    const pace = createPace(clock, LISTED_DEVICES);
    try {
      for await (const devices of plugin.client.listAndWatch({ signal })) {
        deps.onListed(resource, inventory.list(resource, plugin, devices));
        await pace.rest(Math.max(LEAST_LIST_COST, devices.length), signal);
      }
      log.info("Device plugin ended its list", { resource });
    } catch (error) {
      signal.throwIfAborted();
      log.warn("ListAndWatch ended unexpectedly for device plugin", { resource, error: messageOf(error) });
    } finally {
      plugin.client.close();
    }
    // The agent ends: what is known of the devices stays as it is.
    signal.throwIfAborted();
    if (!inventory.stop(resource, plugin)) return;
    deps.onGone();
    await removeUnlessBack(resource, connection, signal);
  };

  return {
    handler: {
      type: "DevicePlugin",
      validate({ name, supportedVersions }) {
        if (!supportedVersions.includes(VERSION)) {
          const versions = supportedVersions.join(" ");
          return `manager version, ${VERSION}, is not among plugin supported versions [${versions}]`;
        }
        const problem = findNameProblem(name);
        return problem === undefined ? undefined : `invalid name of device plugin socket: ${problem}`;
      },
      register: async (plugin, signal) => await open(plugin.name, plugin.endpoint, plugin, signal),
      deregister(plugin) {
        const connection = connections.get(plugin.name);
        if (connection?.origin === plugin) connection.plugin.client.close();
      },
    },
    async register({ version, endpoint, resourceName }, signal) {
      if (version !== VERSION) {
        const supported = `Supported version is ["${VERSION}"]`;
        throw new Error(`requested API version "${version}" is not supported by kubelet. ${supported}`);
      }
      const problem = findNameProblem(resourceName);
      if (problem !== undefined) throw new Error(problem);
      // A way out of the directory leads to sockets of other programs, which the node agent may all connect to.
      if (!endpoint.split("/").every(isPathName))
        throw new Error(`the endpoint ${JSON.stringify(endpoint)} is invalid`);
      deps.onRegistration(resourceName);
      await open(resourceName, posix.join(directory, endpoint), undefined, signal);
    },
    run: async (signal) =>
      await runWithTasks(signal, async (tasks, inner) => {
        for (const name of inventory.names()) {
          if (connections.has(name)) continue;
          tasks.spawn(`device plugin ${name}`, async () => await removeUnlessBack(name, undefined, inner));
        }
        for (;;) {
          const connection = await opened.take(inner);
          tasks.spawn(`device plugin ${connection.resource}`, async () => await follow(connection, inner));
        }
      }),
  };
}

function findNameProblem(name: string): string | undefined {
  const isValid = isExtendedResource(name) && checkQualifiedName(`requests.${name}`).length === 0;
  return isValid ? undefined : `the ResourceName ${JSON.stringify(name)} is invalid`;
}
