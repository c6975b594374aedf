import { CodedError, codeOf } from "../base/errors.ts";

/**
 * The little of SQLite that the journal needs. One statement at a time: a second call while one runs would block the
 * event loop until the first is done.
 */
export interface SqliteDatabase {
  /** Runs statements off the event loop. What needs the disk goes this way. */
  exec(sql: string): Promise<void>;
  /** The rows of a query, each as an array of its columns: numbers, strings, Buffers or null. */
  rows(sql: string): Promise<Iterable<readonly unknown[]>>;
  /** A statement that is run many times, on the event loop: for what only touches memory. */
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

/** What SQLite says when the content of a file is wrong, as opposed to a file that cannot be used now. */
const DAMAGE = /^(SQLITE_(CORRUPT|NOTADB|ERROR|SCHEMA|FORMAT|TOOBIG|MISMATCH).*|damaged)$/;

/** The file does not hold what was written to it; also for what SQLite itself does not notice. */
export function damageError(message: string): CodedError<"damaged"> {
  return new CodedError("damaged", message);
}

/** True for an error that says so. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(codeOf(error) ?? "");
}

/**
 * True when an open database cannot be relied upon any more. What could not be flushed may be on disk or not, and nothing
 * can tell: the system forgets what it failed to flush. And what is damaged now was not when it was opened.
 */
export function isUnreliable(error: unknown): boolean {
  return /^SQLITE_(IOERR_(DIR_)?FSYNC|CORRUPT|NOTADB)/.test(codeOf(error) ?? "");
}

/** True when another connection holds what this one needs. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;
}
