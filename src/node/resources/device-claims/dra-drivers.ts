import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { childController, sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import { DRA_VERSIONS, type DraPlugin, type DraVersion } from "../../../dra/port.ts";
import type { Plugin, PluginHandler } from "../../storage/plugins/plugin-handler.ts";

/**
 * The drivers of device claims on this node (upstream: pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go). A driver has
 * several plugins while it is updated: the newest that is connected serves.
 *
 * ```
 *   unusable ──a plugin connects──► usable
 *      │ ▲                            │
 *    30 s └──no plugin is connected───┘
 *      ▼
 *   its slices are deleted
 * ```
 */
export interface DraDrivers {
  /** Takes plugins whose registration socket was found. */
  readonly handler: PluginHandler;
  /** The plugin that serves for the driver: one that is connected, before those that are not. */
  get(driver: string): DraPlugin | undefined;
  /** Follows the plugins until the signal fires; then all connections are closed. */
  run(signal: AbortSignal): Promise<void>;
}

interface DraDriversDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Connects with the first call. Throws for a path that no socket can have. */
  connect(plugin: { readonly socketPath: string; readonly driver: string; readonly version: DraVersion }): DraPlugin;
  /** Pods that wait for the driver may go on. */
  onUsable(driver: string): void;
  /** Deletes the slices of the driver, or of all drivers, on this node. Resolves when they are gone. */
  wipeSlices(driver: string | undefined, signal: AbortSignal): Promise<void>;
  /** Follows the health of the driver's devices until its stream ends; false where the driver has none. */
  followHealth(driver: string, plugin: DraPlugin, signal: AbortSignal): Promise<boolean>;
}

/** Upstream's `defaultWipingDelay`: a driver that is updated is back before its slices go. */
const WIPING_DELAY_MS = 30 * SECOND;
/** Upstream's pause between two streams of health. */
const HEALTH_RETRY_MS = 5 * SECOND;
/** A bound on the plugins of one node. */
const MAX_PLUGINS = 1_000;

interface Registration {
  readonly plugin: Plugin;
  readonly client: DraPlugin;
  readonly ended: AbortController;
  isConnected: boolean;
}

interface Work {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export function createDraDrivers(deps: DraDriversDeps): DraDrivers {
  const { clock, log } = deps;
  /** The registrations by driver, the newest last; a list is never empty. */
  const registrations = new Map<string, Registration[]>();
  const wipes = new Map<string, AbortController>();
  const works = createMailbox<Work>(Number.POSITIVE_INFINITY);

  const of = (driver: string): readonly Registration[] => registrations.get(driver) ?? [];
  const serving = (driver: string) => of(driver).findLast(({ isConnected }) => isConnected) ?? of(driver).at(-1);

  const startWipe = (driver: string) => {
    const cancelled = new AbortController();
    wipes.set(driver, cancelled);
    const run = async (signal: AbortSignal) => {
      await sleep(clock, WIPING_DELAY_MS, signal);
      log.info("A driver of device claims is gone, its slices are deleted", { driver });
      await deps.wipeSlices(driver, signal);
    };
    const over = () => {
      if (wipes.get(driver) === cancelled) wipes.delete(driver);
    };
    works.offer({
      name: `slices of ${driver}`,
      run: async (signal) => await until(cancelled, signal, run).finally(over),
    });
  };

  /** To be called after every change of the driver's plugins. */
  const review = (driver: string) => {
    if (of(driver).some(({ isConnected }) => isConnected)) {
      wipes.get(driver)?.abort();
      wipes.delete(driver);
      deps.onUsable(driver);
    } else if (!wipes.has(driver)) {
      startWipe(driver);
    }
  };

  const followHealth = async ({ plugin, client }: Registration, signal: AbortSignal) => {
    while (await deps.followHealth(plugin.name, client, signal)) await sleep(clock, HEALTH_RETRY_MS, signal);
  };

