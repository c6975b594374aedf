import { stat } from "node:fs/promises";
import { CodedError, codeOf } from "../base/errors.ts";
import { LOG_BYTES } from "./log-reserve.ts";
import type { JournalErrorCode } from "./port.ts";
import { APPLICATION_ID, CREATE_TABLES, FORMAT_VERSION, PAGE_BYTES } from "./record-table.ts";
import { damageError, openSqlite, type SqliteDatabase } from "./sqlite-database.ts";

/**
 * Opens the database, or makes its tables where it is empty. Throws a damage error when its content makes no sense, and
 * `newer-format`. The caller holds the directory's lock.
 */
export async function openJournalFile(path: string, open = openSqlite): Promise<SqliteDatabase> {
  if ((await sizeOf(path)) === 0 && (await sizeOf(`${path}-wal`)) > 0) {
    // SQLite would take the file for a new one and remove what was written ahead of it.
    throw damageError("the file is empty although something was written");
  }
  const database = await open(path);
  try {
    // The lock is exclusive, so that the index of the log is in this process's memory and not in a mapped file. Nothing
    // is written before the format is known, so that a file of a newer version stays as it is.
    await database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA locking_mode = EXCLUSIVE`);
    const isNew = await isEmpty(path, database);
    // A change is durable when COMMIT returns: FULL flushes the log with each. The journal decides when to empty the
    // log.
    await database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY`);
    if (isNew) await database.exec(CREATE_TABLES);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Folds the log into the database and gives up its lock. The library frees a connection only when its statements are
 * collected as garbage, so closing alone would keep the file locked for this process.
 */
export async function closeJournalFile(database: SqliteDatabase): Promise<void> {
  try {
    await database.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT revision FROM compaction");
  } finally {
    database.close();
  }
}

/** Returns the bytes of a file; 0 when there is none. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** A version above this is taken for a damaged number and not for a far future. */
const MAX_PLAUSIBLE_VERSION = 255;

/** False for a journal of a known format; throws for everything else. */
async function isEmpty(path: string, database: SqliteDatabase): Promise<boolean> {
  const readNumber = async (sql: string) => {
    const [row] = [...(await database.rows(sql))];
    return Number(row?.[0]);
  };
  const version = await readNumber("PRAGMA user_version");
  const application = await readNumber("PRAGMA application_id");
  const tables = await readNumber("SELECT count(*) FROM sqlite_schema");
  if (application === 0 && version === 0 && tables === 0) return true;
  if (application !== APPLICATION_ID || version < 1 || version > MAX_PLAUSIBLE_VERSION) {
    throw damageError("the file does not say that it is a journal");
  }
  if (version <= FORMAT_VERSION) return false;
  const message = `${path} has format ${version}, of a newer version of nodelet; this one knows ${FORMAT_VERSION}`;
  throw new CodedError<JournalErrorCode>("newer-format", message);
}
