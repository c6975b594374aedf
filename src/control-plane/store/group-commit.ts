import type { Journal, JournalRecord } from "../../journal/port.ts";

/** Writes changes in the order in which they were added, many at a time: all that come while one write is under way. */
interface GroupCommit<Change extends Writable> {
  add(change: Change): void;
  /** Bytes of what is added and not yet durable. */
  readonly pendingBytes: number;
  /** Resolves when all that was added is durable or has failed. */
  settled(): Promise<void>;
}

/** What can be added: it knows its record. */
interface Writable {
  readonly record: JournalRecord;
}

interface CommitEvents<Change> {
  /** In order, exactly once for each change that did not fail. */
  onDurable(changes: readonly Change[]): void;
  /** A change failed, and with it all that came after it and may have built on it. */
  onFailed(changes: readonly Change[], error: unknown): void;
  /** After each write. `isIdle`: nothing waits for the disk now. What it does delays the next write. */
  afterWrite(isIdle: boolean): Promise<void>;
}

/** A larger group would not be faster, but hold the event loop for milliseconds. */
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
    const isOver = ({ record }: Change) => {
      bytes += record.json.length;
      return bytes > MAX_GROUP_BYTES;
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
      await journal.append(group.map(({ record }) => record));
    } catch (error) {
      const failed = [...group, ...waiting];
      waiting = [];
      pendingBytes = 0;
      events.onFailed(failed, error);
      return;
    }
    for (const { record } of group) pendingBytes -= record.json.length;
    events.onDurable(group);
  };

  const run = async () => {
    // Whatever else is added in this tick goes along with the first.
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
      pendingBytes += change.record.json.length;
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
