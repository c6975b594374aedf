import fc from "fast-check";
import { expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { ObjectStore, StoreEvent } from "../../src/control-plane/ports/object-store.ts";
import { createObjectStore } from "../../src/control-plane/store/create-object-store.ts";
import { createFakeClock, type FakeClock } from "../../src/host/fake/fake-clock.ts";
import type { Journal } from "../../src/journal/port.ts";
import { createDiskHarness, createLineLog, createMemoryHarness, type JournalHarness } from "./journal-harness.ts";

/**
 * The store against a model that keeps every state there ever was: after any sequence of commands all that can be read
 * of the store, at every revision, is what the model says, and every watcher was told everything once and in order.
 */
const KEYS = ["core/a/x/1", "core/a/x/10", "core/a/x-y/1", "core/a/y/1", "core/ab/x/1", "core/nodes/1"];
const PREFIXES = ["", "core/", "core/a/", "core/a/x", "core/a/x/", "core/a/x/1", "core/nodes/", "nothing/"];
const BOUNDS = { maxEvents: 12, maxAgeMs: 10_000 };

type Command =
  | { do: "put" | "remove"; key: number }
  | { do: "watch"; prefix: number; back: number }
  | { do: "stop"; watcher: number }
  | { do: "settle" | "fail" | "reopen" }
  | { do: "wait"; ms: number };

const index = (of: readonly unknown[]) => fc.nat({ max: of.length - 1 });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("put" as const), key: index(KEYS) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("remove" as const), key: index(KEYS) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("watch" as const), prefix: index(PREFIXES), back: fc.nat(16) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const), watcher: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("settle" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("fail" as const, "reopen" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(9_000) }) },
);

type State = ReadonlyMap<string, string>;
/** What the model remembers of an event: enough to tell it from every other. */
interface Told {
  readonly type: StoreEvent["type"];
  readonly key: string;
  readonly revision: number;
  readonly value: string;
  readonly previous: string | undefined;
}

interface Watcher {
  readonly prefix: string;
  readonly after: number;
  readonly told: Told[];
  /** The last revision of which it was to be told; undefined while it goes on. */
  until: number | undefined;
  readonly stop: () => void;
}

interface Model {
  /** Durable states by revision; the first is empty. */
  states: Map<number, State>;
  events: Told[];
  /** When each event was put, by its revision. */
  times: Map<number, number>;
  head: Map<string, string>;
  headRevision: number;
  /** On its way to the disk. */
  pending: Array<{ told: Told; result: Promise<unknown> }>;
  watchers: Watcher[];
}

interface World {
  readonly harness: JournalHarness;
  readonly clock: FakeClock;
  readonly model: Model;
  readonly journal: { fails: boolean };
  store: ObjectStore;
  writes: number;
}

it.each([
  ["memory", createMemoryHarness, 150],
  ["disk", createDiskHarness, 30],
])("agrees with a model on whatever is done: %s", async (_name, createHarness, numRuns) => {
  const property = fc.asyncProperty(fc.array(command, { maxLength: 120, size: "max" }), async (commands) => {
    const world = await createWorld(createHarness());
    try {
      for (const command of commands) await run(world, command);
      await settle(world);
      check(world);
    } finally {
      await world.store.close();
      await world.harness.end();
    }
  });
  await fc.assert(property, { numRuns });
});

async function createWorld(harness: JournalHarness): Promise<World> {
  const clock = createFakeClock();
  const journal = { fails: false };
  const store = await openStore(harness, clock, journal);
  const states = new Map<number, State>([[0, new Map()]]);
  const model: Model = {
    states,
    events: [],
    times: new Map(),

    head: new Map(),
    headRevision: 0,
    pending: [],
    watchers: [],
  };
  return { harness, clock, model, journal, store, writes: 0 };
}

async function openStore(harness: JournalHarness, clock: FakeClock, fault: { fails: boolean }): Promise<ObjectStore> {
  const inner = await harness.open();
  const journal: Journal = {
    ...inner,
    append: async (records) => (fault.fails ? Promise.reject(new Error("disk full")) : inner.append(records)),
  };
  return await createObjectStore({ journal, clock, log: createLineLog([]) }, BOUNDS);
}

async function run(world: World, command: Command): Promise<void> {
  switch (command.do) {
    case "put":
    case "remove":
      return write(world, command.do, KEYS[command.key] ?? "");
    case "watch":
      return watch(world, PREFIXES[command.prefix] ?? "", command.back);
    case "stop":
      return stop(world, command.watcher);
    case "settle":
      await settle(world);
      return check(world);
    case "wait":
      return world.clock.advance(command.ms);
    case "fail":
      return fail(world);
    case "reopen":
      return reopen(world);
  }
}

