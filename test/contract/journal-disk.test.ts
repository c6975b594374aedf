import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../src/journal/open-journal.ts";
import type { JournalContents } from "../../src/journal/port.ts";
import { openSqlite } from "../../src/journal/sqlite-database.ts";
import { createDiskHarness, createLineLog, type DiskHarness, put, remove } from "./journal-harness.ts";

const PAGE = 4096;
const FRAME = PAGE + 24;

let harness: DiskHarness;
const file = (name: string) => `${harness.directory}/${name}`;
const reload = async () => (await harness.open()).load();
const revisionsOf = ({ objects, records }: JournalContents) => [...objects, ...records].map(({ revision }) => revision);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const errors = () => harness.logged.filter(({ level }) => level === "error");

beforeEach(() => {
  harness = createDiskHarness();
});
afterEach(async () => harness.end());

describe("the directory", () => {
  it("is made for its owner only, with everything in it", async () => {
    const journal = await harness.open();
    await journal.append([put(1, "secret")]);
    expect(statSync(harness.directory).mode & 0o777).toBe(0o700);
    const modes = readdirSync(harness.directory).map((name) => [name, statSync(file(name)).mode & 0o777]);
    expect(modes).toEqual(["journal.db", "journal.db-wal", "journal.lock", "journal.pid"].map((name) => [name, 0o600]));
    await journal.close();
    expect(readdirSync(harness.directory)).toEqual(["journal.db", "journal.db-wal.reserve", "journal.lock"]);
  });

  it("has one owner, who is named, until it closes", async () => {
    const journal = await harness.open();
    const second = openJournal({ directory: harness.directory, log: createLineLog([]) });
    await expect(second).rejects.toMatchObject({
      code: "in-use",
      message: `${harness.directory} is in use by process ${process.pid}: a journal has one owner at a time`,
    });
    expect(await readLockElsewhere()).toContain("database is locked");
    await journal.append([put(1, "a")]);
    await journal.close();
    expect(await readLockElsewhere()).toContain("free");
    expect(revisionsOf(await reload())).toEqual([1]);
  });

  it("that cannot be made is an error that names it", async () => {
    mkdirSync(harness.directory);
    writeFileSync(file("file"), "");
    const opening = openJournal({ directory: file("file/below"), log: createLineLog([]) });
    await expect(opening).rejects.toMatchObject({ code: "unusable", message: expect.stringContaining("file/below") });
  });

  it("of a newer version is refused and left alone", async () => {
    await (await harness.open()).append([put(1, "a")]);
    await closeAnd(async (database) => database.exec("PRAGMA user_version = 2"));
    const before = readFileSync(file("journal.db"));
    await expect(harness.open()).rejects.toMatchObject({
      code: "newer-format",
      message: expect.stringContaining("has format 2, of a newer version of nodelet"),
    });
    expect(readFileSync(file("journal.db")).equals(before)).toBe(true);
    expect(existsSync(file("journal.pid"))).toBe(false);
  });

  it("is not worn out by a wider mode that somebody gave it", async () => {
    await (await harness.open()).close();
    chmodSync(harness.directory, 0o755);
    await harness.open();
    expect(statSync(harness.directory).mode & 0o777).toBe(0o700);
  });
});

/** Asks from another process, as locks of this one do not keep itself out everywhere. */
async function readLockElsewhere(): Promise<string> {
  const program = `const Database = require("libsql/promise"); const database = new Database(process.argv[1], {});
    database.exec("BEGIN EXCLUSIVE").then(() => console.log("free"), (error) => console.log(error.message))`;
  return spawnSync(process.execPath, ["-e", program, file("journal.lock")], { encoding: "utf8" }).stdout;
}

async function closeAnd(change: (database: Awaited<ReturnType<typeof openSqlite>>) => Promise<void>): Promise<void> {
  await harness.close();
  const database = await openSqlite(file("journal.db"));
  await change(database);
  database.close();
}

/** Ten writes of one record each, of which nothing has been moved into the database, as a crash leaves them. */
async function crashAfterTenWrites(): Promise<void> {
  const journal = await harness.open();
  for (const revision of range(1, 10)) await journal.append([put(revision, `k${revision}`)]);
  await crash();
}

