import { ApiError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Journal, JournalLost, JournalRecord } from "../../journal/port.ts";
import type { ObjectStore, StoredObject, StoreEvent } from "../ports/object-store.ts";
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

/** A change on its way to the disk, with the writer that waits until it is there. */
interface Change {
  readonly record: JournalRecord;
  readonly event: StoreEvent;
  readonly resolve: (stored: StoredObject) => void;
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

  const makeVisible = ({ event, record, resolve }: Change) => {
    revision = event.revision;
    apply(durable, event);
    history.add(event, record.timeMs);
    watchers.tell(event);
    resolve(event.stored);
  };

  const commit = createGroupCommit<Change>(journal, {
    onDurable(changes) {
      for (const change of changes) makeVisible(change);
      waiting.reach(revision);
      history.trim(clock.now());
    },
    onFailed(changes, cause) {
      for (const { event } of changes) restore(head, event.key, durable.get(event.key));
      headRevision = revision;
      log.error("Changes could not be written and did not happen", { changes: changes.length, error: cause });
      const error = new ApiError("InternalError", `the store could not write the change: ${messageOf(cause)}`);
      for (const { reject } of changes) reject(error);
      waiting.fail(error);
      if (codeOf(cause) === JOURNAL_LOST) onJournalLost(cause);
    },
    afterWrite: compaction.catchUp,
  });

  const write = async (type: StoreEvent["type"], key: string, object: KubeObject) => {
    assert(!isClosed, "nothing is written to a store that is closed");
    const stored = encodeVersion(key, lastRevision + 1, object);
    refuseOverLimit(stored.json.length, maxObjectBytes, commit.pendingBytes + stored.json.length > maxPendingBytes);
    const event: StoreEvent = { type, key, revision: stored.revision, stored, previous: head.get(key) };
    refuseOnFullDisk(journal.shortage, event);
    [headRevision, lastRevision] = [event.revision, event.revision];
    apply(head, event);
    const record = recordOf(event, clock.now());
    return await new Promise<StoredObject>((resolve, reject) => commit.add({ record, event, resolve, reject }));
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
    get headRevision() {
      return headRevision;
    },
    headOf: head.get,
    headList: head.below,
    put: async (key, object) => write(head.get(key) === undefined ? "ADDED" : "MODIFIED", key, object),
    async remove(key, object) {
      const current = head.get(key);
      assert(current !== undefined, `${key} is removed, but is not there`);
      return await write("DELETED", key, object ?? current.object);
    },
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
