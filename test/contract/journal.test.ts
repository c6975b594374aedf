import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Journal } from "../../src/journal/port.ts";
import { createDiskHarness, createMemoryHarness, type JournalHarness, jsonOf, put, remove } from "./journal-harness.ts";

let harness: JournalHarness;
let journal: Journal;
const reload = async () => {
  journal = await harness.open();
  return await journal.load();
};

describe.each([
  ["memory", createMemoryHarness],
  ["disk", createDiskHarness],
])("journal: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = createHarness();
    journal = await harness.open();
  });
  afterEach(async () => harness.end());

  it("is empty at first", async () => {
    expect(await journal.load()).toEqual({ objects: [], records: [], revision: 0, compactedRevision: 0 });
  });

  it("has all records again, byte for byte and in order", async () => {
    const records = [put(1, "a"), put(2, "b/ü/𝒳"), put(5, "a", 1), remove(6, "b/ü/𝒳", 2), put(9, "b/ü/𝒳")];
    await journal.append(records.slice(0, 2));
    await journal.append(records.slice(2));
    expect(await reload()).toEqual({ objects: [], records, revision: 9, compactedRevision: 0 });
    expect(await reload()).toMatchObject({ records });
  });

  it("keeps values of every size", async () => {
    const sizes = [0, 1, 4_000, 4_096, 70_000, 3_000_000];
    const records = sizes.map((size, index) => ({ ...put(index + 1, `${size}`), json: jsonOf(index, "k", size) }));
    await journal.append(records);
    const contents = await reload();
    expect(contents.records.map(({ json }) => json.length)).toEqual(records.map(({ json }) => json.length));
    expect(contents.records.every(({ json }, index) => records[index]?.json.equals(json))).toBe(true);
  });

  it("carries out in order what is asked at once", async () => {
    const appends = Array.from({ length: 50 }, async (_, index) => journal.append([put(index + 1, `k${index}`)]));
    const compaction = journal.compact(10);
    const later = journal.append([put(51, "last")]);
    await Promise.all([...appends, compaction, later]);
    const { objects, records } = await reload();
    expect(objects.map(({ revision }) => revision)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    expect(records.map(({ revision }) => revision)).toEqual(Array.from({ length: 41 }, (_, index) => index + 11));
  });

  it("forgets history up to a revision and keeps what was live then", async () => {
    await journal.append([put(1, "kept"), put(2, "changed"), put(3, "deleted"), put(4, "deleted later")]);
    await journal.append([put(5, "changed", 2), remove(6, "deleted", 3), put(7, "changed", 5)]);
    await journal.append([remove(8, "deleted later", 4), put(9, "deleted")]);
    await journal.compact(6);
    const contents = await reload();
    expect(contents).toMatchObject({ revision: 9, compactedRevision: 6 });
    expect(contents.objects).toEqual([
      { key: "kept", revision: 1, json: jsonOf(1, "kept") },
      { key: "deleted later", revision: 4, json: jsonOf(4, "deleted later") },
      { key: "changed", revision: 5, json: jsonOf(5, "changed") },
    ]);
    expect(contents.records).toEqual([put(7, "changed", 5), remove(8, "deleted later", 4), put(9, "deleted")]);
  });

  it("forgets in steps as it does at once, and never goes back", async () => {
    await journal.append([put(1, "a"), put(2, "a", 1), put(3, "a", 2), remove(4, "a", 3), put(5, "b")]);
    for (const revision of [1, 2, 2, 4, 3, 0]) await journal.compact(revision);
    expect(await reload()).toEqual({ objects: [], records: [put(5, "b")], revision: 5, compactedRevision: 4 });
  });

  it("knows the last revision also when nothing is left", async () => {
    await journal.append([put(1, "a"), remove(7, "a", 1)]);
    await journal.compact(7);
    expect(await reload()).toEqual({ objects: [], records: [], revision: 7, compactedRevision: 7 });
    await journal.append([put(8, "a")]);
    expect(await reload()).toMatchObject({ records: [put(8, "a")], revision: 8 });
  });

  it("refuses revisions that do not rise, and revisions that it does not have", async () => {
    await journal.append([put(3, "a")]);
    await expect(journal.append([put(3, "b")])).rejects.toThrow("rise");
    await expect(journal.append([put(5, "b"), put(4, "c")])).rejects.toThrow("rise");
    await expect(journal.compact(99)).rejects.toThrow("up to what it has");
    expect(await reload()).toMatchObject({ records: [put(3, "a")] });
  });

  it("closes after what was asked before, and again without effect", async () => {
    const append = journal.append([put(1, "a")]);
    await Promise.all([journal.close(), journal.close()]);
    await append;
    expect(await reload()).toMatchObject({ revision: 1 });
  });
});