/** What is on disk while the journal is open is what a crash leaves. */
async function crash(): Promise<void> {
  const left = `${harness.directory}-left`;
  cpSync(harness.directory, left, { recursive: true });
  await harness.close();
  cpSync(left, harness.directory, { recursive: true, force: true });
}

/** Where each transaction ends in the log: the position after its last frame. */
function transactionEnds(): number[] {
  const log = readFileSync(file("journal.db-wal"));
  const frames = range(0, Math.floor((log.length - 32) / FRAME) - 1);
  return frames
    .map((frame) => 32 + frame * FRAME)
    .filter((at) => log.readUInt32BE(at + 4) > 0)
    .map((at) => at + FRAME);
}

function overwrite(name: string, at: number, bytes: Buffer): void {
  const content = readFileSync(file(name));
  bytes.copy(content, at);
  writeFileSync(file(name), content);
}

describe("after a crash", () => {
  it("everything is there, without a word", async () => {
    await crashAfterTenWrites();
    expect(revisionsOf(await reload())).toEqual(range(1, 10));
    expect(harness.logged).toEqual([]);
  });

  const last = () => transactionEnds().slice(-2);
  it.each<[string, () => void]>([
    ["is cut within a frame", () => truncateSync(file("journal.db-wal"), (last()[1] ?? 0) - 100)],
    ["is cut after its first frame", () => truncateSync(file("journal.db-wal"), (last()[0] ?? 0) + FRAME)],
    [
      "has a wrong byte in its first frame",
      () => overwrite("journal.db-wal", (last()[0] ?? 0) + 200, Buffer.from("!")),
    ],
    ["has a wrong byte at its end", () => overwrite("journal.db-wal", (last()[1] ?? 0) - 1, Buffer.from("!"))],
    ["has zeros for a page", () => overwrite("journal.db-wal", (last()[1] ?? 0) - PAGE, Buffer.alloc(PAGE))],
  ])("a last write that %s is dropped with a message, and the next begins there", async (_what, tear) => {
    await crashAfterTenWrites();
    tear();
    const journal = await harness.open();
    expect(revisionsOf(await journal.load())).toEqual(range(1, 9));
    expect(harness.logged).toMatchObject([{ level: "warn", fields: { file: file("journal.db") } }]);
    await journal.append([put(10, "other")]);
    expect(revisionsOf(await reload())).toEqual(range(1, 10));
    expect(harness.logged).toHaveLength(1);
  });

  it.each([
    [
      "a byte in the middle of the log",
      () => overwrite("journal.db-wal", (transactionEnds()[5] ?? 0) + 200, Buffer.from("!")),
      5,
    ],
    ["the head of the log", () => overwrite("journal.db-wal", 0, Buffer.alloc(32, 0xa5)), 0],
  ])(
    "without %s what was acknowledged is lost, which is an error, and its revisions stay used",
    async (_what, damage, left) => {
      await crashAfterTenWrites();
      damage();
      const contents = await reload();
      expect(revisionsOf(contents)).toEqual(range(1, left));
      expect(contents.records).toEqual([]);
      expect(contents.revision).toBeGreaterThanOrEqual(1_000_000);
      expect(contents.compactedRevision).toBe(contents.revision);
      expect(errors()).toHaveLength(1);
      expect(revisionsOf(await reload())).toEqual(range(1, left));
      expect(errors()).toHaveLength(1);
    },
  );
});

