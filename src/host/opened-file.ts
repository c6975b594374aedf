/**
 * A regular file that is held open for reading. It stays the same file even if its name goes or leads elsewhere. The
 * opener closes it. An open file that was removed takes its place on the disk until it is closed.
 */
export interface OpenedFile {
  /** It tells the file from every other file, as long as the file is open. */
  readonly identity: string;
  status(): Promise<OpenedFileStatus>;
  /** Reads up to `maxBytes` from `position`: fewer at the end of the file, none behind it. */
  read(position: number, maxBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The status at the time of the call. Files are written while they are open. */
interface OpenedFileStatus {
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}
