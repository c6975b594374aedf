import { isApiError } from "../../../api/api-error.ts";
import { aborted, isAbort } from "../../../base/abort.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { createSharedCalls } from "../../../base/shared-calls.ts";
import type { NamespacedName } from "../../../kube/port.ts";
import {
  keyOfObject,
  notRegisteredError,
  type Referable,
  type ReferencedObjects,
  type ReferencedObjectsDeps,
} from "./referenced-objects.ts";

const DEFAULT_TTL_MS = MINUTE;
const READ_TIMEOUT_MS = 10 * SECOND;

interface Entry<T> {
  readonly pods: Set<string>;
  held: { readonly object: T; readonly readAt: number } | undefined;
  /** The next answer must be the newest version, whatever is held: until a read has brought it, all wait for that read. */
  mustRead: boolean;
  /** How many pods have begun to name it. A read that began before the last one may be older than that pod. */
  generation: number;
}

/**
 * The strategy Cache: an object is read when it is asked for, and again when the held copy is older than `ttlMs` says
 * (undefined: a minute) or when another pod has begun to name it. While the server is unreachable, the held copy is
 * given; an answer that the object is gone is believed (pkg/kubelet/util/manager/cache_based_manager.go).
 */
export function createCachedObjects<T extends Referable>(
  deps: ReferencedObjectsDeps<T>,
  ttlMs: () => number | undefined,
): ReferencedObjects<T> {
  const { client, clock, resource, log } = deps;
  const entries = new Map<string, Entry<T>>();
  const calls = createSharedCalls<T>();

  const refresh = async (name: NamespacedName, entry: Entry<T>, signal: AbortSignal): Promise<T> => {
    const { held, mustRead, generation } = entry;
    // The read must not be older than the held copy; the server's cache may answer where it is that recent.
    const resourceVersion = mustRead ? undefined : held?.object.metadata?.resourceVersion;
    try {
      const object = await client.get(resource, name, { resourceVersion, timeoutMs: READ_TIMEOUT_MS, signal });
      if (generation < entry.generation) return object;
      entry.held = { object, readAt: clock.monotonic() };
      entry.mustRead = false;
      const isSame = held?.object.metadata?.resourceVersion === object.metadata?.resourceVersion;
      if (held !== undefined && !isSame) deps.onChange(name, [...entry.pods]);
      return object;
    } catch (error) {
      entry.mustRead = true;
      if (isApiError(error, "NotFound")) {
        entry.held = undefined;
        if (held !== undefined) deps.onChange(name, [...entry.pods]);
      }
      if (isAbort(error) || entry.held === undefined) throw error;
      log.debug("Gave an object as it was last read", { resource: resource.plural, ...name });
      return entry.held.object;
    }
  };

  return {
    async get(name, signal) {
      const entry = entries.get(keyOfObject(name));
      if (entry === undefined) throw notRegisteredError(name);
      const { held, mustRead, generation } = entry;
      const isFresh = held !== undefined && clock.monotonic() - held.readAt < (ttlMs() ?? DEFAULT_TTL_MS);
      if (isFresh && !mustRead) return held.object;
      return await calls.join(`${keyOfObject(name)} ${generation}`, signal, async (callSignal) =>
        refresh(name, entry, callSignal),
      );
    },
    add(name, { podUid }) {
      const key = keyOfObject(name);
      const entry = entries.get(key) ?? { pods: new Set(), held: undefined, mustRead: false, generation: 0 };
      entries.set(key, entry);
      if (!entry.pods.has(podUid)) {
        entry.mustRead = true;
        entry.generation++;
      }
      entry.pods.add(podUid);
    },
    remove(name, podUid) {
      const entry = entries.get(keyOfObject(name));
      entry?.pods.delete(podUid);
      if (entry?.pods.size === 0) entries.delete(keyOfObject(name));
    },
    run: aborted,
  };
}

/** The strategy Get: an object is read each time that it is asked for, by any caller. */
export function createFetchedObjects<T>({ client, resource }: ReferencedObjectsDeps<T>): ReferencedObjects<T> {
  return {
    get: async (name, signal) => client.get(resource, name, { timeoutMs: READ_TIMEOUT_MS, signal }),
    add: () => undefined,
    remove: () => undefined,
    run: aborted,
  };
}
