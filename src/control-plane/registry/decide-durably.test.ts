import { beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import { configMapKind } from "../kinds/core/config-map.ts";
import { LOOPBACK_USER } from "../ports/user.ts";
import { createObjectStore } from "../store/create-object-store.ts";
import { createObject } from "./create.ts";
import { createKindTable } from "./kind-table.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { deleteObject } from "./remove.ts";
import { updateObject } from "./update.ts";

const kind = configMapKind;
const place = { kind, namespace: "a" };
const context = {
  user: LOOPBACK_USER,
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Ignore",
  warn() {},
} as const;

describe("what is told of a state that is not yet on disk", () => {
  let deps: RegistryDeps;
  let endWrite: (error?: Error) => void;
  /** The answers so far. */
  let told: string[];

  beforeEach(async () => {
    const journal = createMemoryJournal();
    const append = async (records: Parameters<typeof journal.append>[0]) => {
      await new Promise<void>((resolve, reject) => {
        endWrite = (error) => (error ? reject(error) : resolve());
      });
      await journal.append(records);
    };
    const clock = createFakeClock();
    deps = {
      store: await createObjectStore({ journal: { ...journal, append }, clock, log: silentLog }),
      kinds: createKindTable([kind]),
      admission: [],
      now: clock.now,
      newUid: () => "uid",
      randomSuffix: () => "abcde",
      record: () => ({ play: async (attempt) => await attempt() }),
    };
    told = [];
  });

  const note = async (what: string, answer: Promise<unknown>) => {
    await answer.then(
      () => told.push(what),
      (error: { reason: string }) => told.push(`${what}: ${error.reason}`),
    );
  };
  const body = (value: string): KubeObject => {
    return { apiVersion: "v1", kind: kind.kind, metadata: { name: "one", namespace: "a" }, data: { value } };
  };
  const create = async () => createObject(deps, { ...place, body: body("1"), context });
  const update = async (value: string) =>
    updateObject(deps, { ...place, name: "one", context, change: () => body(value) });
  const remove = async () => deleteObject(deps, { ...place, name: "one", context, options: {} });
  /** Lets everything happen that does not wait for the disk. */
  const settle = async () => new Promise<void>((resolve) => setImmediate(resolve));
  const created = async () => {
    const creation = create();
    await settle();
    endWrite();
    await creation;
  };

  it("that a name is taken waits for the object that has it", async () => {
    const answers = [note("created", create()), note("created again", create())];
    await settle();
    expect(told).toEqual([]);
    endWrite();
    await Promise.all(answers);
    expect(told.toSorted()).toEqual(["created", "created again: AlreadyExists"]);
  });

  it("that nothing has changed waits for the change that came before", async () => {
    await created();
    const answers = [note("changed", update("2")), note("the same", update("2"))];
    await settle();
    expect(told).toEqual([]);
    endWrite();
    await Promise.all(answers);
    expect(told.toSorted()).toEqual(["changed", "the same"]);
  });

  it("that an object is gone waits for its removal", async () => {
    await created();
    const answers = [note("removed", remove()), note("removed again", remove()), note("changed", update("2"))];
    await settle();
    expect(told).toEqual([]);
    endWrite();
    await Promise.all(answers);
    expect(told.toSorted()).toEqual(["changed: NotFound", "removed", "removed again: NotFound"]);
  });

  it("is not told when it never comes to be", async () => {
    const answers = [note("created", create()), note("created again", create())];
    await settle();
    endWrite(new Error("disk full"));
    await Promise.all(answers);
    expect(told.toSorted()).toEqual(["created again: InternalError", "created: InternalError"]);
  });

  it("does not hold up what is told of durable state, also after a write that failed", async () => {
    const failed = note("created", create());
    await settle();
    endWrite(new Error("disk full"));
    await failed;
    await note("removed", remove());
    await created();
    await note("the same", update("1"));
    expect(told).toEqual(["created: InternalError", "removed: NotFound", "the same"]);
  });
});
