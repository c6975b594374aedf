import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log, LogFields } from "../../src/base/log.ts";
import { createMemoryJournal } from "../../src/journal/memory-journal.ts";
import { openJournal } from "../../src/journal/open-journal.ts";
import type { Journal, JournalRecord } from "../../src/journal/port.ts";

/** A journal under test and a place for it that outlives it. */
export interface JournalHarness {
  /** Opens what is there; closes what was open before. */
  open(): Promise<Journal>;
  end(): Promise<void>;
}

/** A directory of its own, removed at the end, and what was logged. */
export interface DiskHarness extends JournalHarness {
  readonly directory: string;
  readonly logged: LoggedLine[];
  /** Closes what is open. */
  close(): Promise<void>;
}

export interface LoggedLine {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly message: string;
  readonly fields: LogFields;
}

export function createMemoryHarness(): JournalHarness {
  const journal = createMemoryJournal();
  return {
    async open() {
      await journal.close();
      return journal;
    },
    end: async () => journal.close(),
  };
}

export function createDiskHarness(): DiskHarness {
  const parent = mkdtempSync(join(tmpdir(), "nodelet-journal-"));
  const directory = join(parent, "data");
  const logged: LoggedLine[] = [];
  let journal: Journal | undefined;
  return {
    directory,
    logged,
    async open() {
      await journal?.close();
      journal = await openJournal({ directory, log: createLineLog(logged) });
      return journal;
    },
    close: async () => journal?.close(),
    async end() {
      await journal?.close();
      rmSync(parent, { recursive: true });
    },
  };
}

export function createLineLog(lines: LoggedLine[]): Log {
  const add =
    (level: LoggedLine["level"]) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const log: Log = { error: add("error"), warn: add("warn"), info: add("info"), debug: add("debug"), with: () => log };
  return log;
}

const TIME = 1_767_225_600_000;

/** A record that puts `key`, with a value that names both. */
export function put(revision: number, key: string, previous?: number): JournalRecord {
  return { revision, key, type: "put", json: jsonOf(revision, key), previous, timeMs: TIME + revision };
}

export function remove(revision: number, key: string, previous: number): JournalRecord {
  return { ...put(revision, key, previous), type: "delete" };
}

export function jsonOf(revision: number, key: string, padding = 3_000): Buffer {
  return Buffer.from(JSON.stringify({ revision, key, padding: `é${"x".repeat(padding)}` }));
}