function write(world: World, type: "put" | "remove", key: string): void {
  const { model, store } = world;
  const previous = model.head.get(key);
  if (type === "remove" && previous === undefined) return;
  const value = type === "put" ? `value ${++world.writes}` : (previous ?? "");
  const object: KubeObject = { apiVersion: "v1", kind: "Any", metadata: { name: key }, value };
  const result = type === "put" ? store.put(key, object) : store.remove(key);
  const change = previous === undefined ? "ADDED" : "MODIFIED";
  const told: Told = {
    type: type === "put" ? change : "DELETED",
    key,
    revision: ++model.headRevision,
    value,
    previous,
  };
  model.times.set(told.revision, world.clock.now());
  model.pending.push({ told, result: result.catch((error: Error) => error) });
  if (type === "put") model.head.set(key, value);
  else model.head.delete(key);
}

/** All pending becomes durable. */
async function settle({ model }: World): Promise<void> {
  for (const { told, result } of model.pending.splice(0)) {
    expect(await result).toMatchObject({ key: told.key, revision: told.revision, object: { value: told.value } });
    model.events.push(told);
    const state = new Map(lastState(model));
    if (told.type === "DELETED") state.delete(told.key);
    else state.set(told.key, told.value);
    model.states.set(told.revision, state);
  }
}

async function fail(world: World): Promise<void> {
  const { model } = world;
  // What is with the journal already may still succeed, so that is waited for.
  await settle(world);
  write(world, "put", KEYS[0] ?? "");
  write(world, "put", KEYS[1] ?? "");
  world.journal.fails = true;
  for (const { result } of model.pending.splice(0)) expect(await result).toMatchObject({ reason: "InternalError" });
  world.journal.fails = false;
  model.head = new Map(lastState(model));
  check(world);
}

async function reopen(world: World): Promise<void> {
  const { model } = world;
  await world.store.close();
  await settle(world);
  endWatchers(model.watchers, lastRevision(model));
  world.store = await openStore(world.harness, world.clock, world.journal);
  // No reader that is still there has seen revisions that only failed writes had.
  model.headRevision = lastRevision(model);
  check(world);
}

function watch({ model, store }: World, prefix: string, back: number): void {
  const after = Math.max(0, store.revision - back);
  const told: Told[] = [];
  const stop = store.watch(prefix, after, (event) => told.push(toldOf(event)));
  if (stop === "expired") return;
  model.watchers.push({ prefix, after, told, until: undefined, stop });
}

function stop({ model, store }: World, index: number): void {
  const watcher = model.watchers.filter(({ until }) => until === undefined)[index];
  if (watcher === undefined) return;
  watcher.stop();
  watcher.until = store.revision;
}

function endWatchers(watchers: readonly Watcher[], revision: number): void {
  for (const watcher of watchers) watcher.until ??= revision;
}

function check(world: World): void {
  const { model, store } = world;
  expect(store.revision).toBe(lastRevision(model));
  const { forgotten, kept } = boundsOf(world);
  for (const prefix of PREFIXES) {
    expect(store.headList(prefix).map(entryOf)).toEqual(entriesBelow(model.head, prefix));
    expect(store.list(prefix)?.items.map(entryOf)).toEqual(entriesBelow(lastState(model), prefix));
    for (const [revision, state] of model.states) {
      const list = store.list(prefix, revision);
      if (list !== undefined) expect(list.items.map(entryOf)).toEqual(entriesBelow(state, prefix));
      if (revision >= kept) expect(list, `the list at ${revision}`).toBeDefined();
      if (revision < forgotten) expect(list, `the list at ${revision}`).toBeUndefined();
    }
  }
  for (const key of KEYS) {
    expect(store.get(key)?.object["value"]).toBe(lastState(model).get(key));
    expect(store.headOf(key)?.object["value"]).toBe(model.head.get(key));
  }
  for (const { prefix, after, until = Number.POSITIVE_INFINITY, told } of model.watchers) {
    const concerns = ({ key, revision }: Told) => key.startsWith(prefix) && revision > after && revision <= until;
    expect(told).toEqual(model.events.filter(concerns));
  }
}

/** Revisions that must be gone, by number; and those that must be kept, by number and, as of now, by age. */
function boundsOf({ model, clock }: World): { forgotten: number; kept: number } {
  const byNumber = model.events.at(-BOUNDS.maxEvents - 1)?.revision ?? 0;
  const isOld = ({ revision }: Told) => clock.now() - (model.times.get(revision) ?? 0) > BOUNDS.maxAgeMs;
  const byAge = model.events.findLast(isOld)?.revision ?? 0;
  return { forgotten: byNumber, kept: Math.max(byNumber, byAge) };
}

const lastRevision = ({ states }: Model) => Math.max(...states.keys());
const lastState = (model: Model): State => model.states.get(lastRevision(model)) ?? new Map();

function entriesBelow(state: State, prefix: string): Array<[string, string]> {
  return [...state].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function entryOf({ key, object }: { key: string; object: KubeObject }): [string, unknown] {
  return [key, object["value"]];
}

function toldOf({ type, key, revision, stored, previous }: StoreEvent): Told {
  const value = String(stored.object["value"]);
  return {
    type,
    key,
    revision,
    value,
    previous: previous === undefined ? undefined : String(previous.object["value"]),
  };
}
