import { describe, expect, it } from "vitest";
import { isAbort } from "../../../base/abort.ts";
import { makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { createPodCache, type PodCache } from "./pod-cache.ts";

const POD = { uid: "uid-1", name: "web", namespace: "default" };
const NEVER = new AbortController().signal;
const old = makeRuntimeStatus(["main running"]);
const newer = makeRuntimeStatus(["main exited:1"]);
const empty: PodRuntimeStatus = { ...POD, sandboxes: [], containers: [], ips: [], observedAt: 5 };

function createCache(): PodCache {
  const cache = createPodCache(() => 5);
  cache.markComplete();
  return cache;
}

/** What it has come to, without waiting for more than is under way. */
async function peek(promise: Promise<unknown>): Promise<unknown> {
  const told = promise.catch((error: unknown) => (isAbort(error) ? "aborted" : error));
  return await Promise.race([told, new Promise((resolve) => setImmediate(resolve, "waiting"))]);
}

describe("fresh", () => {
  it("waits until every pod was read once, then takes an unknown pod for one that the runtime does not have", async () => {
    const cache = createPodCache(() => 5);
    const fresh = cache.fresh(POD, NEVER);
    expect(await peek(fresh)).toBe("waiting");
    cache.markComplete();
    expect(await peek(fresh)).toEqual(empty);
    expect(await peek(cache.fresh(POD, NEVER))).toEqual(empty);
  });

  it("gives what was read", async () => {
    const cache = createCache();
    cache.put(cache.beginRead("uid-1"), old);
    expect(await peek(cache.fresh(POD, NEVER))).toBe(old);
    expect(cache.latest("uid-1")).toBe(old);
  });

  it("waits after a change for a reading that began after it", async () => {
    const cache = createCache();
    const early = cache.beginRead("uid-1");
    cache.invalidate("uid-1");
    const fresh = cache.fresh(POD, NEVER);
    cache.put(early, old);
    expect(await peek(fresh)).toBe("waiting");
    expect(cache.latest("uid-1")).toBe(old);
    cache.put(cache.beginRead("uid-1"), newer);
    expect(await peek(fresh)).toBe(newer);
  });

  it("hears that a pod whose change failed is not there", async () => {
    const cache = createCache();
    cache.invalidate("uid-1");
    const fresh = cache.fresh(POD, NEVER);
    cache.put(cache.beginRead("uid-1"), empty);
    expect(await peek(fresh)).toBe(empty);
  });

  it("gives up when its signal fires, and leaves nobody waiting behind", async () => {
    const cache = createCache();
    cache.invalidate("uid-1");
    const controller = new AbortController();
    const fresh = cache.fresh(POD, controller.signal);
    expect(await peek(fresh)).toBe("waiting");
    controller.abort();
    expect(await peek(fresh)).toBe("aborted");
    cache.forget("uid-1");
    expect(cache.size).toBe(0);
  });

  it("gives up also while nothing was read yet", async () => {
    const controller = new AbortController();
    const fresh = createPodCache(() => 5).fresh(POD, controller.signal);
    controller.abort();
    expect(await peek(fresh)).toBe("aborted");
  });
});

describe("put", () => {
  it("does not let a slow reading overwrite one that began later", () => {
    const cache = createCache();
    const slow = cache.beginRead("uid-1");
    const quick = cache.beginRead("uid-1");
    expect(cache.put(quick, newer)).toBe(true);
    expect(cache.put(slow, old)).toBe(false);
    expect(cache.latest("uid-1")).toBe(newer);
  });

  it("keeps apart what happens to different pods", async () => {
    const cache = createCache();
    cache.put(cache.beginRead("uid-1"), old);
    cache.invalidate("uid-2");
    expect(await peek(cache.fresh(POD, NEVER))).toBe(old);
  });
});

describe("fail", () => {
  const failure = new Error("unavailable");

  it("reaches whoever waits for that reading", async () => {
    const cache = createCache();
    cache.put(cache.beginRead("uid-1"), old);
    cache.invalidate("uid-1");
    const fresh = cache.fresh(POD, NEVER);
    cache.fail(cache.beginRead("uid-1"), failure);
    expect(await peek(fresh)).toBe(failure);
    expect(cache.latest("uid-1")).toBe(old);
  });

  it("does not reach who waits for a later one", async () => {
    const cache = createCache();
    const early = cache.beginRead("uid-1");
    cache.invalidate("uid-1");
    const fresh = cache.fresh(POD, NEVER);
    cache.fail(early, failure);
    expect(await peek(fresh)).toBe("waiting");
  });

  it("makes the pod one that must be read, and not one that is not there", async () => {
    const cache = createPodCache(() => 5);
    cache.fail(cache.beginRead("uid-1"), failure);
    cache.markComplete();
    const fresh = cache.fresh(POD, NEVER);
    expect(await peek(fresh)).toBe("waiting");
    cache.put(cache.beginRead("uid-1"), old);
    expect(await peek(fresh)).toBe(old);
  });

  it("is no news when a later reading came through", async () => {
    const cache = createCache();
    const early = cache.beginRead("uid-1");
    cache.put(cache.beginRead("uid-1"), old);
    cache.fail(early, failure);
    expect(await peek(cache.fresh(POD, NEVER))).toBe(old);
  });
});

describe("forget", () => {
  it("leaves nothing, whatever readings are still under way", () => {
    const cache = createCache();
    cache.put(cache.beginRead("uid-1"), old);
    const tickets = [cache.beginRead("uid-1"), cache.beginRead("uid-1"), cache.beginRead("uid-1")] as const;
    cache.forget("uid-1");
    expect(cache.put(tickets[0], empty)).toBe(false);
    expect(cache.put(tickets[1], old)).toBe(false);
    cache.fail(tickets[2], new Error("unavailable"));
    expect(cache.size).toBe(0);
  });

  it("a reading of a pod that is not there takes no room", () => {
    const cache = createCache();
    expect(cache.put(cache.beginRead("uid-1"), empty)).toBe(true);
    cache.fail(cache.beginRead("uid-1"), new Error("unavailable"));
    expect(cache.put(cache.beginRead("uid-1"), empty)).toBe(true);
    expect(cache.size).toBe(0);
  });
});
