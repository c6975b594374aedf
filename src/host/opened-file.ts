/**
 * A regular file that is held open for reading: whatever becomes of its name, it stays the same file. Whoever opened it
 * closes it, and an open file that was removed takes its place on the disk until then.
 */
export interface OpenedFile {
  /** Tells it from every other file, as long as it is open. */
  readonly identity: string;
  status(): Promise<OpenedFileStatus>;
  /** Up to `maxBytes` from `position`; fewer at the end, none behind it. */
  read(position: number, maxBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** As it is now: files are written while they are open. */
interface OpenedFileStatus {
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}
