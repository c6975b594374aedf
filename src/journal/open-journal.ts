import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import { CodedError, codeOf, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { checkRising } from "./check-rising.ts";
import { createPrivateFile, lockDirectory } from "./directory-lock.ts";
import { createDiskRoom } from "./disk-room.ts";
import { closeJournalFile, openJournalFile } from "./journal-file.ts";
import { keepReserve, markEmpty, reserveLog, restoreReserve } from "./log-reserve.ts";
import type { Journal, JournalContents, JournalErrorCode, JournalLost, JournalRecord } from "./port.ts";
import { compactRecords, INSERT_RECORD, PAGE_BYTES, readContents, rowOf } from "./record-table.ts";
import { endSalvage, REVISION_GAP, salvageJournal } from "./salvage.ts";
import { isDamage, isUnreliable, openSqlite, type PreparedStatement, type SqliteDatabase } from "./sqlite-database.ts";
import { isAcknowledgedLost, readWalFrames, type WalFrames } from "./wal-frames.ts";

interface JournalOptions {
  /** The directory is made when it is not there, with everything in it for the owner only. */
  readonly directory: string;
  readonly log: Log;
  /** Opens the database. Default: the real library does. */
  readonly openDatabase?: (path: string) => Promise<SqliteDatabase>;
}

/**
 * After this many bytes written ahead they are moved into the database: about a thousand pages, as SQLite does by
 * itself.
 */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

const CHECKPOINT_FAILED = "The write-ahead log could not be moved into the database and goes on growing";

/**
 * Opens the journal in the directory, in an SQLite database. A write that a crash cut short is dropped with a message,
 * and a damaged database is replaced by what is left of it. The only errors are those of `JournalErrorCode`.
 */
export async function openJournal({
  directory,
  log,
  openDatabase: open = openSqlite,
}: JournalOptions): Promise<Journal> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
    const lock = await lockDirectory(directory);
    try {
      const opened = await openDatabase({ path: join(directory, "journal.db"), log, open });
      return await createJournal(opened, lock.release);
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    if (codeOf(error) === "in-use" || codeOf(error) === "newer-format") throw error;
    const message = `${directory} cannot be used for a journal: ${messageOf(error)}`;
    throw new CodedError<JournalErrorCode>("unusable", message, { cause: error });
  }
}

interface OpenDatabase {
  readonly path: string;
  readonly database: SqliteDatabase;
  readonly contents: JournalContents;
  readonly log: Log;
  /** Why the log could not be moved into the database. */
  readonly problem?: unknown;
}

interface Opening extends Pick<OpenDatabase, "log"> {
  readonly path: string;
  readonly open: (path: string) => Promise<SqliteDatabase>;
}

async function openDatabase(opening: Opening): Promise<OpenDatabase> {
  const { path, log } = opening;
  const isoTime = new Date().toISOString();
  await endSalvage(path, isoTime);
  try {
    return await readDatabase(opening);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const { movedTo, objects } = await salvageJournal(path, isoTime);
    const message = "The database was damaged and moved aside; what could be read of it is kept, the rest is lost";
    log.error(message, { file: path, movedTo, objects, error });
    return await readDatabase(opening);
  }
}

async function readDatabase({ path, log, open }: Opening): Promise<OpenDatabase> {
  await createPrivateFile(path);
  await restoreReserve(path, logOf(path));
  const frames = await readWalFrames(logOf(path), PAGE_BYTES);
  const database = await openJournalFile(path, open);
  try {
    const contents = await readContents(database);
    const { taken, problem } = await emptyLog({ path, database, log }, frames);
    const dropped = frames.ends.length - taken;
    if (dropped <= 0) return { path, database, contents, log, problem };
    if (!isAcknowledgedLost(frames, taken)) {
      log.warn("A write that a crash cut short was dropped; nobody was told that it was done", { file: path, dropped });
      return { path, database, contents, log };
    }
    log.error("Changes at the end of the database cannot be read and are lost", { file: path, dropped });
    return { path, database, contents: await skipRevisions(database, contents), log };
  } catch (error) {
    database.close();
    throw error;
  }
}

const logOf = (path: string) => `${path}-wal`;

/**
 * Moves the log into the database; the rest of it does not count from then on. Returns how many frames SQLite took.
 */
async function emptyLog(
  opened: Omit<OpenDatabase, "contents">,
  frames: WalFrames,
): Promise<{ taken: number; problem?: unknown }> {
  if (frames.ends.length === 0) return { taken: 0 };
  try {
    const { taken, isEmptied } = await checkpointLog(opened.database);
    if (isEmptied) await markEmpty(logOf(opened.path));
    return { taken };
  } catch (error) {
    // The disk may be full, for example. The content of the log counts all the same.
    opened.log.warn(CHECKPOINT_FAILED, { error });
    return { taken: frames.ends.length, problem: error };
  }
}

