import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import type { Shortage } from "../../journal/port.ts";
import type { StoreEvent } from "../ports/object-store.ts";
import { createObjectStore, type ObjectStoreOptions } from "./create-object-store.ts";

const named = (name: string, text = ""): KubeObject => ({ apiVersion: "v1", kind: "T", metadata: { name }, text });
const put = (key: string, text?: string) => ({ type: "put" as const, key, object: named(key, text) });

async function openStore(options?: ObjectStoreOptions) {
  const groups: string[][] = [];
  const disk: { fault: Error | undefined; shortage: Shortage | undefined } = { fault: undefined, shortage: undefined };
  const memory = createMemoryJournal();
  const journal = {
    load: async () => memory.load(),
    compact: async (revision: number) => memory.compact(revision),
    close: async () => memory.close(),
    get shortage() {
      return disk.shortage;
    },
    async append(records: Parameters<typeof memory.append>[0]) {
      groups.push(records.map(({ key }) => key));
      if (disk.fault) throw disk.fault;
      await memory.append(records);
    },
  };
  const store = await createObjectStore({ journal, clock: createFakeClock(), log: silentLog }, options);
  return { store, groups, disk };
}

describe("several writes of a store as one", () => {
  it("have revisions in their order, and are told of one by one", async () => {
    const { store } = await openStore();
    await store.put("c", named("c"));
    const told: StoreEvent[] = [];
    store.watch("", 1, (event) => told.push(event));
    const stored = await store.write([put("a"), put("b"), { type: "remove", key: "c" }]);
    expect(stored.map(({ key, revision }) => [key, revision])).toEqual([
      ["a", 2],
      ["b", 3],
      ["c", 4],
    ]);
    expect(told.map(({ type, key }) => `${type} ${key}`)).toEqual(["ADDED a", "ADDED b", "DELETED c"]);
    expect([store.revision, store.headRevision, store.get("c")]).toEqual([4, 4, undefined]);
  });

  it("are in one group of the journal, also where the group before them is nearly full", async () => {
    const { store, groups } = await openStore();
    const singles = Array.from({ length: 255 }, async (_, index) => store.put(`k${index}`, named(`k${index}`)));
    await Promise.all([...singles, store.write([put("a"), put("b")])]);
    expect(groups.map((keys) => keys.length)).toEqual([255, 2]);
    expect(groups[1]).toEqual(["a", "b"]);
  });

  it("fail together, and what was decided on them too", async () => {
    const { store, disk } = await openStore();
    disk.fault = new Error("broken");
    const results = await Promise.allSettled([store.write([put("a"), put("b")]), store.put("c", named("c"))]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([store.headList(""), store.list("")?.items]).toEqual([[], []]);
  });

  it.each<[string, ObjectStoreOptions, Shortage | undefined]>([
    ["one is too large", { maxObjectBytes: 200 }, undefined],
    ["all of them are too much for the disk", { maxPendingBytes: 300 }, undefined],
    ["one has no room on a full disk", {}, { fits: "deletions", message: "the disk is full" }],
  ])("do not happen at all where %s", async (_, options, shortage) => {
    const { store, disk } = await openStore(options);
    await store.put("c", named("c"));
    disk.shortage = shortage;
    await expect(store.write([{ type: "remove", key: "c" }, put("b", "x".repeat(250))])).rejects.toThrow();
    expect([store.headRevision, store.headOf("c")?.revision, store.headOf("b")]).toEqual([1, 1, undefined]);
  });
});
