/**
 * The place where a store's changes survive the process: an ordered list of changes, each with its own revision. The
 * changes before a chosen revision are folded into the state to which they led.
 */
export interface Journal {
  /**
   * Returns what the journal held when it was opened. It is to be called once, before anything is appended. The content
   * is not kept afterwards, so that it costs memory only once.
   */
  load(): Promise<JournalContents>;
  /**
   * Resolves when all records are on disk. They get there together or, when it rejects, not at all. Revisions rise,
   * from record to record and from call to call, also after a call that was rejected. Calls are carried out in order.
   *
   * Rejects with a CodedError `JournalLost` when the disk could not be flushed or gives back what was never written,
   * and from then on always: the system may have thrown away what it could not write, and would report success the next
   * time. A journal that is opened anew has everything that was acknowledged. Rejects with a CodedError `JournalFull`
   * when the disk has no room.
   */
  append(records: readonly JournalRecord[]): Promise<void>;
  /**
   * Forgets the history up to and including the revision; values that are live then stay. An older revision is no
   * error.
   */
  compact(revision: number): Promise<void>;
  /** Tells what a full disk still has room for; undefined when there is room for everything. */
  readonly shortage: Shortage | undefined;
  /** Waits for the earlier calls, then closes the files. Idempotent. */
  close(): Promise<void>;
}

/** The code of an error after which nothing more can be written: the process should end. */
export type JournalLost = "journal-lost";

/** The code of an error after which everything can go on as soon as there is room on the disk. */
export type JournalFull = "no-space";

/**
 * A disk that is full. The journal has kept some room for what frees space and for what keeps a cluster alive, and goes
 * back to normal by itself once there is room.
 */
export interface Shortage {
  /** `small-updates`: deletions and updates of a few KiB fit. `deletions`: little is left, and it is for these alone. */
  readonly fits: "small-updates" | "deletions";
  /** Names the directory and the mend. */
  readonly message: string;
}

/** One change of one key. */
export interface JournalRecord {
  readonly revision: number;
  readonly key: string;
  readonly type: "put" | "delete";
  /** The new value; for a deletion the last value, which watchers receive. */
  readonly json: Buffer;
  /** The revision of the value that this one replaces or deletes; undefined for a new key. */
  readonly previous: number | undefined;
  /** The time of the change, milliseconds since the epoch: history is kept by age, across restarts. */
  readonly timeMs: number;
}

/** A value that was live at the compacted revision. */
export interface JournalObject {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
}

/** The `objects` as they were at `compactedRevision`, then everything that happened up to `revision`. */
export interface JournalContents {
  /** In order of their revisions. */
  readonly objects: readonly JournalObject[];
  /** In order of their revisions, all after `compactedRevision`. */
  readonly records: readonly JournalRecord[];
  /** 0 when nothing was ever compacted. */
  readonly compactedRevision: number;
  /** The last revision that was used; never less than any that was acknowledged before. */
  readonly revision: number;
}

/**
 * The reasons why a journal could not be opened: another process (or this one) holds the directory; it was written by a
 * newer version of nodelet; the directory or its files cannot be made, read or written.
 */
export type JournalErrorCode = "in-use" | "newer-format" | "unusable";
