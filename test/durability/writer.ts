import { createSeededRandom, type Random } from "../../src/base/random.ts";
import type { ObjectStore } from "../../src/control-plane/ports/object-store.ts";
import { createObjectStore } from "../../src/control-plane/store/create-object-store.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { openJournal } from "../../src/journal/open-journal.ts";
import { createLineLog, KEYS, lineOf, MAX_WRITES, type Opened, type Write } from "./lines.ts";

/**
 * The program that is killed: node writer.mjs DIRECTORY RUN SEED AFTER
 *
 * Opens the store, prints what it found and what happened after the revision AFTER, then writes as fast as it can and
 * prints each write once it is acknowledged. When it has written enough it waits for its end.
 */
const [directory = "", run = "0", seed = "0", after = "0"] = process.argv.slice(2);

/** The history of all that one run may write, however fast the machine is. */
const WHOLE_RUN = { maxEvents: MAX_WRITES + 200, maxBytes: Number.POSITIVE_INFINITY };

const log = createLineLog();
const journal = await openJournal({ directory, log });
const store = await createObjectStore({ journal, clock: systemClock, log }, WHOLE_RUN);
print({ opened: describe(store, Number(after)) });
// It ends with the process that is to kill it.
process.stdin.resume().on("end", () => process.exit());
await writeMuch(store, createSeededRandom(Number(seed)));

function describe(store: ObjectStore, afterRevision: number): Opened {
  const events: Write[] = [];
  const watch = store.watch("", afterRevision, ({ type, key, revision, stored }) => {
    events.push({ type: type === "DELETED" ? "remove" : "put", key, revision, ...markOf(stored.object["data"]) });
  });
  const objects = store.list("")?.items ?? [];
  return {
    revision: store.revision,
    isExpired: watch === "expired",
    events,
    objects: objects.map(({ key, revision, object }) => {
      return { type: "put", key, revision, ...markOf(object["data"]), stamp: object.metadata.resourceVersion };
    }),
  };
}

async function writeMuch(store: ObjectStore, random: Random): Promise<void> {
  let sequence = 0;
  while (sequence < MAX_WRITES) {
    const burst = Math.ceil(30 * random.next() ** 2);
    const writes = Array.from({ length: burst }, async () => writeOne(store, random, ++sequence));
    // Sometimes the next burst comes while this one is being written.
    if (random.next() < 0.7) await Promise.all(writes);
    else await writes[0];
  }
}

async function writeOne(store: ObjectStore, random: Random, sequence: number): Promise<void> {
  const key = `core/configmaps/default/k${Math.floor(random.next() * KEYS)}`;
  const padding = "x".repeat(Math.floor(random.next() ** 4 * 40_000));
  const data = { run: Number(run), sequence, padding };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: key }, data };
  const isRemoval = random.next() < 0.2 && store.headOf(key) !== undefined;
  const { revision } = await (isRemoval ? store.remove(key, object) : store.put(key, object));
  print({ acknowledged: { type: isRemoval ? "remove" : "put", key, revision, run: Number(run), sequence } });
}

function markOf(data: unknown): { run: number; sequence: number } {
  const isMarked = typeof data === "object" && data !== null && "run" in data && "sequence" in data;
  return isMarked ? { run: Number(data.run), sequence: Number(data.sequence) } : { run: -1, sequence: -1 };
}

function print(line: Parameters<typeof lineOf>[0]): void {
  process.stdout.write(lineOf(line));
}
