import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { ObjectStore, StoreEvent } from "../../src/control-plane/ports/object-store.ts";
import type { ObjectStoreOptions } from "../../src/control-plane/store/create-object-store.ts";
import { createObjectStore } from "../../src/control-plane/store/create-object-store.ts";
import { createFakeClock, type FakeClock } from "../../src/host/fake/fake-clock.ts";
import type { Journal, JournalRecord } from "../../src/journal/port.ts";
import {
  createDiskHarness,
  createLineLog,
  createMemoryHarness,
  type JournalHarness,
  type LoggedLine,
} from "./journal-harness.ts";

const POD = "core/pods/default/";

let harness: JournalHarness;
let clock: FakeClock;
let store: ObjectStore;
let logged: LoggedLine[];
/** What the journal answers; undefined lets it write. */
let fault: Error | undefined;
let compactionFault: Error | undefined;
/** Sizes of the groups that were written. */
let groups: number[];

function pod(name: string, value = "", padding = 0): KubeObject {
  const spec = { value, padding: "x".repeat(padding) };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, resourceVersion: "of the client" }, spec };
}

const putPod = async (name: string, value?: string) => store.put(POD + name, pod(name, value));

function faulty(journal: Journal): Journal {
  return {
    load: async () => journal.load(),
    compact: async (revision) => (compactionFault ? Promise.reject(compactionFault) : journal.compact(revision)),
    close: async () => journal.close(),
    get shortage() {
      return journal.shortage;
    },
    async append(records: readonly JournalRecord[]) {
      if (fault) throw fault;
      groups.push(records.length);
      await journal.append(records);
    },
  };
}

async function openStore(options?: ObjectStoreOptions): Promise<void> {
  await store?.close();
  store = await createObjectStore(
    { journal: faulty(await harness.open()), clock, log: createLineLog(logged) },
    { ...options },
  );
}

function record(prefix: string, after: number): { events: StoreEvent[]; stop: () => void } {
  const events: StoreEvent[] = [];
  const stop = store.watch(prefix, after, (event) => events.push(event));
  if (stop === "expired") throw new Error("expired");
  return { events, stop };
}

const brief = ({ type, key, revision, previous }: StoreEvent) => [
  type,
  key.slice(POD.length),
  revision,
  previous?.revision,
];
const valuesOf = (prefix: string, at?: number) =>
  store.list(prefix, at)?.items.map(({ object }) => [object.metadata.name, object["spec"]].flatMap(textOf));
const textOf = (part: unknown) => (typeof part === "object" && part !== null && "value" in part ? part.value : part);

describe.each([
  ["memory", createMemoryHarness],
  ["disk", createDiskHarness],
])("object store on a journal: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = createHarness();
    clock = createFakeClock();
    [logged, groups, fault, compactionFault] = [[], [], undefined, undefined];
    await openStore();
  });
  afterEach(async () => {
    await store.close();
    await harness.end();
  });

  describe("versions", describeVersions);
  describe("lists", describeLists);
  describe("watches", describeWatches);
  describe("head and failures", describeHead);
  describe("limits", describeLimits);
  describe("restarts", describeRestarts);
});