/** Moves the log into the database. SQLite begins the log anew with its next write when all of it was moved. */
async function checkpointLog(database: SqliteDatabase): Promise<{ taken: number; isEmptied: boolean }> {
  const [row] = [...(await database.rows("PRAGMA wal_checkpoint(PASSIVE)"))];
  const [busy, taken, moved] = row ?? [];
  return { taken: Math.max(0, Number(taken)), isEmptied: busy === 0 && taken === moved };
}

/** Revisions that were acknowledged and lost must not be given to other changes. */
async function skipRevisions(database: SqliteDatabase, contents: JournalContents): Promise<JournalContents> {
  await database.exec(compactRecords(contents.compactedRevision, contents.revision + REVISION_GAP));
  return await readContents(database);
}

async function createJournal(opened: OpenDatabase, release: () => Promise<void>): Promise<Journal> {
  const { path, database, contents, log, problem } = opened;
  let loaded: JournalContents | undefined = contents;
  let { revision, compactedRevision } = contents;
  let statements: { begin: PreparedStatement; insert: PreparedStatement } | undefined;
  let bytesAhead = 0;
  let closing: Promise<void> | undefined;
  let lost: CodedError<JournalLost> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Steps run one after the other: the database has one connection, and a second call would block the event loop. */
  const inTurn = async (step: () => Promise<void>) => {
    assert(closing === undefined, "the journal is closed");
    const turn = last.then(() => {
      if (lost !== undefined) throw lost;
      return step();
    });
    last = turn.catch(() => undefined);
    return await turn;
  };

  const inTransaction = async (step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      // This fails when SQLite has ended the transaction by itself.
      await database.exec("ROLLBACK").catch(() => undefined);
      if (isUnreliable(error)) lost = lostError(error);
      throw lost ?? room.notice(error);
    }
  };

  const write = async (records: readonly JournalRecord[]) => {
    statements ??= { begin: await database.prepare("BEGIN IMMEDIATE"), insert: await database.prepare(INSERT_RECORD) };
    const { begin, insert } = statements;
    await inTransaction(async () => {
      begin.run([]);
      for (const record of records) insert.run(rowOf(record));
      await database.exec("COMMIT");
    });
    for (const { json } of records) {
      bytesAhead += PAGE_BYTES + json.length;
      room.count(json.length);
    }
  };

  const empty = async () => {
    bytesAhead = 0;
    const { isEmptied } = await checkpointLog(database);
    if (isEmptied) room.logEmptied();
  };
  const checkpoint = async () => {
    try {
      await empty();
    } catch (error) {
      if (isUnreliable(error)) lost = lostError(error);
      room.notice(error);
      log.warn(CHECKPOINT_FAILED, { error });
    }
  };
  const recover = async () =>
    await inTurn(async () => {
      await empty();
      await reserveLog(logOf(path));
    });
  const room = createDiskRoom({ databasePath: path, log, recover });
  room.notice(problem);
  await reserveLog(logOf(path)).catch(room.notice);

  return {
    async load() {
      assert(loaded !== undefined, "a journal is loaded once");
      const contents = loaded;
      loaded = undefined;
      return contents;
    },
    async append(records) {
      revision = checkRising(revision, records);
      await inTurn(async () => write(records));
      // The writer of these records does not wait for this; the next one may.
      if (bytesAhead >= CHECKPOINT_BYTES && closing === undefined) {
        // A journal that is lost refuses the checkpoint, and tells each writer why.
        inTurn(checkpoint).catch(() => undefined);
      }
    },
    async compact(target) {
      assert(target <= revision, "a journal is compacted up to what it has");
      await inTurn(async () => {
        if (target <= compactedRevision) return;
        await inTransaction(async () => database.exec(compactRecords(compactedRevision, target)));
        compactedRevision = target;
      });
    },
    get shortage() {
      return room.shortage;
    },
    async close() {
      closing ??= last.then(async () => {
        room.close();
        // Nothing is lost: the content of the log is read from there at the next opening.
        await keepReserve(logOf(path), async () => await closeJournalFile(database)).catch((error: unknown) =>
          log.warn(CHECKPOINT_FAILED, { error }),
        );
        await release();
      });
      await closing;
    },
  };
}

function lostError(cause: unknown): CodedError<JournalLost> {
  const message = `the disk failed to keep what was written, and nothing more is written to it: ${messageOf(cause)}`;
  return new CodedError<JournalLost>("journal-lost", message, { cause });
}
