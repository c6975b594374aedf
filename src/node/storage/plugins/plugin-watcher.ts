import { throwIfAborted } from "../../../base/abort.ts";
import { assert } from "../../../base/assert.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox, type Mailbox } from "../../../base/mailbox.ts";
import { runWithTasks, type Tasks } from "../../../base/tasks.ts";
import type { Files } from "../../../host/port.ts";
import type { PluginRegistration } from "../../../plugin-registration/port.ts";
import { createDirectoryWatches } from "./directory-watches.ts";
import { findSockets, type SocketScan } from "./find-sockets.ts";
import type { Plugin, PluginHandler } from "./plugin-handler.ts";
import { createPluginTrack, type PluginTrack } from "./plugin-track.ts";

/** Finds the plugins on this node by their registration sockets, and keeps their handlers up to date. */
export interface PluginWatcher {
  /**
   * Runs until the signal fires; returns when no handshake is in progress any more. Registered plugins stay registered.
   * Rejects only for a bug of a handler.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the sockets that are followed now. */
  sockets(): readonly PluginSocket[];
}

/** A registration socket, and whether its plugin is registered. */
interface PluginSocket {
  readonly path: string;
  readonly isRegistered: boolean;
}

interface PluginWatcherDeps {
  readonly clock: Clock;
  readonly files: Pick<Files, "list" | "makeDirectory" | "stat" | "watch">;
  readonly log: Log;
  /** The client need not connect before the first call. Throws for a path that no socket can have. */
  connect(socketPath: string): PluginRegistration;
}

interface PluginWatcherOptions {
  /** `plugins_registry` below the root directory. It is made where it is absent. */
  readonly directory: string;
  /** There is one handler for each type. */
  readonly handlers: readonly PluginHandler[];
}

/** The number of sockets that are followed at once. More are left alone, with a warning, until others are gone. */
export const MAX_PLUGIN_SOCKETS = 1_000;
/**
 * Handshakes that are under way at a time: the first ones of sockets, and those of sockets that have failed. A thousand
 * that were begun and given up together, with sockets that never answer, took the node agent's time for seconds.
 */
const MAX_HANDSHAKES = { first: 64, again: 16 };
const DIRECTORY_MODE = 0o750;
/** Events are only hints. What they miss is found within this time. */
const CHECK_PERIOD_MS = 10 * SECOND;

export function createPluginWatcher(deps: PluginWatcherDeps, options: PluginWatcherOptions): PluginWatcher {
  const { directory } = options;
  const handlers = new Map(options.handlers.map((handler) => [handler.type, handler]));
  assert(handlers.size === options.handlers.length, "one handler for each type of plugins");
  const log = deps.log.with({ directory });
  let current: Pick<Tracks, "sockets"> | undefined;

  const run = async (tasks: Tasks, signal: AbortSignal) => {
    const changed = createMailbox<"changed">(1);
    const watches = createDirectoryWatches({ ...deps, log, onChange: () => changed.offer("changed") });
    const tellUnread = createUnreadWords(log);
    const tracks = createTracks({ ...deps, log, handlers, tasks });
    current = tracks;
    try {
      for (;;) {
        await ensureDirectory(deps.files, directory, log);
        const scan = await findSockets(deps.files, directory);
        throwIfAborted(signal);
        tellUnread(scan);
        tracks.follow(scan);
        watches.follow(scan.directories);
        await untilChanged(deps.clock, changed, signal);
      }
    } finally {
      tracks.stop();
      await watches.stop();
    }
  };

  return {
    run: async (signal) => await runWithTasks(signal, run),
    sockets: () => current?.sockets() ?? [],
  };
}

/** A directory that cannot be made is tried again at the next scan. */
async function ensureDirectory(
  files: Pick<Files, "makeDirectory" | "stat">,
  directory: string,
  log: Log,
): Promise<void> {
  try {
    if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, DIRECTORY_MODE);
  } catch (error) {
    log.warn("Cannot make the directory of the plugins' sockets, will retry", { error: messageOf(error) });
  }
}

async function untilChanged(clock: Clock, changed: Mailbox<"changed">, signal: AbortSignal): Promise<void> {
  const timer = clock.setTimer(CHECK_PERIOD_MS, () => changed.offer("changed"));
  try {
    await changed.take(signal);
  } finally {
    timer.cancel();
  }
}

/** Logs what cannot be read once, and again when the list of it changes. */
function createUnreadWords(log: Log): (scan: SocketScan) => void {
  let said = "";
  return ({ unread }) => {
    const [first] = unread;
    const words = first === undefined ? "" : `${first[0]}: ${first[1]}`;
    if (words !== said && words !== "") log.warn("Cannot look for plugins everywhere, will retry", { error: words });
    said = words;
  };
}

interface Tracks {
  /** Begins and ends tracks until there is one for each socket that exists. */
  follow(scan: SocketScan): void;
  /** Ends all tracks, and deregisters no plugin. */
  stop(): void;
  sockets(): PluginSocket[];
}

type TracksDeps = Omit<PluginWatcherDeps, "files"> & {
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  readonly tasks: Tasks;
};

function createTracks(deps: TracksDeps): Tracks {
  const tracks = new Map<string, PluginTrack>();
  const places = { first: createLimiter(MAX_HANDSHAKES.first), again: createLimiter(MAX_HANDSHAKES.again) };
  let wasFull = false;

  /** Another plugin of that name may have been refused because of the one that is gone. */
  const onDeregistered = ({ type, name }: Plugin) => {
    for (const { plugin, retryNow } of tracks.values()) if (plugin?.type === type && plugin.name === name) retryNow();
  };
  const begin = (socketPath: string, version: string) => {
    const track = createPluginTrack({ ...deps, places, onDeregistered }, { socketPath, version });
    tracks.set(socketPath, track);
    deps.tasks.spawn(`plugin at ${socketPath}`, async () => track.run());
  };
  const end = (socketPath: string) => {
    tracks.get(socketPath)?.end("gone");
    tracks.delete(socketPath);
  };
  const tellFull = (isFull: boolean) => {
    if (isFull && !wasFull) deps.log.warn("Too many plugins, some are left alone", { limit: MAX_PLUGIN_SOCKETS });
    wasFull = isFull;
  };

  return {
    follow({ sockets, unread }) {
      const places = [...unread.keys()];
      const isHidden = (path: string) => places.some((place) => path === place || path.startsWith(`${place}/`));
      for (const [path, track] of tracks) {
        const version = sockets.get(path);
        if (version === undefined ? !isHidden(path) : version !== track.version) end(path);
      }
      const fresh = [...sockets].filter(([path]) => !tracks.has(path));
      const room = MAX_PLUGIN_SOCKETS - tracks.size;
      for (const [path, version] of fresh.slice(0, room)) begin(path, version);
      tellFull(fresh.length > room);
    },
    stop() {
      for (const track of tracks.values()) track.end("stopped");
    },
    sockets: () => [...tracks].map(([path, { isRegistered }]) => ({ path, isRegistered })),
  };
}
