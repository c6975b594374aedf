import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";
import { textAt } from "./credentials-of.ts";
import { cronTab, defineCronTabs } from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, newNamespace, pathsIn, revisionOf, secret } from "./objects.ts";
import { hasInitialEvents, type WatchEvent } from "./watch-stream.ts";

/** A slow machine runs fewer of the random cases. */
const RANDOM_CASES_MS = 30_000;

describe.each(apiServersUnderTest())("order of events, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let secrets: string;

  beforeAll(async () => {
    ({ secrets } = pathsIn(await newNamespace(server.admin)));
  });

  /** What each of many writers does at once with objects of its own: creates, changes twice, deletes. */
  async function write(writer: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const name = `${writer}-${round}`;
      await server.admin.object("POST", secrets, secret(name));
      for (const value of ["MQ==", "Mg=="]) {
        await server.admin.patch("merge", `${secrets}/${name}`, { data: { value } });
      }
      await server.admin.json("DELETE", `${secrets}/${name}`);
    }
  }

  it("is that of the revisions, whoever writes, and the same for all who watch", async () => {
    const watchers = 50;
    const { resourceVersion } = await server.admin.list(secrets);
    const watches = await Promise.all(
      Array.from({ length: watchers }, () => server.admin.watch(secrets, { resourceVersion })),
    );
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(`w${writer}`, 3)));
    await server.admin.object("POST", secrets, secret("end"));
    const seen = await Promise.all(watches.map((watch) => watch.until(({ object }) => object.metadata.name === "end")));
    for (const watch of watches) watch.close();
    const [first = []] = seen;
    expect(first).toHaveLength(8 * 3 * 4 + 1);
    const revisions = first.map(({ object }) => revisionOf(object));
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(new Set(revisions).size).toBe(revisions.length);
    for (const events of seen) expect(events).toEqual(first);
    expectLives(first.slice(0, -1));
  });

  it("has neither a gap nor a duplicate for who begins in the middle of many writes", async () => {
    const { resourceVersion } = await server.admin.list(secrets);
    const whole = await server.admin.watch(secrets, { resourceVersion });
    const writing = Promise.all(Array.from({ length: 6 }, (_, writer) => write(`m${writer}`, 3)));
    const begun: { at: number; events: Promise<WatchEvent[]> }[] = [];
    for (let index = 0; index < 10; index++) {
      const at = (await server.admin.list(secrets)).resourceVersion;
      const watch = await server.admin.watch(secrets, { resourceVersion: at });
      const events = watch.until(({ object }) => object.metadata.name === "done").finally(() => watch.close());
      begun.push({ at: Number(at), events });
    }
    await writing;
    await server.admin.object("POST", secrets, secret("done"));
    const all = await whole.until(({ object }) => object.metadata.name === "done");
    whole.close();
    for (const { at, events } of begun) {
      expect(await events).toEqual(all.filter(({ object }) => revisionOf(object) > at));
    }
  });

  it("shows the initial events of who begins in the middle as one consistent state", async ({ skip }) => {
    skip(!hasInitialEvents(server.minor), "this version does not send initial events");
    const writing = Promise.all(Array.from({ length: 4 }, (_, writer) => write(`i${writer}`, 3)));
    const caches = Array.from({ length: 5 }, async () => {
      const query = { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: "NotOlderThan" };
      const watch = await server.admin.watch(secrets, query);
      const initial = await watch.until(({ type }) => type === "BOOKMARK");
      watch.close();
      return initial;
    });
    for (const initial of await Promise.all(caches)) {
      const at = Number(initial.at(-1)?.object.metadata.resourceVersion);
      const query = { resourceVersion: String(at), resourceVersionMatch: "Exact" };
      const listed = (await server.admin.list(secrets, query)).items;
      expect(stateAfter(initial.slice(0, -1))).toEqual(stateOf(listed));
    }
    await writing;
  });

  it("lets a cache of list and watch end as a list does, whatever was written in between", {
    timeout: 120_000,
  }, async () => {
    const operation = fc.record({
      kind: fc.constantFrom("create", "label", "unlabel", "delete", "restart"),
      name: fc.constantFrom("a", "b", "c", "d"),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
        const { configMaps } = pathsIn(await newNamespace(server.admin));
        const marker = `end-${run++}`;
        const cache = await startCache(server.admin, configMaps, marker);
        for (const { kind, name } of operations) await operate(server.admin, configMaps, { kind, name, cache });
        await server.admin.object("POST", configMaps, configMap(marker, {}, { shown: "yes" }));
        const cached = await cache.done;
        const { items } = await server.admin.list(configMaps, { labelSelector: "shown=yes" });
        expect(cached).toEqual(stateOf(items));
      }),
      { numRuns: 8, seed: 20_260_101, interruptAfterTimeLimit: RANDOM_CASES_MS, markInterruptAsFailure: false },
    );
  });
});

