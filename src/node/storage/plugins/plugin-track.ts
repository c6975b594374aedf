import { aborted, childController, isAbort, sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Limiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { Plugin } from "./plugin-handler.ts";
import { PluginError, type RegisteredPlugin, type RegisterPluginDeps, registerPlugin } from "./register-plugin.ts";

/**
 * One registration socket, from when it appeared until it is gone or was made anew:
 *
 * ```
 *   shaking hands ──ok──► registered ──gone──► deregistered
 *      │     ▲
 *    error   │ back-off, or retryNow
 *      ▼     │
 *     waiting ──gone──► (nothing was registered)
 * ```
 */
export interface PluginTrack {
  /** The version of the socket's file. A new file of the same path is followed by another track. */
  readonly version: string;
  /** The plugin that last answered on the socket, registered or not. */
  readonly plugin: Plugin | undefined;
  readonly isRegistered: boolean;
  /** Tries again at once if the track is waiting for its next try. */
  retryNow(): void;
  /**
   * `gone` means that the socket is gone; its plugin is deregistered. `stopped` means that the node agent ends, and the
   * plugin does not.
   */
  end(why: "gone" | "stopped"): void;
  /** Runs until `end` is called. Rejects with what the handler's `deregister` throws, and with the handler's bugs. */
  run(): Promise<void>;
}

/** How many handshakes are under way at a time. Sockets that have failed do not keep new ones waiting. */
interface HandshakePlaces {
  readonly first: Limiter;
  readonly again: Limiter;
}

interface PluginTrackDeps extends RegisterPluginDeps {
  readonly clock: Clock;
  readonly places: HandshakePlaces;
  onDeregistered(plugin: Plugin): void;
}

const FIRST_RETRY_MS = SECOND / 2;
const MAX_RETRY_MS = 30 * SECOND;

export function createPluginTrack(
  deps: PluginTrackDeps,
  { socketPath, version }: { readonly socketPath: string; readonly version: string },
): PluginTrack {
  const log = deps.log.with({ socket: socketPath });
  const ended = new AbortController();
  let isGone = false;
  let isRegistered = false;
  let plugin: Plugin | undefined;
  let endWait: () => void = () => undefined;

  const wait = async (ms: number, signal: AbortSignal) => {
    const { controller, release } = childController(signal);
    endWait = () => controller.abort();
    try {
      await sleep(deps.clock, ms, controller.signal);
    } catch (error) {
      throwIfAborted(signal);
      if (!isAbort(error)) throw error;
    } finally {
      endWait = () => undefined;
      release();
    }
  };

  const register = async (signal: AbortSignal): Promise<RegisteredPlugin> => {
    const tellFailure = createFailureWords(log);
    let place = deps.places.first;
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      try {
        return await place.run(async () => await registerPlugin({ ...deps, log }, socketPath, signal), signal);
      } catch (error) {
        throwIfAborted(signal);
        if (!(error instanceof PluginError)) throw error;
        plugin = error.plugin;
        tellFailure(error);
      }
      place = deps.places.again;
      await wait(delayMs, signal);
    }
  };

  const follow = async (signal: AbortSignal) => {
    const registered = await register(signal);
    plugin = registered.plugin;
    isRegistered = true;
    log.info("Registered a plugin", describe(plugin));
    await aborted(signal);
    if (!isGone) return;
    registered.handler.deregister(plugin);
    log.info("A plugin is gone", describe(plugin));
    deps.onDeregistered(plugin);
  };

  return {
    version,
    get plugin() {
      return plugin;
    },
    get isRegistered() {
      return isRegistered;
    },
    retryNow: () => endWait(),
    end(why) {
      isGone = why === "gone";
      ended.abort();
    },
    async run() {
      try {
        await follow(ended.signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

/** Logs each failure once. A failure repeated for the same reason is logged for debugging only. */
function createFailureWords(log: Log): (error: PluginError) => void {
  let said: string | undefined;
  return ({ message, plugin }) => {
    const fields = { error: message, ...(plugin !== undefined && describe(plugin)) };
    if (message === said) log.debug("Registering a plugin failed again, will retry", fields);
    else log.warn("Registering a plugin failed, will retry", fields);
    said = message;
  };
}

function describe({ type, name, endpoint }: Plugin): Record<string, string> {
  return { plugin: name, type, endpoint };
}