function describeVersions() {
  it("stamps each version with the next revision, in the object and in its JSON", async () => {
    expect(store.revision).toBe(0);
    const first = await putPod("a", "1");
    const second = await putPod("a", "2");
    expect([first.revision, second.revision, store.revision]).toEqual([1, 2, 2]);
    expect(second.object.metadata).toEqual({ name: "a", resourceVersion: "2" });
    expect(JSON.parse(second.json.toString())).toEqual(second.object);
    expect(first.object).toMatchObject({ metadata: { resourceVersion: "1" }, spec: { value: "1" } });
    expect(store.get(`${POD}a`)).toBe(second);
  });

  it("is not touched by what becomes of an object that was put", async () => {
    const labels: Record<string, string> = { app: "web" };
    const given = { ...pod("a"), metadata: { name: "a", labels } };
    const stored = await store.put(`${POD}a`, given);
    labels["app"] = "other";
    expect(stored.object.metadata.labels).toEqual({ app: "web" });
    expect(given.metadata).not.toHaveProperty("resourceVersion");
  });

  it("resolves a removal with the last state, stamped with the removal's revision", async () => {
    await putPod("a", "1");
    const removed = await store.remove(`${POD}a`);
    expect(removed).toMatchObject({
      revision: 2,
      object: { metadata: { resourceVersion: "2" }, spec: { value: "1" } },
    });
    await putPod("b", "1");
    const last = await store.remove(`${POD}b`, pod("b", "last words"));
    expect(last).toMatchObject({ revision: 4, object: { spec: { value: "last words" } } });
    expect(store.list("")).toEqual({ items: [], revision: 4 });
    expect([store.get(`${POD}a`), store.headOf(`${POD}b`)]).toEqual([undefined, undefined]);
  });

  it("refuses to remove what is not there", async () => {
    await expect(store.remove(`${POD}a`)).rejects.toThrow("is not there");
    expect(store.revision).toBe(0);
  });

  it("keeps text of every kind", async () => {
    const text = 'ü 𝒳 \u2028 \\ " \u0000';
    await store.put("core/configmaps/default/a", pod("a", text));
    await openStore();
    expect(store.get("core/configmaps/default/a")?.object["spec"]).toMatchObject({ value: text });
  });
}

function describeLists() {
  it("lists and counts what is below a prefix, in order of the keys", async () => {
    const keys = [
      "core/pods/b/1",
      "core/pods/a/2",
      "core/pods/a/10",
      "core/pods/a-b/1",
      "core/podtemplates/a/1",
      "apps/x/a/1",
    ];
    await Promise.all(keys.map(async (key) => store.put(key, pod(key))));
    const list = (prefix: string) => store.list(prefix)?.items.map(({ key }) => key);
    expect(list("core/pods/")).toEqual(["core/pods/a-b/1", "core/pods/a/10", "core/pods/a/2", "core/pods/b/1"]);
    expect(list("core/pods/a/")).toEqual(["core/pods/a/10", "core/pods/a/2"]);
    expect(list("")).toEqual([...keys].sort());
    expect(list("core/pods/a/2")).toEqual(["core/pods/a/2"]);
    expect([list("zzz"), list("core/nodes/")]).toEqual([[], []]);
    expect(["core/pods/", "core/pods/a/", "", "zzz"].map(store.count)).toEqual([4, 2, 6, 0]);
    expect(store.headList("core/pods/a").map(({ key }) => key)).toEqual([
      "core/pods/a-b/1",
      "core/pods/a/10",
      "core/pods/a/2",
    ]);
  });

  it("lists as it was at every revision that is kept", async () => {
    await putPod("a", "1");
    await putPod("b", "2");
    await putPod("a", "3");
    await store.remove(`${POD}b`);
    await putPod("c", "5");
    await putPod("b", "6");
    expect([0, 1, 2, 3, 4, 5, 6].map((revision) => valuesOf(POD, revision))).toEqual([
      [],
      [["a", "1"]],
      [
        ["a", "1"],
        ["b", "2"],
      ],
      [
        ["a", "3"],
        ["b", "2"],
      ],
      [["a", "3"]],
      [
        ["a", "3"],
        ["c", "5"],
      ],
      [
        ["a", "3"],
        ["b", "6"],
        ["c", "5"],
      ],
    ]);
    expect(store.list(POD, 3)).toMatchObject({ revision: 3 });
    expect(store.list(POD, 7)).toBeUndefined();
  });

  it("gives a list that does not change afterwards", async () => {
    await putPod("a");
    const list = store.list(POD);
    const head = store.headList(POD);
    await putPod("b");
    await store.remove(`${POD}a`);
    expect([list?.items.length, head.length]).toEqual([1, 1]);
  });
}

