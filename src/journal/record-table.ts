import { crc32 } from "node:zlib";
import type { JournalContents, JournalObject, JournalRecord } from "./port.ts";
import { damageError, type SqliteDatabase } from "./sqlite-database.ts";

/** The ASCII text "ndlj". A database with another id is not ours and stays untouched. */
export const APPLICATION_ID = 0x6e646c6a;
export const FORMAT_VERSION = 1;
/** A power of two between 512 and 65536; SQLite's default, and what most file systems write at once. */
export const PAGE_BYTES = 4096;

/** The columns before key and value can be read without those two, which are often on pages of their own. */
const COLUMNS = "revision, previous, type, time_ms, checksum, key, json";
const TYPES = ["delete", "put"] as const;

/**
 * The table holds the records whose value is live or was live at the compacted revision or later. The revision is the
 * table's own key, so a new record goes to the end of the file, and nothing else is written for it.
 */
export const CREATE_TABLES = `
  BEGIN;
  CREATE TABLE record (
    revision INTEGER PRIMARY KEY, previous INTEGER, type INTEGER NOT NULL, time_ms INTEGER NOT NULL,
    checksum INTEGER NOT NULL, key TEXT NOT NULL, json BLOB NOT NULL
  ) STRICT;
  CREATE TABLE compaction (revision INTEGER NOT NULL) STRICT;
  INSERT INTO compaction VALUES (0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT_VERSION};
  COMMIT`;

export const INSERT_RECORD = `INSERT INTO record (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Returns the parameters of INSERT_RECORD. */
export function rowOf(record: JournalRecord): Array<number | string | Buffer | null> {
  const { revision, previous = null, type, timeMs, key, json } = record;
  return [revision, previous, TYPES.indexOf(type), timeMs, checksumOf(record), key, json];
}

/**
 * Makes a record from its row. SQLite notices pages that make no sense, but not a wrong byte within a value, which the
 * checksum shows. Throws a damage error.
 */
export function recordOf(row: readonly unknown[]): JournalRecord {
  const [revision, previous, type, timeMs, checksum, key, json] = row;
  const record = {
    revision: numberOf(revision),
    previous: previous === null ? undefined : numberOf(previous),
    type: type === TYPES.indexOf("put") ? TYPES[1] : TYPES[0],
    timeMs: numberOf(timeMs),
    key: typeof key === "string" ? key : "",
    json: Buffer.isBuffer(json) ? json : Buffer.alloc(0),
  };
  if (checksumOf(record) !== checksum) throw damageError(`the checksum of revision ${record.revision} is wrong`);
  return record;
}

/** Selects all records between the two revisions, both included, in order of the revision or in reverse. */
export function selectRecords(from: number, to: number, order: "" | "DESC" = ""): string {
  // A single record is looked up, because a range would read on to the next record, which may be on a damaged page.
  const where = from === to ? `revision = ${from}` : `revision BETWEEN ${from} AND ${to}`;
  return `SELECT ${COLUMNS} FROM record WHERE ${where} ORDER BY revision ${order}`;
}

/** Removes the values replaced or deleted after `from` and up to `to`, and the deletions themselves. */
export function compactRecords(from: number, to: number): string {
  const range = `revision > ${from} AND revision <= ${to}`;
  return `
    BEGIN IMMEDIATE;
    DELETE FROM record WHERE revision IN (SELECT previous FROM record WHERE ${range});
    DELETE FROM record WHERE ${range} AND type = ${TYPES.indexOf("delete")};
    UPDATE compaction SET revision = ${to};
    COMMIT`;
}

/**
 * Reads the whole content. Throws a damage error, SQLite's or one about a record, when it differs from what was
 * written.
 */
export async function readContents(database: SqliteDatabase): Promise<JournalContents> {
  const [compaction] = [...(await database.rows("SELECT revision FROM compaction"))];
  const compactedRevision = numberOf(compaction?.[0]);
  const objects: JournalObject[] = [];
  const records: JournalRecord[] = [];
  const live = new Map<string, number>();
  let last = 0;
  for (const row of await database.rows(selectRecords(0, Number.MAX_SAFE_INTEGER))) {
    const record = recordOf(row);
    last = record.revision;
    checkSequence(record, compactedRevision, live);
    if (record.revision > compactedRevision) records.push(record);
    else objects.push({ key: record.key, revision: record.revision, json: record.json });
  }
  return { objects, records, compactedRevision, revision: Math.max(last, compactedRevision) };
}

/** A record names the revision that it replaces. If the key has another one, records are missing. */
function checkSequence(record: JournalRecord, compactedRevision: number, live: Map<string, number>): void {
  const { revision, key, type, previous } = record;
  const isHistory = revision > compactedRevision;
  const fits = isHistory ? live.get(key) === previous : type === "put" && !live.has(key);
  if (!fits) throw damageError(`what should come before revision ${revision} is missing`);
  if (type === "put") live.set(key, revision);
  else live.delete(key);
}

function checksumOf({ revision, previous, type, timeMs, key, json }: JournalRecord): number {
  return crc32(json, crc32(`${revision} ${previous ?? 0} ${type} ${timeMs} ${key}\n`));
}

function numberOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damageError(`${value} is no number`);
  return value;
}
