import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "../api/api-error.ts";
import {
  createReflectorRig,
  expired,
  pod,
  type ReflectorRig,
  tooLarge,
  unreachable,
} from "./__fixtures__/reflector-rig.ts";

let rig: ReflectorRig;
beforeEach(() => {
  rig = createReflectorRig();
});
afterEach(async () => await rig.end());

describe("a revision that the server cannot give", () => {
  it.each([
    ["kept no longer", expired],
    ["gone", () => new ApiError("Gone", "gone")],
    ["of the future", tooLarge],
  ])("%s: the list is asked of its store", async (_what, error) => {
    await rig.start();
    rig.lastList().fail(error());
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("");
    await rig.listed(pod("a", "1"));
    expect(rig.held()).toEqual(["a@1"]);
    expect(rig.failures).toEqual([]);
  });

  it("goes on asking the store until it has answered", async () => {
    await rig.start();
    rig.lastList().fail(expired());
    await rig.clock.settle();
    rig.lastList().fail(expired());
    await rig.clock.settle();
    expect(rig.failures).toHaveLength(1);
    await rig.delayOfNextList();
    expect(rig.lastList().options.resourceVersion).toBe("");
    await rig.listed();
    await rig.clock.advance(5_000);
    rig.lastWatch().fail(unreachable());
    await rig.delayOfNextList();
    expect(rig.lastList().options.resourceVersion).toBe("10");
  });

  it("at a later watch gives a new list at once, no older than what is known", async () => {
    await rig.start();
    await rig.listed(pod("a", "4"), pod("b", "5"));
    await rig.clock.advance(5_000);
    rig.lastWatch().end();
    await rig.clock.settle();
    rig.lastWatch().fail(expired());
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("10");
    await rig.listed(pod("b", "11"), pod("c", "12"));
    expect(rig.changes.at(-1)).toBe("DELETED a, MODIFIED b, ADDED c");
    expect(rig.logged).toEqual([]);
  });

  it("again and again is listed less and less often", async () => {
    await rig.start();
    const delays: number[] = [];
    for (let storm = 0; storm < 6; storm++) {
      await rig.listed();
      await rig.clock.advance(1_500);
      const lists = rig.server.lists.length;
      rig.lastWatch().fail(expired());
      await rig.clock.settle();
      delays.push(rig.server.lists.length > lists ? 0 : await rig.delayOfNextList());
    }
    expect(delays).toEqual([0, 1_200, 2_400, 4_800, 9_600, 19_200]);
  });

  it("at the watch after a list waits, then asks the store: no tight circle", async () => {
    await rig.start();
    await rig.listed();
    rig.lastWatch().fail(expired());
    expect(await rig.delayOfNextList()).toBe(1_200);
    expect(rig.lastList().options.resourceVersion).toBe("");
  });
});

describe("an outage", () => {
  it("is waited out with growing delays up to 30 s, lengthened by chance", async () => {
    await rig.start();
    const delays = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      rig.lastList().fail(unreachable());
      await rig.clock.settle();
      delays.push(await rig.delayOfNextList());
    }
    expect(delays).toEqual([1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 45_000]);
  });

  it("of any length ends with the difference", async () => {
    await rig.start();
    await rig.listed(pod("gone", "1"), pod("same", "2"), pod("changed", "3"), pod("replaced", "4", "old"));
    await rig.clock.advance(5_000);
    rig.lastWatch().fail(unreachable());
    for (let waited = 0; waited < 24 * 3_600_000; waited += await rig.delayOfNextList()) {
      if (waited > 0) rig.lastList().fail(unreachable());
      await rig.clock.settle();
    }
    rig.changes = [];
    await rig.listed(pod("same", "2"), pod("changed", "13"), pod("replaced", "14", "new"), pod("fresh", "15"));
    expect(rig.changes).toEqual(["DELETED gone, DELETED old, MODIFIED changed, ADDED new, ADDED fresh"]);
    expect(rig.logged).toEqual(["warn: Failed to list or watch, trying again: connect ECONNREFUSED"]);
  });

  it("is said once, said anew when its reason changes, and its end is said once", async () => {
    await rig.start();
    for (const error of [
      unreachable(),
      unreachable(),
      new ApiError("Forbidden", "no"),
      new ApiError("Forbidden", "no"),
    ]) {
      rig.lastList().fail(error);
      await rig.clock.settle();
      await rig.delayOfNextList();
    }
    await rig.listed();
    expect(rig.logged).toHaveLength(2);
    await rig.clock.advance(1_000);
    rig.lastWatch().bookmark("11");
    expect(rig.logged).toEqual([
      "warn: Failed to list or watch, trying again: connect ECONNREFUSED",
      "warn: Failed to list or watch, trying again: no",
      "info: Listed and watching again",
    ]);
  });

  it("is not called over by a list when the watch fails each time", async () => {
    await rig.start();
    for (let attempt = 0; attempt < 5; attempt++) {
      await rig.listed();
      rig.lastWatch().fail(new ApiError("Forbidden", "no watching"));
      await rig.clock.settle();
      await rig.delayOfNextList();
    }
    expect(rig.logged).toEqual(["warn: Failed to list or watch, trying again: no watching"]);
  });

  it("starts the delays over after two minutes of watching, and not before", async () => {
    await rig.start();
    const delayAfter = async (watchedMs: number) => {
      await rig.listed();
      await rig.clock.advance(watchedMs);
      rig.lastWatch().fail(new ApiError("InternalError", "broken"));
      await rig.clock.settle();
      return await rig.delayOfNextList();
    };
    expect([await delayAfter(0), await delayAfter(119_000), await delayAfter(120_000), await delayAfter(0)]).toEqual([
      1_200, 2_400, 1_200, 2_400,
    ]);
  });

  it("waits as long as the server asks to, up to a minute", async () => {
    await rig.start();
    rig.lastList().fail(new ApiError("TooManyRequests", "slow down", { retryAfterSeconds: 20 }));
    await rig.clock.settle();
    expect(await rig.delayOfNextList()).toBe(20_000);
    rig.lastList().fail(new ApiError("TooManyRequests", "slow down", { retryAfterSeconds: 86_400 }));
    await rig.clock.settle();
    expect(await rig.delayOfNextList()).toBe(60_000);
  });

  it("that looks like the absence of the resource ends no object", async () => {
    await rig.start();
    await rig.listed(pod("a", "4"));
    await rig.clock.advance(5_000);
    rig.lastWatch().fail(unreachable());
    await rig.delayOfNextList();
    rig.lastList().fail(new ApiError("NotFound", "the server could not find the requested resource"));
    await rig.clock.settle();
    expect(rig.held()).toEqual(["a@4"]);
    expect(rig.changes).toEqual(["ADDED a"]);
  });

  it("does not quote an answer that is no JSON", async () => {
    await rig.start();
    rig.lastList().fail(new SyntaxError(`Unexpected token in "c2VjcmV0`));
    await rig.clock.settle();
    expect(rig.logged).toEqual(["warn: Failed to list or watch, trying again: the answer is not valid JSON"]);
  });
});
