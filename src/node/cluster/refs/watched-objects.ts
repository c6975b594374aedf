import { notFoundError } from "../../../api/api-error.ts";
import { aborted, childController } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import { createTasks, type Tasks } from "../../../base/tasks.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import { createReflector } from "../../../kube/create-reflector.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { NamespacedName } from "../../../kube/port.ts";
import type { Reflector } from "../../../kube/reflector.ts";
import {
  keyOfObject,
  notRegisteredError,
  ObjectRefError,
  type Referable,
  type ReferencedObjects,
  type ReferencedObjectsDeps,
} from "./referenced-objects.ts";

/** How long a read waits for the first list (pkg/kubelet/util/manager/watch_based_manager.go waits as long). */
const SYNC_WAIT_MS = SECOND;
/** How much longer it waits for a server that has not failed: of many pods at once, or on a busy machine, it is slow alone. */
const SLOW_SYNC_WAIT_MS = 9 * SECOND;
const IDLE_CHECK_MS = MINUTE;
/**
 * An object that was not asked for this long, and that is in no volume, is not watched: an environment is read only
 * once.
 */
const MAX_IDLE_MS = 5 * MINUTE;

/**
 * ```
 *            asked for                  asked for, immutable
 *   unwatched ───────► watched ────────────────────────────► final
 *       ▲                │ idle for a while                    │ another pod names it
 *       └────────────────┴─────────────────────────────────────┘
 * ```
 */
type Watching<T> =
  | { readonly state: "unwatched" }
  | { readonly state: "watched"; readonly watch: Watch<T> }
  | { readonly state: "final"; readonly object: T };

interface Watch<T> {
  readonly reflector: Reflector<T>;
  readonly controller: AbortController;
  isRunning: boolean;
  failure: unknown;
}

interface Entry<T> {
  readonly name: NamespacedName;
  /** Tells, by the pod's UID, whether a volume of the pod names the object. */
  readonly pods: Map<string, boolean>;
  watching: Watching<T>;
  askedAt: number;
  /**
   * What the last caller was told; undefined before the first. A change of it is told to all pods that name the object.
   */
  told: "nothing" | "missing" | { readonly resourceVersion: string } | undefined;
}

/**
 * The strategy Watch: each object has a reflector, from when the first pod names it until the last no longer does. The
 * answer is what the watch has told, also while the server is unreachable.
 *
 * Unlike upstream, an object that a volume names never counts as idle, because here it is not asked for again each
 * minute. An immutable object is read anew for a pod that comes later, because it may have been deleted and made again
 * meanwhile.
 */
