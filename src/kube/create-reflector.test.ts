import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { AbortedError } from "../base/abort.ts";
import { createReflectorRig, expired, pod, type ReflectorRig, unreachable } from "./__fixtures__/reflector-rig.ts";
import { createScriptedClient } from "./__fixtures__/scripted-client.ts";

let rig: ReflectorRig;
beforeEach(() => {
  rig = createReflectorRig();
});
afterEach(async () => await rig.end());

describe("a reflector", () => {
  it("lists from the server's cache, then watches from there", async () => {
    await rig.start();
    expect(rig.lastList().options).toMatchObject({ fieldSelector: "spec.nodeName=n", resourceVersion: "0" });
    expect(rig.reflector.hasSynced).toBe(false);
    await rig.listed(pod("a", "4"), pod("b", "5"));
    expect(rig.reflector.hasSynced).toBe(true);
    expect(rig.changes).toEqual(["ADDED a, ADDED b"]);
    expect(rig.reflector.get("default", "b")).toEqual(expect.objectContaining({ metadata: pod("b", "5").metadata }));
    expect(rig.lastWatch().options).toMatchObject({ fieldSelector: "spec.nodeName=n", resourceVersion: "10" });
  });

  it("asks the store where a list is older than what it asked for, and ends nothing by the first answer", async () => {
    await rig.start();
    await rig.listed(pod("a", "4"));
    await rig.clock.advance(2_000);
    rig.lastWatch().fail(new ApiError("Expired", "too old"));
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("10");
    rig.lastList().answer([], "1");
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("");
    expect(rig.held()).toEqual(["a@4"]);
    rig.lastList().answer([pod("a", "4")], "12");
    await rig.clock.settle();
    expect(rig.changes).toEqual(["ADDED a"]);
    expect(rig.lastWatch().options.resourceVersion).toBe("12");
  });

  it("believes the store that it has nothing any more", async () => {
    await rig.start();
    await rig.listed(pod("a", "4"));
    await rig.clock.advance(2_000);
    rig.lastWatch().fail(new ApiError("Expired", "too old"));
    await rig.clock.settle();
    rig.lastList().answer([], "1");
    await rig.clock.settle();
    rig.lastList().answer([], "1");
    await rig.clock.settle();
    expect(rig.changes).toEqual(["ADDED a", "DELETED a"]);
  });

  it("asks the store where the server cannot read the revision of a bookmark", async () => {
    await rig.start();
    await rig.listed(pod("a", "4"));
    rig.lastWatch().bookmark("not a version");
    await rig.clock.advance(2_000);
    rig.lastWatch().fail(new ApiError("Expired", "too old"));
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("not a version");
    rig.lastList().fail(new ApiError("BadRequest", "invalid resource version"));
    await rig.clock.settle();
    expect(rig.lastList().options.resourceVersion).toBe("");
  });

  it("asks the server to end a watch after five to ten minutes", async () => {
    await rig.start();
    await rig.listed();
    expect(rig.lastWatch().options.timeoutSeconds).toBe(450);
  });

  it("tells of events one by one, and of an empty list not at all", async () => {
    await rig.start();
    await rig.listed();
    rig.lastWatch().send("ADDED", pod("a", "11"), "11");
    rig.lastWatch().send("MODIFIED", pod("a", "12"), "12");
    rig.lastWatch().send("MODIFIED", pod("a", "12"), "12");
    rig.lastWatch().send("DELETED", pod("a", "13"), "13");
    rig.lastWatch().send("DELETED", pod("a", "13"), "13");
    expect(rig.changes).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  });

  it.each<[string, () => void, string]>([
    ["of the list, when nothing happened", () => undefined, "10"],
    ["of the last event", () => rig.lastWatch().send("ADDED", pod("a", "x-17"), "x-17"), "x-17"],
    ["of a bookmark", () => rig.lastWatch().bookmark("40"), "40"],
  ])("goes on from the revision %s, when a watch ends in order", async (_what, happen, expected) => {
    await rig.start();
    await rig.listed();
    happen();
    await rig.clock.advance(60_000);
    rig.lastWatch().end();
    await rig.clock.settle();
    expect(rig.server.lists).toHaveLength(1);
    expect(rig.server.watches).toHaveLength(2);
    expect(rig.lastWatch().options.resourceVersion).toBe(expected);
    expect(rig.logged).toEqual([]);
  });

  it("goes on at once when the connection of a watch that worked breaks, and lists when that fails", async () => {
    await rig.start();
    await rig.listed();
    rig.lastWatch().bookmark("12");
    await rig.clock.advance(5_000);
    rig.lastWatch().fail(unreachable());
    await rig.clock.settle();
    expect(rig.lastWatch().options.resourceVersion).toBe("12");
    expect(rig.logged).toEqual([]);
    rig.lastWatch().fail(unreachable());
    await rig.clock.settle();
    expect(rig.server.watches).toHaveLength(2);
    expect(await rig.delayOfNextList()).toBe(1_200);
    expect(rig.lastList().options.resourceVersion).toBe("12");
  });

  it("takes a watch that ends at once without an event for an error", async () => {
    await rig.start();
    await rig.listed();
    rig.lastWatch().end();
    await rig.clock.settle();
    expect(rig.server.watches).toHaveLength(1);
    expect(rig.failures).toEqual([new Error("the watch ended at once, without an event")]);
    expect(await rig.delayOfNextList()).toBe(1_200);
  });

  it("asks once a second of a server that ends each watch after its first event", async () => {
    await rig.start();
    await rig.listed();
    for (let second = 0; second < 20; second++) {
      rig.lastWatch().bookmark(`${20 + second}`);
      rig.lastWatch().end();
      await rig.clock.advance(1_000);
    }
    expect(rig.server.watches).toHaveLength(21);
    expect(rig.lastWatch().options.resourceVersion).toBe("39");
    expect([rig.server.lists.length, rig.failures]).toEqual([1, []]);
  });

  it("ends a watch itself that the server forgot to end", async () => {
    await rig.start();
    await rig.listed();
    await rig.clock.advance(480_000);
    expect(rig.failures).toEqual([new Error("the watch went on past its time")]);
    await rig.delayOfNextList();
    await rig.listed(pod("a", "11"));
    expect(rig.held()).toEqual(["a@11"]);
  });
});