function describeWatches() {
  it("replays what is kept and goes on, with no gap and nothing twice", async () => {
    await putPod("a");
    await putPod("b");
    await store.put("core/nodes/n", pod("n"));
    const pending = putPod("a");
    const { events } = record(POD, 1);
    await pending;
    await store.remove(`${POD}b`);
    expect(events.map(brief)).toEqual([
      ["ADDED", "b", 2, undefined],
      ["MODIFIED", "a", 4, 1],
      ["DELETED", "b", 5, 2],
    ]);
    expect(events[2]?.stored).toMatchObject({ revision: 5, object: { metadata: { resourceVersion: "5" } } });
  });

  it("stops when told to, also by a listener that is being told", async () => {
    const { events, stop } = record(POD, 0);
    await putPod("a");
    stop();
    stop();
    const own = record(POD, 1);
    const stopFirst = store.watch(POD, 1, () => own.stop());
    await putPod("b");
    await putPod("c");
    expect(stopFirst).not.toBe("expired");
    expect([events.length, own.events.length]).toEqual([1, 1]);
  });

  it("tells a watch that begins within a listener of each event once", async () => {
    const seen: number[] = [];
    let isBegun = false;
    store.watch(POD, 0, () => {
      if (isBegun) return;
      isBegun = true;
      store.watch("core/", 0, ({ revision }) => seen.push(revision));
      store.watch(POD, 0, ({ revision }) => seen.push(revision));
    });
    await Promise.all([putPod("a"), putPod("b"), putPod("c")]);
    expect(seen.sort()).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it("shows listeners the store as of their event", async () => {
    const seen: unknown[] = [];
    store.watch(POD, 0, ({ revision, key, stored }) => {
      seen.push([revision, store.revision, store.get(key) === stored, store.list(POD)?.items.length]);
    });
    await Promise.all([putPod("a"), putPod("b")]);
    expect(seen).toEqual([
      [1, 1, true, 1],
      [2, 2, true, 2],
    ]);
  });

  it("tells before the write resolves, and not before it is durable", async () => {
    const { events } = record(POD, 0);
    const write = putPod("a").then(() => events.length);
    expect([events.length, store.get(`${POD}a`), store.list(POD)?.items.length]).toEqual([0, undefined, 0]);
    expect(await write).toBe(1);
  });

  it("tells whom it concerns: every prefix, each alone and many at once", async () => {
    const prefixes = ["", "core/", "core/pods/", POD, `${POD}a`, `${POD}ab`, "core/nodes/", `${POD}b`];
    const watches = prefixes.flatMap((prefix) => [record(prefix, 0), record(prefix, 0)]);
    await putPod("a");
    await putPod("ab");
    const counts = [2, 2, 2, 2, 2, 1, 0, 0];
    expect(watches.map(({ events }) => events.length)).toEqual(counts.flatMap((count) => [count, count]));
  });

  it("a listener that throws is reported, and the others are told", async () => {
    const thrown: unknown[] = [];
    await openStore({ onListenerError: (error) => thrown.push(error) });
    const bug = new Error("bug");
    store.watch(POD, 0, () => {
      throw bug;
    });
    const { events } = record(POD, 0);
    await Promise.all([putPod("a"), putPod("b")]);
    expect([events.length, thrown]).toEqual([2, [bug, bug]]);
    expect(logged).toMatchObject([{ level: "error" }, { level: "error" }]);
  });

  it("is expired for a revision of the future", async () => {
    await putPod("a");
    expect(store.watch(POD, 2, () => undefined)).toBe("expired");
    expect(store.watch(POD, 1, () => undefined)).not.toBe("expired");
  });
}

function describeHead() {
  it("runs ahead of what readers see", async () => {
    await putPod("a", "1");
    const writes = [putPod("a", "2"), putPod("b", "1"), store.remove(`${POD}a`)];
    expect(store.headOf(`${POD}a`)).toBeUndefined();
    expect(store.headOf(`${POD}b`)).toMatchObject({ revision: 3 });
    expect(store.headList(POD).map(({ key }) => key)).toEqual([`${POD}b`]);
    expect(valuesOf(POD)).toEqual([["a", "1"]]);
    expect(store.revision).toBe(1);
    await Promise.all(writes);
    expect(valuesOf(POD)).toEqual([["b", "1"]]);
    expect(store.revision).toBe(4);
  });

  it("writes together what is put in one tick, and what comes while the disk works", async () => {
    const first = Array.from({ length: 20 }, async (_, index) => putPod(`a${index}`));
    await Promise.resolve();
    await Promise.resolve();
    const second = Array.from({ length: 30 }, async (_, index) => putPod(`b${index}`));
    await Promise.all([...first, ...second]);
    expect(groups).toEqual([20, 30]);
  });

  it("bounds a group by number and by size, and keeps the order", async () => {
    const { events } = record("", 0);
    const large = pod("large", "", 1_500_000);
    const many = Array.from({ length: 300 }, async (_, index) => putPod(`a${index}`));
    const heavy = Array.from({ length: 5 }, async (_, index) => store.put(`${POD}h${index}`, large));
    await Promise.all([...many, ...heavy]);
    expect(groups).toEqual([256, 46, 2, 1]);
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: 305 }, (_, index) => index + 1));
  });

  it("takes back a write that fails, and all that came after it", async () => {
    await putPod("a", "1");
    const { events } = record("", 1);
    fault = Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
    const writes = [putPod("a", "2"), putPod("a", "3"), putPod("b", "1"), store.remove(`${POD}a`)];
    await Promise.resolve();
    writes.push(putPod("a", "late"), putPod("c"));
    const results = await Promise.allSettled(writes);
    expect(results.map(({ status }) => status)).toEqual(Array(6).fill("rejected"));
    expect(results[0]).toMatchObject({
      reason: { reason: "InternalError", code: 500, message: "the store could not write the change: disk full" },
    });
    expect(store.headList("")).toEqual(store.list("")?.items);
    expect([valuesOf(POD), store.revision, events]).toEqual([[["a", "1"]], 1, []]);
    expect(logged).toMatchObject([{ level: "error", fields: { changes: 6 } }]);
  });

  it("works again after a failure, with revisions that were never used", async () => {
    await putPod("a", "1");
    fault = new Error("disk full");
    const failed = putPod("a", "2");
    const seen = store.headOf(`${POD}a`)?.revision ?? 0;
    await expect(failed).rejects.toMatchObject({ reason: "InternalError" });
    fault = undefined;
    const { events } = record("", 1);
    const stored = await putPod("a", "3");
    expect(stored.revision).toBeGreaterThan(seen);
    expect(events.map(brief)).toEqual([["MODIFIED", "a", stored.revision, 1]]);
    await openStore();
    expect(valuesOf(POD)).toEqual([["a", "3"]]);
    expect(store.revision).toBe(stored.revision);
  });

  it("the head is as before when the caller learns of the failure", async () => {
    fault = new Error("disk full");
    const heads = [putPod("a"), putPod("a")].map(async (write) => write.catch(() => store.headOf(`${POD}a`)));
    expect(await Promise.all(heads)).toEqual([undefined, undefined]);
  });

  it("tells when the head of a moment is durable, to whoever did not write it", async () => {
    await store.untilDurable(store.headRevision);
    const seen: number[] = [];
    const first = putPod("a");
    const early = store.untilDurable(store.headRevision).then(() => seen.push(store.revision));
    await Promise.resolve();
    await Promise.resolve();
    const second = putPod("b");
    const late = store.untilDurable(store.headRevision).then(() => seen.push(store.revision));
    await Promise.all([first, second, early, late]);
    expect([seen, store.headRevision]).toEqual([[1, 2], 2]);
  });

  it("waits for what was put before it closes, and takes nothing more", async () => {
    const write = putPod("a");
    const closing = store.close();
    await expect(putPod("b")).rejects.toThrow("closed");
    await closing;
    expect((await write).revision).toBe(1);
  });
}