export function createWatchedObjects<T extends Referable>(deps: ReferencedObjectsDeps<T>): ReferencedObjects<T> {
  const { clock, resource } = deps;
  const entries = new Map<string, Entry<T>>();
  const log = quiet(deps.log);
  let tasks: Tasks | undefined;

  const start = (watch: Watch<T>) => {
    if (tasks === undefined || watch.isRunning) return;
    watch.isRunning = true;
    tasks.spawn(`watch of ${resource.plural}`, async () => watch.reflector.run(watch.controller.signal));
  };

  const watchOf = (entry: Entry<T>): Watch<T> => {
    if (entry.watching.state === "watched") return entry.watching.watch;
    const { namespace, name } = entry.name;
    const reflector = createReflector(
      { ...deps, log },
      {
        resource,
        namespace,
        fieldSelector: `metadata.name=${name}`,
        onChange: () => tellChange(entry, reflector.get(namespace, name)),
        onFailure: (error) => {
          watch.failure = error;
        },
      },
    );
    const watch: Watch<T> = { reflector, controller: new AbortController(), isRunning: false, failure: undefined };
    entry.watching = { state: "watched", watch };
    start(watch);
    return watch;
  };

  const tellChange = ({ name, pods, told }: Entry<T>, object: T | undefined) => {
    if (told === undefined || isWhatWasTold(told, object)) return;
    deps.onChange(name, [...pods.keys()]);
  };

  const stop = (entry: Entry<T>, next: Watching<T> = { state: "unwatched" }) => {
    if (entry.watching.state === "watched") entry.watching.watch.controller.abort();
    entry.watching = next;
  };

  const stopIdle = () => {
    for (const entry of entries.values()) {
      if (entry.watching.state !== "watched" || !entry.watching.watch.reflector.hasSynced) continue;
      const isMounted = [...entry.pods.values()].includes(true);
      if (!isMounted && clock.monotonic() - entry.askedAt > MAX_IDLE_MS) stop(entry);
    }
  };

  const read = async (entry: Entry<T>, signal: AbortSignal): Promise<T> => {
    const { namespace, name } = entry.name;
    const watch = watchOf(entry);
    if (!(await syncsInTime(clock, watch, signal))) {
      entry.told = "nothing";
      throw notSyncedError(resource.kind, watch.failure);
    }
    const object = watch.reflector.get(namespace, name);
    entry.told = object === undefined ? "missing" : { resourceVersion: object.metadata?.resourceVersion ?? "" };
    if (object === undefined) throw notFoundError({ group: "", resource: resource.kind.toLowerCase() }, name);
    const isWatched = entry.watching.state === "watched" && entry.watching.watch === watch;
    if (object.immutable === true && isWatched) stop(entry, { state: "final", object });
    return object;
  };

  return {
    async get(name, signal) {
      const entry = entries.get(keyOfObject(name));
      if (entry === undefined) throw notRegisteredError(name);
      entry.askedAt = clock.monotonic();
      return entry.watching.state === "final" ? entry.watching.object : await read(entry, signal);
    },
    add(name, { podUid, isMounted }) {
      const key = keyOfObject(name);
      const entry = entries.get(key) ?? createEntry<T>(name, clock);
      entries.set(key, entry);
      if (entry.watching.state === "final" && !entry.pods.has(podUid)) entry.watching = { state: "unwatched" };
      entry.pods.set(podUid, isMounted);
      // The watch starts before the object is asked for, so that the answer is there by then.
      if (entry.watching.state === "unwatched") watchOf(entry);
    },
    remove(name, podUid) {
      const entry = entries.get(keyOfObject(name));
      entry?.pods.delete(podUid);
      if (entry === undefined || entry.pods.size > 0) return;
      stop(entry);
      entries.delete(keyOfObject(name));
    },
    async run(signal) {
      const { controller, release } = childController(signal);
      let crash: { readonly error: unknown } | undefined;
      tasks = createTasks((_name, error) => {
        crash ??= { error };
        controller.abort();
      });
      const running = tasks;
      for (const { watching } of entries.values()) if (watching.state === "watched") start(watching.watch);
      running.spawn("end of idle watches", async () => {
        await repeat(clock, { periodMs: IDLE_CHECK_MS, signal: controller.signal, delayFirst: true }, stopIdle);
      });
      await aborted(controller.signal);
      tasks = undefined;
      for (const entry of entries.values()) stop(entry);
      await running.settled();
      release();
      if (crash !== undefined) throw crash.error;
    },
  };
}

function createEntry<T>(name: NamespacedName, clock: Clock): Entry<T> {
  const watching = { state: "unwatched" } as const;
  return { name, pods: new Map(), watching, askedAt: clock.monotonic(), told: undefined };
}

function isWhatWasTold(told: NonNullable<Entry<unknown>["told"]>, object: Referable | undefined): boolean {
  if (object === undefined) return told === "missing";
  return typeof told === "object" && told.resourceVersion === object.metadata?.resourceVersion;
}

async function syncsInTime<T>(
  clock: Clock,
  watch: { readonly reflector: Reflector<T>; readonly failure: unknown },
  signal: AbortSignal,
): Promise<boolean> {
  const { reflector } = watch;
  if (reflector.hasSynced) return true;
  const syncsWithin = async (timeoutMs: number) =>
    await endsInTime(clock, { timeoutMs, signal }, async (inTime) => await reflector.synced(inTime));
  if (await syncsWithin(SYNC_WAIT_MS)) return true;
  return watch.failure === undefined && (await syncsWithin(SLOW_SYNC_WAIT_MS));
}

/** Makes an error with upstream's words, followed by the server's failure if there was one. */
function notSyncedError(kind: string, failure: unknown): ObjectRefError {
  const reason = failure === undefined ? "timed out waiting for the condition" : describeKubeFailure(failure);
  const hasCause = failure !== undefined && !(failure instanceof SyntaxError);
  const message = `failed to sync ${kind.toLowerCase()} cache: ${reason}`;
  return new ObjectRefError("not-synced", message, hasCause ? { cause: failure } : {});
}

/**
 * Turns warnings and news about single objects into debug messages: other parts log that the server is unreachable, and
 * the caller that needs the object gets the error.
 */
function quiet(log: Log): Log {
  return {
    ...log,
    warn: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.debug(message, fields),
    with: (fields) => quiet(log.with(fields)),
  };
}
