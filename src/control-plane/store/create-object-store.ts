import { ApiError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Journal, JournalLost, JournalRecord } from "../../journal/port.ts";
import type { ObjectStore, StoredObject, StoreEvent, StoreWrite } from "../ports/object-store.ts";
import { createDurabilityWaits } from "./durability-waits.ts";
import { refuseOnFullDisk } from "./full-disk.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createHistory, type History, type HistoryBounds } from "./history.ts";
import { createJournalCompaction } from "./journal-compaction.ts";
import { createSortedVersions, type SortedVersions } from "./sorted-versions.ts";
import { encodeVersion, StoredVersion } from "./stored-version.ts";
import { createWatchers } from "./watchers.ts";

interface ObjectStoreDeps {
  /** Freshly opened: nobody else loads from it or writes to it. The store closes it. */
  readonly journal: Journal;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

export interface ObjectStoreOptions extends HistoryBounds {
  /** JSON bytes of one object; above it a write is refused with RequestEntityTooLarge. Default 4 MiB. */
  readonly maxObjectBytes?: number;
  /** JSON bytes that wait for the disk; above it writes are refused with ServiceUnavailable. Default 64 MiB. */
  readonly maxPendingBytes?: number;
  /**
   * A listener threw, which is a bug in it: it missed an event, and what else it left undone is not known. The other
   * listeners have been told. Default: throws it where nobody catches it, which ends the process.
   */
  readonly onListenerError?: (error: unknown) => void;
  /**
   * The disk cannot be relied upon any more, and no write will succeed. What was acknowledged is there when the
   * journal is opened anew. Default: as for a listener, because an API server that can only refuse should start again.
   */
  readonly onJournalLost?: (error: unknown) => void;
}

/** A change of one or several objects on its way to the disk, with the writer that waits until it is there. */
interface Change {
  readonly records: readonly JournalRecord[];
  readonly events: readonly StoreEvent[];
  readonly timeMs: number;
  readonly resolve: (stored: readonly StoredObject[]) => void;
  readonly reject: (error: ApiError) => void;
}

const JOURNAL_LOST: JournalLost = "journal-lost";
const DEFAULT_MAX_OBJECT_BYTES = 4 * 1024 * 1024;
const DEFAULT_MAX_PENDING_BYTES = 64 * 1024 * 1024;

/**
 * The store of a control plane on a journal. Two ordered sets of versions are kept: `durable`, which readers and
 * watchers see, and `head`, which runs ahead of it by what is on its way to the disk. A write that fails takes all
 * that came after it along, which was decided on a head that never came to be; `head` is then equal to `durable`.
 */
export async function createObjectStore(deps: ObjectStoreDeps, options: ObjectStoreOptions = {}): Promise<ObjectStore> {
  const { journal, clock, log } = deps;
  const { maxObjectBytes = DEFAULT_MAX_OBJECT_BYTES, maxPendingBytes = DEFAULT_MAX_PENDING_BYTES } = options;
  const { onListenerError = crash, onJournalLost = crash } = options;
  const { durable, history, revision: loadedRevision, compactedRevision } = await loadState(journal, options);
  history.trim(clock.now());
  const head = createSortedVersions(durable.below(""));
  const compaction = createJournalCompaction({ journal, log, history, compactedRevision });
  let revision = loadedRevision;
  /** The revision of the newest change in `head`. */
  let headRevision = loadedRevision;
  /** Revisions of failed writes are not used again: readers of `head` may have seen them. */
  let lastRevision = loadedRevision;
  const waiting = createDurabilityWaits();
  let isClosed = false;

  const watchers = createWatchers((error, { key, revision }) => {
    log.error("A listener of the store threw", { key, revision, error });
    onListenerError(error);
  });

  const makeVisible = ({ events, timeMs, resolve }: Change) => {
    for (const event of events) {
      revision = event.revision;
      apply(durable, event);
      history.add(event, timeMs);
      watchers.tell(event);
    }
    resolve(events.map(({ stored }) => stored));
  };

  const commit = createGroupCommit<Change>(journal, {
    onDurable(changes) {
      for (const change of changes) makeVisible(change);
      waiting.reach(revision);
      history.trim(clock.now());
    },
    onFailed(changes, cause) {
      for (const { key } of changes.flatMap(({ events }) => events)) restore(head, key, durable.get(key));
      headRevision = revision;
      log.error("Changes could not be written and did not happen", { changes: changes.length, error: cause });
      const error = new ApiError("InternalError", `the store could not write the change: ${messageOf(cause)}`);
      for (const { reject } of changes) reject(error);
      waiting.fail(error);
      if (codeOf(cause) === JOURNAL_LOST) onJournalLost(cause);
    },
    afterWrite: compaction.catchUp,
  });

  const eventOf = (write: StoreWrite, atRevision: number): StoreEvent => {
    const { type, key } = write;
    const previous = head.get(key);
    assert(type === "put" || previous !== undefined, `${key} is removed, but is not there`);
    const stored = encodeVersion(key, atRevision, write.object ?? objectOf(previous));
    const change = previous === undefined ? "ADDED" : "MODIFIED";
    return { type: type === "remove" ? "DELETED" : change, key, revision: stored.revision, stored, previous };
  };

  const write = async (writes: readonly StoreWrite[]) => {
    assert(!isClosed, "nothing is written to a store that is closed");
    const events = writes.map((one, index) => eventOf(one, lastRevision + 1 + index));
    let pendingBytes = commit.pendingBytes;
    // All of them are judged before the first is seen.
    for (const event of events) {
      pendingBytes += event.stored.json.length;
      refuseOverLimit(event.stored.json.length, maxObjectBytes, pendingBytes > maxPendingBytes);
      refuseOnFullDisk(journal.shortage, event);
    }
    lastRevision += events.length;
    headRevision = lastRevision;
    for (const event of events) apply(head, event);
    const timeMs = clock.now();
    const records = events.map((event) => recordOf(event, timeMs));
    return await new Promise<readonly StoredObject[]>((resolve, reject) => {
      commit.add({ records, events, timeMs, resolve, reject });
    });
  };
  const writeOne = async (one: StoreWrite): Promise<StoredObject> => {
    const [stored] = await write([one]);
    assert(stored !== undefined, "a write has its object");
    return stored;
  };

  return {
    get revision() {
      return revision;
    },
    get: durable.get,
    list(prefix, atRevision = revision) {
      if (atRevision > revision || atRevision < history.compactedRevision) return undefined;
      return { items: history.rewind(durable.below(prefix), prefix, atRevision), revision: atRevision };
    },
    count: durable.countBelow,
    get headRevision() {
      return headRevision;
    },
    headOf: head.get,
    headList: head.below,
    put: async (key, object) => writeOne({ type: "put", key, object }),
    remove: async (key, object) => writeOne({ type: "remove", key, ...(object && { object }) }),
    write,
    async untilDurable(wanted) {
      if (wanted > revision) await waiting.until(wanted);
    },
    watch(prefix, afterRevision, listener) {
      if (afterRevision > revision || afterRevision < history.compactedRevision) return "expired";
      for (const event of history.after(afterRevision)) if (event.key.startsWith(prefix)) listener(event);
      return watchers.add(prefix, revision, listener);
    },
    async close() {
      isClosed = true;
      await commit.settled();
      await journal.close();
    },
  };
}

async function loadState(journal: Journal, bounds: HistoryBounds) {
  const contents = await journal.load();
  const objects = contents.objects.map(({ key, revision, json }) => new StoredVersion(key, revision, json));
  const durable = createSortedVersions(objects);
  const history: History = createHistory(contents.compactedRevision, bounds);
  for (const { key, revision, type, json, timeMs } of contents.records) {
    const stored = new StoredVersion(key, revision, json);
    const previous = durable.get(key);
    const change = previous === undefined ? "ADDED" : "MODIFIED";
    const event: StoreEvent = { type: type === "delete" ? "DELETED" : change, key, revision, stored, previous };
    apply(durable, event);
    history.add(event, timeMs);
  }
  return { durable, history, revision: contents.revision, compactedRevision: contents.compactedRevision };
}

function recordOf({ type, key, revision, stored, previous }: StoreEvent, timeMs: number): JournalRecord {
  const isDeletion = type === "DELETED";
  return {
    revision,
    key,
    type: isDeletion ? "delete" : "put",
    json: stored.json,
    previous: previous?.revision,
    timeMs,
  };
}

function objectOf(stored: StoredObject | undefined): KubeObject {
  assert(stored !== undefined, "what is put has an object");
  return stored.object;
}

function apply(versions: SortedVersions, { type, key, stored }: StoreEvent): void {
  restore(versions, key, type === "DELETED" ? undefined : stored);
}

function restore(versions: SortedVersions, key: string, version: StoredObject | undefined): void {
  if (version === undefined) versions.delete(key);
  else versions.set(version);
}

function refuseOverLimit(bytes: number, maxObjectBytes: number, isBehind: boolean): void {
  if (bytes > maxObjectBytes) {
    throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${maxObjectBytes}`);
  }
  if (isBehind) {
    const message = "the disk does not keep up with the changes that wait for it";
    throw new ApiError("ServiceUnavailable", message, { retryAfterSeconds: 1 });
  }
}

function crash(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