function describeLimits() {
  it("forgets the oldest events over a number, and says so", async () => {
    await openStore({ maxEvents: 3 });
    for (let count = 1; count <= 5; count++) await putPod("a", `${count}`);
    expect(store.watch(POD, 1, () => undefined)).toBe("expired");
    expect(store.list(POD, 1)).toBeUndefined();
    expect(record(POD, 2).events.map(({ revision }) => revision)).toEqual([3, 4, 5]);
    expect(valuesOf(POD, 2)).toEqual([["a", "2"]]);
  });

  it("forgets events by age when something happens", async () => {
    await putPod("a", "1");
    await clock.advance(299_000);
    await putPod("a", "2");
    expect(record(POD, 0).events).toHaveLength(2);
    await clock.advance(2_000);
    await putPod("a", "3");
    expect(store.watch(POD, 0, () => undefined)).toBe("expired");
    expect(record(POD, 1).events).toHaveLength(2);
  });

  it("forgets events whose versions are large", async () => {
    await openStore({ maxBytes: 10_000 });
    for (let count = 1; count <= 6; count++) await store.put(`${POD}a`, pod("a", "", 3_000));
    expect(store.watch(POD, 2, () => undefined)).toBe("expired");
    expect(record(POD, 3).events).toHaveLength(3);
  });

  it("refuses an object that is too large, and then goes on as if nothing had been", async () => {
    await openStore({ maxObjectBytes: 1_000 });
    const refusal = store.put(`${POD}a`, pod("a", "", 1_000));
    await expect(refusal).rejects.toMatchObject({ reason: "RequestEntityTooLarge", code: 413 });
    expect(store.headOf(`${POD}a`)).toBeUndefined();
    expect((await putPod("a")).revision).toBe(1);
  });

  it("refuses writes while too much waits for the disk", async () => {
    await openStore({ maxPendingBytes: 1_000 });
    const writes = Array.from({ length: 20 }, async (_, index) => putPod(`${index}`));
    const results = await Promise.allSettled(writes);
    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(5);
    expect(refused[0]).toMatchObject({ reason: { reason: "ServiceUnavailable", details: { retryAfterSeconds: 1 } } });
    expect(store.list(POD)?.items).toHaveLength(20 - refused.length);
    expect(store.headList(POD)).toEqual(store.list(POD)?.items);
    await putPod("after");
  });
}

