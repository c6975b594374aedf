import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { createObjectStore } from "../../src/control-plane/store/create-object-store.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { openJournal } from "../../src/journal/open-journal.ts";
import type { Journal } from "../../src/journal/port.ts";
import { openSqlite } from "../../src/journal/sqlite-database.ts";
import { createDiskHarness, createLineLog, type DiskHarness, put } from "./journal-harness.ts";

/** What SQLite says when `fsync` fails: the system may have thrown away what it was to keep. */
const SYNC_FAILURE = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
/** What it says after a file system went away beneath it. */
const DAMAGE = Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
const OTHER_FAILURE = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_WRITE" });

describe("a journal whose disk fails", () => {
  let harness: DiskHarness;
  let faults: { statement: string; error: Error }[];
  let journal: Journal;

  beforeEach(async () => {
    harness = createDiskHarness();
    faults = [];
    journal = await openJournal({
      directory: harness.directory,
      log: createLineLog(harness.logged),
      async openDatabase(path) {
        const database = await openSqlite(path);
        return {
          ...database,
          async exec(sql) {
            const fault = faults.find(({ statement }) => sql.includes(statement));
            if (fault === undefined) return await database.exec(sql);
            faults.splice(faults.indexOf(fault), 1);
            throw fault.error;
          },
        };
      },
    });
  });
  afterEach(async () => {
    await journal.close();
    await harness.end();
  });

  it("to flush writes nothing more, although the disk says that it is well again", async () => {
    await journal.append([put(1, "acknowledged")]);
    faults.push({ statement: "COMMIT", error: SYNC_FAILURE });
    const lost = {
      code: "journal-lost",
      message: expect.stringMatching(/failed to keep what was written.*disk I\/O error/),
    };
    await expect(journal.append([put(2, "b")])).rejects.toMatchObject(lost);
    await expect(journal.append([put(3, "c")])).rejects.toMatchObject(lost);
    await expect(journal.compact(1)).rejects.toMatchObject(lost);
    await journal.close();
    const { records } = await (await harness.open()).load();
    expect(records.map(({ key }) => key)).toEqual(["acknowledged"]);
  });

  it("to give back what was written writes nothing more either", async () => {
    faults.push({ statement: "COMMIT", error: DAMAGE });
    await expect(journal.append([put(1, "a")])).rejects.toMatchObject({ code: "journal-lost" });
    await expect(journal.append([put(2, "b")])).rejects.toMatchObject({ code: "journal-lost" });
  });

  it("to flush while it compacts writes nothing more either", async () => {
    await journal.append([put(1, "acknowledged")]);
    faults.push({ statement: "DELETE FROM record", error: SYNC_FAILURE });
    await expect(journal.compact(1)).rejects.toMatchObject({ code: "journal-lost" });
    await expect(journal.append([put(2, "b")])).rejects.toMatchObject({ code: "journal-lost" });
  });

  it("to write goes on once it can", async () => {
    await journal.append([put(1, "acknowledged")]);
    faults.push({ statement: "COMMIT", error: OTHER_FAILURE });
    await expect(journal.append([put(2, "b")])).rejects.toMatchObject({ code: "SQLITE_IOERR_WRITE" });
    await journal.append([put(3, "c")]);
  });

  it("to flush ends the store: the writer is refused, and whoever runs it is told why", async () => {
    const told: unknown[] = [];
    const deps = { journal, clock: createFakeClock(), log: createLineLog(harness.logged) };
    const store = await createObjectStore(deps, { onJournalLost: (error) => told.push(error) });
    const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    faults.push({ statement: "COMMIT", error: SYNC_FAILURE });
    await expect(store.put("core/configmaps/default/a", object)).rejects.toMatchObject({
      reason: "InternalError",
      message: expect.stringMatching(/the store could not write the change: the disk failed to keep/),
    });
    expect(told).toMatchObject([{ code: "journal-lost" }]);
    expect(store.list("core/configmaps/")?.items).toEqual([]);
  });
});
