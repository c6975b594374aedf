import { access, copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "../base/errors.ts";
import { closeJournalFile, openJournalFile } from "./journal-file.ts";
import type { JournalRecord } from "./port.ts";
import { INSERT_RECORD, PAGE_BYTES, recordOf, rowOf, selectRecords } from "./record-table.ts";
import { openSqlite, type SqliteDatabase } from "./sqlite-database.ts";

/** The result of salvaging a damaged database. */
interface Salvage {
  /** The directory that now holds the damaged files. */
  readonly movedTo: string;
  readonly objects: number;
}

/**
 * The gap that is added to the last revision that is still there. More revisions than that were acknowledged, and a
 * revision that clients remember must never mean something else; upstream advises the same for an etcd that is
 * restored.
 */
export const REVISION_GAP = 1_000_000;

/**
 * Makes a new database of what can still be read of a damaged one, and moves the damaged one aside. It keeps the newest
 * versions that are left: objects can be missing or older than they were, and deleted ones can be back. The history is
 * given up, so that every client lists anew. After a crash on the way the next opening begins the salvage again, or
 * ends it.
 */
export async function salvageJournal(path: string, isoTime: string): Promise<Salvage> {
  const fresh = freshPath(path);
  const copy = `${path}.examined`;
  await removeDatabase(fresh);
  await closeJournalFile(await openJournalFile(fresh));
  let records: JournalRecord[] = [];
  for (const attempt of ATTEMPTS) {
    if (records.length === 0) records = await readCopy({ path, copy, fresh, ...attempt });
    await removeDatabase(copy);
  }
  const objects = await writeObjects(fresh, records);
  return { movedTo: await replaceDatabase(path, isoTime), objects };
}

/**
 * To be called before opening, because the damaged database may have been moved aside before the new one was put in
 * place.
 */
export async function endSalvage(path: string, isoTime: string): Promise<void> {
  const isMissing = !(await exists(path));
  if (isMissing && (await exists(freshPath(path)))) await replaceDatabase(path, isoTime);
}

const freshPath = (path: string) => `${path}.salvaging`;

async function replaceDatabase(path: string, isoTime: string): Promise<string> {
  const movedTo = `${path}.damaged-${isoTime.replaceAll(/[-:]/g, "")}`;
  await mkdir(movedTo, { mode: 0o700 });
  // The log is moved last, because a database without its log could be taken for a whole one. `endSalvage` moves the
  // rest.
  for (const file of [path, `${path}-wal`]) await rename(file, `${movedTo}/${basename(file)}`).catch(ignoreAbsent);
  await rename(freshPath(path), path);
  await syncDirectory(dirname(path));
  return movedTo;
}

/**
 * The attempts are made until one finds something. The first page has the key to all others. Its content is the same in
 * every journal, so it can be taken from a new one.
 */
const ATTEMPTS = [
  { withFirstPage: false, withLog: true },
  { withFirstPage: true, withLog: true },
  { withFirstPage: true, withLog: false },
] as const;

interface Attempt {
  readonly path: string;
  readonly copy: string;
  readonly fresh: string;
  readonly withFirstPage: boolean;
  readonly withLog: boolean;
}

async function readCopy({ path, copy, fresh, withFirstPage, withLog }: Attempt): Promise<JournalRecord[]> {
  await copyFile(path, copy);
  if (withLog) await copyFile(`${path}-wal`, `${copy}-wal`).catch(ignoreAbsent);
  if (withFirstPage) await copyFirstPage(fresh, copy);
  try {
    const database = await openSqlite(copy);
    try {
      await database.exec("PRAGMA locking_mode = EXCLUSIVE");
      return await readWhatIsLeft(database);
    } finally {
      database.close();
    }
  } catch {
    // Any error of SQLite about this copy leads to another attempt, or in the end to no records.
    return [];
  }
}

/**
 * Reads in ever smaller parts where the whole cannot be read, first from the start and then, if that takes too long,
 * from the end.
 */
async function readWhatIsLeft(database: SqliteDatabase): Promise<JournalRecord[]> {
  const byRevision = new Map<number, JournalRecord>();
  /** The number of queries in a row that found nothing new. */
  let inVain = 0;

  /** False when the range could not be read to its end. */
  const readRange = async (from: number, to: number, order?: "DESC") => {
    const known = byRevision.size;
    try {
      for (const row of await database.rows(selectRecords(from, to, order))) keepIfWhole(row, byRevision);
      return true;
    } catch {
      return false;
    } finally {
      inVain = byRevision.size > known ? 0 : inVain + 1;
    }
  };
  const readParts = async (from: number, to: number): Promise<void> => {
    if (inVain > MAX_QUERIES_IN_VAIN || (await readRange(from, to)) || from === to) return;
    const middle = Math.floor((from + to) / 2);
    await readParts(from, middle);
    await readParts(middle + 1, to);
  };

  await readParts(0, Number.MAX_SAFE_INTEGER);
  if (inVain > MAX_QUERIES_IN_VAIN) await readRange(0, Number.MAX_SAFE_INTEGER, "DESC");
  return [...byRevision.values()].sort((a, b) => a.revision - b.revision);
}

/**
 * A part that is lost costs two queries for each of its revisions. With more queries than this in vain, the tree itself is
 * damaged, and smaller parts do not help.
 */
const MAX_QUERIES_IN_VAIN = 1_000;

function keepIfWhole(row: readonly unknown[], byRevision: Map<number, JournalRecord>): void {
  try {
    const record = recordOf(row);
    byRevision.set(record.revision, record);
  } catch {
    // A value that differs from what was written is not kept; the one before it may be.
  }
}

async function writeObjects(path: string, records: readonly JournalRecord[]): Promise<number> {
  const live = new Map<string, JournalRecord>();
  for (const record of records) {
    if (record.type === "put") live.set(record.key, { ...record, previous: undefined });
    else live.delete(record.key);
  }
  const revision = (records.at(-1)?.revision ?? 0) + REVISION_GAP;
  const database = await openJournalFile(path);
  const insert = await database.prepare(INSERT_RECORD);
  await database.exec("BEGIN IMMEDIATE");
  for (const record of live.values()) insert.run(rowOf(record));
  await database.exec(`UPDATE compaction SET revision = ${revision}; COMMIT`);
  await closeJournalFile(database);
  return live.size;
}

async function copyFirstPage(from: string, to: string): Promise<void> {
  const source = await open(from, "r");
  const target = await open(to, "r+");
  try {
    const page = Buffer.alloc(PAGE_BYTES);
    await source.read(page, 0, PAGE_BYTES, 0);
    const { size } = await target.stat();
    page.writeUInt32BE(Math.max(1, Math.ceil(size / PAGE_BYTES)), PAGE_COUNT_IN_HEADER);
    await target.write(page, 0, PAGE_BYTES, 0);
  } finally {
    await source.close();
    await target.close();
  }
}

/** The offset of the page count in the first page: https://www.sqlite.org/fileformat2.html#the_database_header */
const PAGE_COUNT_IN_HEADER = 28;

async function removeDatabase(path: string): Promise<void> {
  for (const file of [path, `${path}-wal`, `${path}-journal`]) await rm(file, { force: true });
}

/** Flushes the directory, so that the new names are on disk with what they name. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    (error: unknown) => {
      ignoreAbsent(error);
      return false;
    },
  );
}

function ignoreAbsent(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}