describe("waiting for the first list", () => {
  it("ends when a slow list is in, and at once afterwards", async () => {
    await rig.start();
    let isSynced = false;
    const waiting = rig.reflector.synced(rig.controller.signal).then(() => {
      isSynced = true;
    });
    await rig.clock.advance(50_000);
    expect(isSynced).toBe(false);
    await rig.listed();
    await waiting;
    await rig.reflector.synced(rig.controller.signal);
  });

  it("ends with the waiter's signal", async () => {
    await rig.start();
    const impatient = new AbortController();
    const waiting = rig.reflector.synced(impatient.signal);
    impatient.abort();
    await expect(waiting).rejects.toThrow(AbortedError);
    await expect(rig.reflector.synced(impatient.signal)).rejects.toThrow(AbortedError);
    await rig.listed();
  });
});

describe("the signal", () => {
  const stages: Array<[string, () => Promise<void>]> = [
    ["the first list", async () => undefined],
    ["a list of the store", async () => rig.lastList().fail(expired())],
    ["a delay", async () => rig.lastList().fail(unreachable())],
    ["a watch", async () => rig.listed()],
    [
      "a later watch",
      async () => {
        await rig.listed();
        await rig.clock.advance(5_000);
        rig.lastWatch().end();
      },
    ],
  ];

  it.each(stages)("ends it during %s", async (_what, reach) => {
    await rig.start();
    await reach();
    await rig.clock.settle();
    rig.controller.abort();
    await rig.running;
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.logged.filter((line) => line.includes("abort"))).toEqual([]);
  });

  it("that has fired already starts nothing", async () => {
    rig.controller.abort();
    await rig.start();
    await rig.running;
    expect(rig.server.lists).toEqual([]);
  });

  it("makes it deaf to what comes late", async () => {
    rig = createReflectorRig(createScriptedClient({ ignoresAborts: true }));
    await rig.start();
    rig.controller.abort();
    await rig.listed(pod("a", "4"));
    await rig.running;
    expect(rig.changes).toEqual([]);

    rig.controller = new AbortController();
    rig.running = rig.reflector.run(rig.controller.signal);
    await rig.clock.settle();
    await rig.listed();
    rig.controller.abort();
    rig.lastWatch().send("ADDED", pod("a", "11"), "11");
    rig.lastWatch().end();
    await rig.running;
    expect(rig.changes).toEqual([]);
  });
});

describe("a listener that throws", () => {
  it.each<[string, () => Promise<void>]>([
    ["at a list", async () => rig.listed(pod("a", "4"))],
    [
      "at an event",
      async () => {
        await rig.listed();
        rig.lastWatch().send("ADDED", pod("a", "11"), "11");
      },
    ],
  ])("%s is a crash, and not a failure of the server", async (_what, happen) => {
    rig.onChange = () => {
      throw new TypeError("a bug");
    };
    await rig.start();
    const outcome = expect(rig.running).rejects.toThrow("a bug");
    await happen();
    await outcome;
    expect(rig.failures).toEqual([]);
    rig.running = Promise.resolve();
  });
});
