import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { openJournal } from "../../../src/journal/open-journal.ts";
import { promise, type Target } from "../target.ts";
import { PART, partsOf } from "./parts.ts";

/** In memory, where there is such a place: flushing costs nothing there. */
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : "/tmp";
const NAMES = ["journal.db", "journal.db-wal"];
const RECORDS = Array.from({ length: 6 }, (_, index) => ({
  revision: index + 1,
  key: `/registry/configmaps/default/a-${index}`,
  type: "put" as const,
  json: Buffer.from(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a-${index}"}}`),
  previous: undefined,
  timeMs: 1,
}));

/** The files of the store after something has written into them: it opens with what is left, takes a write, and reads it. */
export const journalTarget: Target = {
  name: "journal",
  runs: 8,
  seeds: await recordSeeds(),
  words: ["SQLite format 3\0", Buffer.from([0x37, 0x7f, 6, 0x82]), Buffer.from([0x0d, 0, 0, 0]), "CREATE TABLE", "{"],
  maxBytes: 128 * 1024,
  batch: 8,
  setUp: async () => {
    const parent = mkdtempSync(join(PLACE, "nodelet-fuzz-journal-"));
    return {
      run: async (input) => await openDamaged(join(parent, "data"), input),
      close: async () => rmSync(parent, { recursive: true }),
    };
  },
};

async function openDamaged(directory: string, input: Buffer): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  for (const [index, part] of partsOf(input, NAMES.length).entries()) {
    if (part.length > 0) writeFileSync(join(directory, NAMES[index] ?? ""), part);
  }
  const last = await open(directory);
  if (last === undefined) return;
  const again = await open(directory);
  promise(again !== undefined && again >= last, `revision ${last} was written, ${again} was read`);
}

/** The revision that was written; undefined when the journal says that it cannot use the directory. */
async function open(directory: string): Promise<number | undefined> {
  try {
    const journal = await openJournal({ directory, log: silentLog });
    const { revision } = await journal.load();
    const next = revision + 1;
    if (Number.isSafeInteger(next)) {
      await journal.append([
        { revision: next, key: "k", type: "put", json: Buffer.from("{}"), previous: undefined, timeMs: 2 },
      ]);
    }
    await journal.close();
    return next;
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}

/** A database, and one whose last writes are in its log. */
async function recordSeeds(): Promise<Buffer[]> {
  const parent = mkdtempSync(join(PLACE, "nodelet-fuzz-journal-"));
  const journal = await openJournal({ directory: parent, log: silentLog });
  await journal.load();
  await journal.append(RECORDS.slice(0, 3));
  await journal.append(RECORDS.slice(3));
  const ahead = NAMES.map((name) => readFileSync(join(parent, name)));
  await journal.close();
  const closed = readFileSync(join(parent, NAMES[0] ?? ""));
  rmSync(parent, { recursive: true });
  return [closed, Buffer.concat([ahead[0] ?? closed, Buffer.from(PART), ahead[1] ?? closed])];
}
