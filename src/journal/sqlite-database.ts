import { CodedError, codeOf } from "../base/errors.ts";

/**
 * The part of SQLite that the journal needs. Statements run one at a time: a second call while one runs would block the
 * event loop until the first is done.
 */
export interface SqliteDatabase {
  /** Runs statements off the event loop; statements that need the disk run this way. */
  exec(sql: string): Promise<void>;
  /** The rows of a query, each as an array of its columns: numbers, strings, Buffers or null. */
  rows(sql: string): Promise<Iterable<readonly unknown[]>>;
  /** Prepares a statement that is run many times, on the event loop; it is for statements that only touch memory. */
  prepare(sql: string): Promise<PreparedStatement>;
  close(): void;
}

/** A statement with `?` for its parameters. */
export interface PreparedStatement {
  run(parameters: ReadonlyArray<number | string | Buffer | null>): void;
}

/** Opens or creates the file. The library, which is native, is loaded with the first database and not before. */
export async function openSqlite(path: string): Promise<SqliteDatabase> {
  const { default: Database } = await import("libsql/promise");
  const database = new Database(path, {});
  return {
    async exec(sql) {
      await database.exec(sql);
    },
    async rows(sql) {
      const statement = await database.prepare(sql);
      return await statement.raw().iterate();
    },
    async prepare(sql) {
      const statement = await database.prepare(sql);
      return { run: (parameters) => statement.run(parameters) };
    },
    close: () => database.close(),
  };
}

/**
 * The codes by which SQLite reports that the content of a file is wrong, as opposed to a file that cannot be used now.
 */
const DAMAGE = /^(SQLITE_(CORRUPT|NOTADB|ERROR|SCHEMA|FORMAT|TOOBIG|MISMATCH).*|damaged)$/;

/**
 * Makes the error for a file that does not hold what was written to it; also for damage that SQLite itself does not
 * notice.
 */
export function damageError(message: string): CodedError<"damaged"> {
  return new CodedError("damaged", message);
}

/** True for an error that reports damage. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(codeOf(error) ?? "");
}

/**
 * True when an open database cannot be relied upon any more. Data that could not be flushed may be on disk or not, and
 * it cannot be found out, because the system forgets what it failed to flush. A database that is damaged now was not
 * damaged when it was opened.
 */
export function isUnreliable(error: unknown): boolean {
  return /^SQLITE_(IOERR_(DIR_)?FSYNC|CORRUPT|NOTADB)/.test(codeOf(error) ?? "");
}

/** True when another connection holds what this one needs. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;
}