  const add = (plugin: Plugin, version: DraVersion) => {
    const { name: driver, endpoint: socketPath } = plugin;
    const client = deps.connect({ socketPath, driver, version });
    const registration: Registration = { plugin, client, ended: new AbortController(), isConnected: false };
    registrations.set(driver, [...of(driver), registration]);
    client.followConnection((isConnected) => {
      if (registration.isConnected === isConnected || !of(driver).includes(registration)) return;
      registration.isConnected = isConnected;
      log.info(isConnected ? "Connected to a driver" : "Lost the connection to a driver", {
        driver,
        socket: socketPath,
      });
      review(driver);
    });
    if (!registration.isConnected) review(driver);
    works.offer({
      name: `device health of ${driver}`,
      run: async (signal) =>
        await until(registration.ended, signal, async (inner) => await followHealth(registration, inner)),
    });
  };

  return {
    handler: {
      type: "DRAPlugin",
      validate: (plugin) => findProblem(plugin),
      async register(plugin) {
        const { name, endpoint, socketPath } = plugin;
        const version = chooseVersion(plugin);
        if (version === undefined) throw new Error(findProblem(plugin));
        const all = [...registrations.values()].flat();
        if (all.length >= MAX_PLUGINS) throw new Error(`this node takes at most ${MAX_PLUGINS} plugins of drivers`);
        // The plugin whose socket was made anew is deregistered soon.
        const isTaken = of(name).some(
          ({ plugin: other }) => other.endpoint === endpoint && other.socketPath !== socketPath,
        );
        if (isTaken) throw new Error(`endpoint ${endpoint} already registered for DRA driver plugin ${name}`);
        add(plugin, version);
      },
      deregister(plugin) {
        const gone = of(plugin.name).find((registration) => registration.plugin === plugin);
        if (gone === undefined) return;
        const others = of(plugin.name).filter((registration) => registration !== gone);
        if (others.length > 0) registrations.set(plugin.name, others);
        else registrations.delete(plugin.name);
        gone.ended.abort();
        gone.client.close();
        review(plugin.name);
      },
    },
    get: (driver) => serving(driver)?.client,
    run: async (signal) =>
      await runWithTasks(signal, async (tasks, inner) => {
        try {
          tasks.spawn("slices of all drivers", async () => await deps.wipeSlices(undefined, inner));
          for (;;) {
            const work = await works.take(inner);
            tasks.spawn(work.name, async () => await work.run(inner));
          }
        } finally {
          for (const { client } of [...registrations.values()].flat()) client.close();
        }
      }),
  };
}

/** Runs until either signal fires; an end by `ended` is no failure. */
async function until(
  ended: AbortController,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { controller, release } = childController(signal);
  const end = () => controller.abort();
  if (ended.signal.aborted) end();
  ended.signal.addEventListener("abort", end, { once: true });
  try {
    await run(controller.signal);
  } finally {
    ended.signal.removeEventListener("abort", end);
    release();
  }
}

/** The newest version that both sides have. */
function chooseVersion({ supportedVersions }: Plugin): DraVersion | undefined {
  return DRA_VERSIONS.find((version) => supportedVersions.includes(version));
}

/** Upstream checks the versions alone; what is no name of a driver cannot be in any claim. */
function findProblem(plugin: Plugin): string | undefined {
  const { name, endpoint, supportedVersions } = plugin;
  const [invalid] = checkDnsSubdomain(name);
  if (invalid !== undefined) return `invalid name of a DRA driver: ${JSON.stringify(name)}: ${invalid}`;
  if (chooseVersion(plugin) !== undefined) return undefined;
  const list = (names: readonly string[]) => `[${names.map((one) => JSON.stringify(one)).join(" ")}]`;
  const ours = list(DRA_VERSIONS);
  const why =
    supportedVersions.length === 0
      ? "empty list of supported gRPC services (aka supported versions)"
      : `none of services supported by the plugin (${list(supportedVersions)}) are supported by the kubelet (${ours})`;
  return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`;
}