function describeRestarts() {
  it("has everything again, and watches and lists go on from before", async () => {
    await putPod("a", "1");
    await putPod("b", "2");
    await putPod("a", "3");
    await store.remove(`${POD}b`);
    await openStore();
    expect([valuesOf(POD), valuesOf(POD, 2), store.revision]).toEqual([
      [["a", "3"]],
      [
        ["a", "1"],
        ["b", "2"],
      ],
      4,
    ]);
    const { events } = record(POD, 1);
    await putPod("b", "5");
    expect(events.map(brief)).toEqual([
      ["ADDED", "b", 2, undefined],
      ["MODIFIED", "a", 3, 1],
      ["DELETED", "b", 4, 2],
      ["ADDED", "b", 5, undefined],
    ]);
    expect(events[2]?.stored.object).toMatchObject({ metadata: { resourceVersion: "4" } });
  });

  it("the journal forgets along with the history, in steps", async () => {
    const bounds = { maxEvents: 100 };
    await openStore(bounds);
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 200 }, async (_, index) => putPod(`${index % 50}`, `${round}`)));
    }
    await openStore(bounds);
    // What the store keeps by itself is less; at most so much more is on disk.
    expect(store.watch(POD, store.revision - 100 - 512, () => undefined)).toBe("expired");
    expect(store.watch(POD, store.revision - 100, () => undefined)).not.toBe("expired");
    expect([store.revision, store.list(POD)?.items.length]).toEqual([2_000, 50]);
    expect(store.list(POD)?.items.every(({ object }) => textOf(object["spec"]) === "9")).toBe(true);
  });

  it("goes on when the journal cannot forget, and tries again later", async () => {
    await openStore({ maxEvents: 10 });
    compactionFault = new Error("disk full");
    for (let count = 0; count < 600; count++) await putPod("a");
    expect(logged).toMatchObject([{ level: "warn", fields: { error: compactionFault } }]);
    compactionFault = undefined;
    for (let count = 0; count < 500; count++) await putPod("a");
    await openStore({ maxEvents: 10 });
    expect(store.watch(POD, 600, () => undefined)).toBe("expired");
    expect(logged).toHaveLength(1);
  });
}