describe("a damaged database", () => {
  /** Two hundred objects, some history, all of it moved from the log into the database. */
  async function makeDatabase(): Promise<number> {
    const journal = await harness.open();
    await journal.append(range(1, 200).map((revision) => put(revision, `k${revision}`)));
    await journal.append(range(201, 220).map((revision) => put(revision, `k${revision - 200}`, revision - 200)));
    await journal.append([remove(221, "k1", 201)]);
    await journal.compact(210);
    await harness.close();
    return statSync(file("journal.db")).size / PAGE;
  }

  const noise = (bytes: number) => Buffer.alloc(bytes, 0xa5);
  it.each<[string, (pages: number) => void, number]>([
    ["whose first page is noise", () => overwrite("journal.db", 0, noise(PAGE)), 199],
    ["whose first page is zeros", () => overwrite("journal.db", 0, Buffer.alloc(PAGE)), 199],
    ["that is cut in half", (pages) => truncateSync(file("journal.db"), Math.floor(pages / 2) * PAGE), 50],
    ["that is cut within a page", (pages) => truncateSync(file("journal.db"), (pages - 20) * PAGE + 99), 100],
    [
      "with noise in the middle",
      (pages) => overwrite("journal.db", Math.floor(pages / 2) * PAGE, noise(2 * PAGE)),
      150,
    ],
    ["with a wrong byte in a value", () => overwrite("journal.db", findInDatabase("k150") + 30, Buffer.from("?")), 198],
    ["that is all noise", (pages) => overwrite("journal.db", 0, noise(pages * PAGE)), 0],
    ["that is some other file", () => writeFileSync(file("journal.db"), "hello"), 0],
  ])("%s is moved aside, with what is left of it kept", async (_what, damage, atLeast) => {
    damage(await makeDatabase());
    const damaged = readFileSync(file("journal.db"));
    const journal = await harness.open();
    const contents = await journal.load();
    const keys = contents.objects.map(({ key }) => key);
    expect(keys.length).toBeGreaterThanOrEqual(atLeast);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { key, revision, json } of contents.objects)
      expect(JSON.parse(json.toString())).toMatchObject({ key, revision });
    expect(contents.records).toEqual([]);
    expect(contents.revision).toBeGreaterThanOrEqual(1_000_000);
    expect(contents.compactedRevision).toBe(contents.revision);
    expect(errors()).toMatchObject([{ fields: { file: file("journal.db"), objects: keys.length } }]);
    const movedTo = String(errors()[0]?.fields["movedTo"]);
    // The first page is written by opening it.
    expect(readFileSync(`${movedTo}/journal.db`).subarray(PAGE).equals(damaged.subarray(PAGE))).toBe(true);
    await journal.append([put(contents.revision + 1, "new")]);
    expect(revisionsOf(await reload())).toEqual([
      ...contents.objects.map(({ revision }) => revision),
      contents.revision + 1,
    ]);
    expect(errors()).toHaveLength(1);
  });

  it("with a byte flipped anywhere opens, with every value either whole or gone", async () => {
    const pages = await makeDatabase();
    const whole = readFileSync(file("journal.db"));
    for (let at = 7; at < pages * PAGE; at += Math.floor((pages * PAGE) / 40)) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0x55;
      writeFileSync(file("journal.db"), flipped);
      const contents = await reload();
      for (const { key, json } of [...contents.objects, ...contents.records]) {
        expect(JSON.parse(json.toString())).toMatchObject({ key });
      }
      expect(contents.objects.length, `with the byte at ${at} flipped`).toBeGreaterThan(100);
      await harness.close();
    }
  });

  it("is mended by its log where that has the page, and otherwise keeps what was in the log", async () => {
    await makeDatabase();
    const journal = await harness.open();
    await journal.append([put(222, "in the log")]);
    await crash();
    overwrite("journal.db", 0, noise(PAGE));
    expect(revisionsOf(await reload())).toContain(222);
    expect(errors()).toEqual([]);
    await harness.open();
    await crash();
    overwrite("journal.db", 100 * PAGE, noise(PAGE));
    const { objects } = await reload();
    expect(objects.map(({ key }) => key)).toContain("in the log");
    expect(objects).toHaveLength(199);
    expect(errors()).toHaveLength(1);
  });

  it("that was emptied while its log had something counts as damaged", async () => {
    await crashAfterTenWrites();
    truncateSync(file("journal.db"), 0);
    expect(revisionsOf(await reload())).toEqual(range(1, 10));
    expect(errors()).toHaveLength(1);
  });

  it("is replaced to the end when a crash came between the two steps", async () => {
    await makeDatabase();
    cpSync(file("journal.db"), file("journal.db.salvaging"));
    spawnSync("mv", [file("journal.db"), file("elsewhere")]);
    writeFileSync(file("journal.db-wal"), "the log of the damaged one");
    expect((await reload()).revision).toBe(221);
    expect(readdirSync(harness.directory).some((name) => name.includes("damaged"))).toBe(true);
  });

  const findInDatabase = (text: string) => readFileSync(file("journal.db")).indexOf(`"key":"${text}"`);
});
