import type { Journal, JournalRecord } from "../../journal/port.ts";

/** Writes changes in the order of their arrival, many at a time: those that come during one write are the next. */
interface GroupCommit<Change extends Writable> {
  add(change: Change): void;
  /** Bytes of the changes that were added and are not durable yet. */
  readonly pendingBytes: number;
  /** Resolves when all changes that were added are durable or have failed. */
  settled(): Promise<void>;
}

/** A change that can be added: it has its records for the journal, which are written together or not at all. */
interface Writable {
  readonly records: readonly JournalRecord[];
}

interface CommitEvents<Change> {
  /** In order, exactly once for each change that did not fail. */
  onDurable(changes: readonly Change[]): void;
  /** A change failed, and with it all later ones, which may have built on it. */
  onFailed(changes: readonly Change[], error: unknown): void;
  /** Called after each write, and delays the next one. `isIdle`: no change waits for the disk now. */
  afterWrite(isIdle: boolean): Promise<void>;
}

/** The largest group. A larger one would not be faster, and would hold the event loop for milliseconds. */
const MAX_GROUP_RECORDS = 256;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

export function createGroupCommit<Change extends Writable>(
  journal: Pick<Journal, "append">,
  events: CommitEvents<Change>,
): GroupCommit<Change> {
  let waiting: Change[] = [];
  let pendingBytes = 0;
  let running: Promise<void> | undefined;

  const takeGroup = () => {
    let bytes = 0;
    let records = 0;
    const isOver = (change: Change) => {
      bytes += bytesOf(change);
      records += change.records.length;
      return bytes > MAX_GROUP_BYTES || records > MAX_GROUP_RECORDS;
    };
    const end = waiting.slice(0, MAX_GROUP_RECORDS).findIndex(isOver);
    // A change that is too large for a group goes alone.
    const size = end < 0 ? MAX_GROUP_RECORDS : Math.max(1, end);
    const group = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return group;
  };

  const writeGroup = async (group: readonly Change[]) => {
    try {
      await journal.append(group.flatMap(({ records }) => records));
    } catch (error) {
      const failed = [...group, ...waiting];
      waiting = [];
      pendingBytes = 0;
      events.onFailed(failed, error);
      return;
    }
    for (const change of group) pendingBytes -= bytesOf(change);
    events.onDurable(group);
  };

  const run = async () => {
    // Changes that are added in the same tick are written together with the first.
    await Promise.resolve();
    while (waiting.length > 0) {
      await writeGroup(takeGroup());
      await events.afterWrite(waiting.length === 0);
    }
    running = undefined;
  };

  return {
    add(change) {
      waiting.push(change);
      pendingBytes += bytesOf(change);
      running ??= run();
    },
    get pendingBytes() {
      return pendingBytes;
    },
    async settled() {
      while (running !== undefined) await running;
    },
  };
}

function bytesOf({ records }: Writable): number {
  return records.reduce((sum, { json }) => sum + json.length, 0);
}