describe.each(apiServersUnderTest())("what is too old, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const expired = (message: RegExp) => ({
    kind: "Status",
    status: "Failure",
    reason: "Expired",
    message: expect.stringMatching(message),
    code: 410,
  });

  /** So much is written that no server keeps all of it: of kube-apiserver that is not true, it has etcd forget by time. */
  async function writeMuch(): Promise<void> {
    const { configMaps } = pathsIn(await newNamespace(server.admin));
    await server.admin.object("POST", configMaps, configMap("large"));
    for (let round = 0; round < 32; round++) {
      const data = { text: String(round).padEnd(1_000_000) };
      expect(await server.admin.patch("merge", `${configMaps}/large`, { data })).toMatchObject({ status: 200 });
    }
  }

  it("is told to a watch by an ERROR, after which it ends", async () => {
    await writeMuch();
    // kube-apiserver keeps what happened to a new kind from when it was defined, which was after revision 1.
    const path = await defineCronTabs(server.admin, "history.example.com");
    await server.admin.object("POST", path, cronTab("history.example.com", "a"));
    const watch = await server.admin.watch(path, { resourceVersion: "1" });
    expect(await watch.ended()).toEqual([
      { type: "ERROR", object: expect.objectContaining(expired(/^too old resource version: 1 \(\d+\)$/)) },
    ]);
  });

  it.skipIf(!candidate.isOurs)("is told to lists (kube-apiserver forgets only after minutes)", async () => {
    const { secrets } = pathsIn(await newNamespace(server.admin));
    for (const name of ["a", "b", "c"]) await server.admin.object("POST", secrets, secret(name));
    const { next, resourceVersion } = await server.admin.list(secrets, { limit: 1 });
    await writeMuch();
    const refused = await server.admin.json("GET", secrets, undefined, { query: { limit: 1, continue: next } });
    expect(refused).toMatchObject({
      status: 410,
      body: expired(/^The provided continue parameter is too old to display a consistent list result/),
    });
    // The rest as it is now: the list is not one of a single moment then.
    const token = textAt(refused.body, ["metadata", "continue"]);
    const rest = await server.admin.list(secrets, { limit: 1, continue: token });
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    const last = await server.admin.list(secrets, { limit: 1, continue: rest.next });
    expect(last.items.map(({ metadata }) => metadata.name)).toEqual(["c"]);
    const query = { resourceVersion, resourceVersionMatch: "Exact" };
    expect(await server.admin.json("GET", secrets, undefined, { query })).toMatchObject({
      status: 410,
      body: expired(/^The resourceVersion for the provided list is too old/),
    });
  });
});

/** By name: the version that is there. */
const stateOf = (objects: readonly KubeObject[]): Record<string, string> =>
  Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));

/** The same, of what a watch told. */
function stateAfter(events: readonly WatchEvent[]): Record<string, string> {
  const state = new Map<string, string>();
  for (const { type, object } of events) {
    const { name = "", resourceVersion = "" } = object.metadata;
    if (type === "DELETED") state.delete(name);
    else state.set(name, resourceVersion);
  }
  return Object.fromEntries(state);
}

/** Every object is added once, changes while it is there, and is deleted once. */
function expectLives(events: readonly WatchEvent[]): void {
  const lives = new Map<string, string[]>();
  for (const { type, object } of events) {
    const { name = "" } = object.metadata;
    lives.set(name, [...(lives.get(name) ?? []), type]);
  }
  for (const life of lives.values()) expect(life).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
}

/** A cache as client libraries keep one: a list, a watch from there, and another watch from where that one ended. */
interface Cache {
  /** Breaks the watch off: it goes on from the last event that was read. */
  restart(): void;
  /** What it holds once it has seen the marker. */
  readonly done: Promise<Record<string, string>>;
}

async function startCache(client: ApiClient, path: string, marker: string): Promise<Cache> {
  const labelSelector = "shown=yes";
  const listed = await client.list(path, { labelSelector });
  const state = new Map(Object.entries(stateOf(listed.items)));
  let resourceVersion = listed.resourceVersion;
  let watch = await client.watch(path, { labelSelector, resourceVersion });
  let isRestarting = false;
  const readNext = async (): Promise<WatchEvent | undefined> => {
    try {
      return await watch.next();
    } catch (error) {
      if (!isRestarting) throw error;
      isRestarting = false;
      watch = await client.watch(path, { labelSelector, resourceVersion });
      return undefined;
    }
  };
  const follow = async () => {
    while (!state.has(marker)) {
      const event = await readNext();
      if (event === undefined) continue;
      const { name = "", resourceVersion: version = "" } = event.object.metadata;
      resourceVersion = version;
      if (event.type === "DELETED") state.delete(name);
      else state.set(name, version);
    }
    watch.close();
    return Object.fromEntries(state);
  };
  return {
    restart() {
      isRestarting = true;
      watch.close();
    },
    done: follow(),
  };
}

interface Operation {
  readonly kind: string;
  readonly name: string;
  readonly cache: Cache;
}

/** Some of these find nothing to work on: so it is with writers who do not know of each other. */
async function operate(client: ApiClient, path: string, { kind, name, cache }: Operation): Promise<void> {
  switch (kind) {
    case "create":
      await client.json("POST", path, configMap(name, {}, { shown: "yes" }));
      break;
    case "label":
    case "unlabel":
      await client.patch("merge", `${path}/${name}`, {
        metadata: { labels: { shown: kind === "label" ? "yes" : "no" } },
      });
      break;
    case "delete":
      await client.json("DELETE", `${path}/${name}`);
      break;
    default:
      cache.restart();
  }
}
