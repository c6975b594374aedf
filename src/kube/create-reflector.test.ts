import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError, expiredError } from "../api/api-error.ts";
import type { Pod } from "../api/gen/types.ts";
import { PODS } from "../api/kube-resource.ts";
import { AbortedError } from "../base/abort.ts";
import { type Log, silentLog } from "../base/log.ts";
import { createFakeClock, type FakeClock } from "../host/fake/fake-clock.ts";
import { createScriptedClient, type ScriptedClient } from "./__fixtures__/scripted-client.ts";
import { createReflector } from "./create-reflector.ts";
import { KubeUnreachableError } from "./port.ts";
import type { Reflector, ReflectorChange } from "./reflector.ts";

const pod = (name: string, resourceVersion: string, uid = name): Pod => ({
  metadata: { namespace: "default", name, uid, resourceVersion },
});
const unreachable = () => new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
const expired = () => expiredError("too old resource version");
const tooLarge = () =>
  new ApiError("Timeout", "Timeout: Too large resource version: 9, current: 1", {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
  });

let clock: FakeClock;
let server: ScriptedClient;
let controller: AbortController;
let reflector: Reflector<Pod>;
let running: Promise<void>;
let changes: string[];
let logged: string[];
let failures: unknown[];
let onChange: (changes: ReadonlyArray<ReflectorChange<Pod>>) => void;

const log: Log = {
  ...silentLog,
  warn: (message, fields) => void logged.push(`warn: ${message}: ${String(fields?.["error"])}`),
  info: (message) => void logged.push(`info: ${message}`),
};

beforeEach(() => {
  clock = createFakeClock();
  server = createScriptedClient();
  controller = new AbortController();
  changes = [];
  logged = [];
  failures = [];
  onChange = (batch) => {
    changes.push(batch.map(({ type, object }) => `${type} ${object.metadata?.uid}`).join(", "));
  };
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

async function start() {
  reflector = createReflector(
    // Half of the jitter: delays are 1.5 times their base.
    { client: server.client, clock, random: { next: () => 0.5 }, log },
    {
      resource: PODS,
      fieldSelector: "spec.nodeName=n",
      onChange: (batch) => onChange(batch),
      onFailure: (error) => void failures.push(error),
    },
  );
  running = reflector.run(controller.signal);
  await clock.settle();
}

const lastList = () => {
  const call = server.lists.at(-1);
  if (call === undefined) throw new Error("nothing was listed");
  return call;
};
const lastWatch = () => {
  const call = server.watches.at(-1);
  if (call === undefined) throw new Error("nothing was watched");
  return call;
};
const listed = async (...items: Pod[]) => {
  lastList().answer(items, "10");
  await clock.settle();
};
const held = () => reflector.list().map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`);
/** Milliseconds until the reflector lists again. */
const delayOfNextList = async () => {
  const before = server.lists.length;
  let waited = 0;
  await clock.settle();
  while (server.lists.length === before) {
    const step = clock.untilNextTimer() ?? Number.NaN;
    waited += step;
    await clock.advance(step);
  }
  return waited;
};

describe("a reflector", () => {
  it("lists from the server's cache, then watches from there", async () => {
    await start();
    expect(lastList().options).toMatchObject({ fieldSelector: "spec.nodeName=n", resourceVersion: "0" });
    expect(reflector.hasSynced).toBe(false);
    await listed(pod("a", "4"), pod("b", "5"));
    expect(reflector.hasSynced).toBe(true);
    expect(changes).toEqual(["ADDED a, ADDED b"]);
    expect(reflector.get("default", "b")).toEqual(expect.objectContaining({ metadata: pod("b", "5").metadata }));
    expect(lastWatch().options).toMatchObject({ fieldSelector: "spec.nodeName=n", resourceVersion: "10" });
  });

  it("asks the store where a list is older than what it asked for, and ends nothing by the first answer", async () => {
    await start();
    await listed(pod("a", "4"));
    await clock.advance(2_000);
    lastWatch().fail(new ApiError("Expired", "too old"));
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("10");
    lastList().answer([], "1");
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("");
    expect(held()).toEqual(["a@4"]);
    lastList().answer([pod("a", "4")], "12");
    await clock.settle();
    expect(changes).toEqual(["ADDED a"]);
    expect(lastWatch().options.resourceVersion).toBe("12");
  });

  it("believes the store that it has nothing any more", async () => {
    await start();
    await listed(pod("a", "4"));
    await clock.advance(2_000);
    lastWatch().fail(new ApiError("Expired", "too old"));
    await clock.settle();
    lastList().answer([], "1");
    await clock.settle();
    lastList().answer([], "1");
    await clock.settle();
    expect(changes).toEqual(["ADDED a", "DELETED a"]);
  });

  it("asks the store where the server cannot read the revision of a bookmark", async () => {
    await start();
    await listed(pod("a", "4"));
    lastWatch().bookmark("not a version");
    await clock.advance(2_000);
    lastWatch().fail(new ApiError("Expired", "too old"));
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("not a version");
    lastList().fail(new ApiError("BadRequest", "invalid resource version"));
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("");
  });

  it("asks the server to end a watch after five to ten minutes", async () => {
    await start();
    await listed();
    expect(lastWatch().options.timeoutSeconds).toBe(450);
  });

  it("tells of events one by one, and of an empty list not at all", async () => {
    await start();
    await listed();
    lastWatch().send("ADDED", pod("a", "11"), "11");
    lastWatch().send("MODIFIED", pod("a", "12"), "12");
    lastWatch().send("MODIFIED", pod("a", "12"), "12");
    lastWatch().send("DELETED", pod("a", "13"), "13");
    lastWatch().send("DELETED", pod("a", "13"), "13");
    expect(changes).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  });

  it.each<[string, () => void, string]>([
    ["of the list, when nothing happened", () => undefined, "10"],
    ["of the last event", () => lastWatch().send("ADDED", pod("a", "x-17"), "x-17"), "x-17"],
    ["of a bookmark", () => lastWatch().bookmark("40"), "40"],
  ])("goes on from the revision %s, when a watch ends in order", async (_what, happen, expected) => {
    await start();
    await listed();
    happen();
    await clock.advance(60_000);
    lastWatch().end();
    await clock.settle();
    expect(server.lists).toHaveLength(1);
    expect(server.watches).toHaveLength(2);
    expect(lastWatch().options.resourceVersion).toBe(expected);
    expect(logged).toEqual([]);
  });

  it("goes on at once when the connection of a watch that worked breaks, and lists when that fails", async () => {
    await start();
    await listed();
    lastWatch().bookmark("12");
    await clock.advance(5_000);
    lastWatch().fail(unreachable());
    await clock.settle();
    expect(lastWatch().options.resourceVersion).toBe("12");
    expect(logged).toEqual([]);
    lastWatch().fail(unreachable());
    await clock.settle();
    expect(server.watches).toHaveLength(2);
    expect(await delayOfNextList()).toBe(1_200);
    expect(lastList().options.resourceVersion).toBe("12");
  });

  it("takes a watch that ends at once without an event for an error", async () => {
    await start();
    await listed();
    lastWatch().end();
    await clock.settle();
    expect(server.watches).toHaveLength(1);
    expect(failures).toEqual([new Error("the watch ended at once, without an event")]);
    expect(await delayOfNextList()).toBe(1_200);
  });

  it("asks once a second of a server that ends each watch after its first event", async () => {
    await start();
    await listed();
    for (let second = 0; second < 20; second++) {
      lastWatch().bookmark(`${20 + second}`);
      lastWatch().end();
      await clock.advance(1_000);
    }
    expect(server.watches).toHaveLength(21);
    expect(lastWatch().options.resourceVersion).toBe("39");
    expect([server.lists.length, failures]).toEqual([1, []]);
  });

  it("ends a watch itself that the server forgot to end", async () => {
    await start();
    await listed();
    await clock.advance(480_000);
    expect(failures).toEqual([new Error("the watch went on past its time")]);
    await delayOfNextList();
    await listed(pod("a", "11"));
    expect(held()).toEqual(["a@11"]);
  });
});

describe("a revision that the server cannot give", () => {
  it.each([
    ["kept no longer", expired],
    ["gone", () => new ApiError("Gone", "gone")],
    ["of the future", tooLarge],
  ])("%s: the list is asked of its store", async (_what, error) => {
    await start();
    lastList().fail(error());
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("");
    await listed(pod("a", "1"));
    expect(held()).toEqual(["a@1"]);
    expect(failures).toEqual([]);
  });

  it("goes on asking the store until it has answered", async () => {
    await start();
    lastList().fail(expired());
    await clock.settle();
    lastList().fail(expired());
    await clock.settle();
    expect(failures).toHaveLength(1);
    await delayOfNextList();
    expect(lastList().options.resourceVersion).toBe("");
    await listed();
    await clock.advance(5_000);
    lastWatch().fail(unreachable());
    await delayOfNextList();
    expect(lastList().options.resourceVersion).toBe("10");
  });

  it("at a later watch gives a new list at once, no older than what is known", async () => {
    await start();
    await listed(pod("a", "4"), pod("b", "5"));
    await clock.advance(5_000);
    lastWatch().end();
    await clock.settle();
    lastWatch().fail(expired());
    await clock.settle();
    expect(lastList().options.resourceVersion).toBe("10");
    await listed(pod("b", "11"), pod("c", "12"));
    expect(changes.at(-1)).toBe("DELETED a, MODIFIED b, ADDED c");
    expect(logged).toEqual([]);
  });

  it("again and again is listed less and less often", async () => {
    await start();
    const delays: number[] = [];
    for (let storm = 0; storm < 6; storm++) {
      await listed();
      await clock.advance(1_500);
      const lists = server.lists.length;
      lastWatch().fail(expired());
      await clock.settle();
      delays.push(server.lists.length > lists ? 0 : await delayOfNextList());
    }
    expect(delays).toEqual([0, 1_200, 2_400, 4_800, 9_600, 19_200]);
  });

  it("at the watch after a list waits, then asks the store: no tight circle", async () => {
    await start();
    await listed();
    lastWatch().fail(expired());
    expect(await delayOfNextList()).toBe(1_200);
    expect(lastList().options.resourceVersion).toBe("");
  });
});

describe("an outage", () => {
  it("is waited out with growing delays up to 30 s, lengthened by chance", async () => {
    await start();
    const delays = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      lastList().fail(unreachable());
      await clock.settle();
      delays.push(await delayOfNextList());
    }
    expect(delays).toEqual([1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 45_000]);
  });

  it("of any length ends with the difference", async () => {
    await start();
    await listed(pod("gone", "1"), pod("same", "2"), pod("changed", "3"), pod("replaced", "4", "old"));
    await clock.advance(5_000);
    lastWatch().fail(unreachable());
    for (let waited = 0; waited < 24 * 3_600_000; waited += await delayOfNextList()) {
      if (waited > 0) lastList().fail(unreachable());
      await clock.settle();
    }
    changes = [];
    await listed(pod("same", "2"), pod("changed", "13"), pod("replaced", "14", "new"), pod("fresh", "15"));
    expect(changes).toEqual(["DELETED gone, DELETED old, MODIFIED changed, ADDED new, ADDED fresh"]);
    expect(logged).toEqual(["warn: Failed to list or watch, trying again: connect ECONNREFUSED"]);
  });

  it("is said once, said anew when its reason changes, and its end is said once", async () => {
    await start();
    for (const error of [
      unreachable(),
      unreachable(),
      new ApiError("Forbidden", "no"),
      new ApiError("Forbidden", "no"),
    ]) {
      lastList().fail(error);
      await clock.settle();
      await delayOfNextList();
    }
    await listed();
    expect(logged).toHaveLength(2);
    await clock.advance(1_000);
    lastWatch().bookmark("11");
    expect(logged).toEqual([
      "warn: Failed to list or watch, trying again: connect ECONNREFUSED",
      "warn: Failed to list or watch, trying again: no",
      "info: Listed and watching again",
    ]);
  });

  it("is not called over by a list when the watch fails each time", async () => {
    await start();
    for (let attempt = 0; attempt < 5; attempt++) {
      await listed();
      lastWatch().fail(new ApiError("Forbidden", "no watching"));
      await clock.settle();
      await delayOfNextList();
    }
    expect(logged).toEqual(["warn: Failed to list or watch, trying again: no watching"]);
  });

  it("starts the delays over after two minutes of watching, and not before", async () => {
    await start();
    const delayAfter = async (watchedMs: number) => {
      await listed();
      await clock.advance(watchedMs);
      lastWatch().fail(new ApiError("InternalError", "broken"));
      await clock.settle();
      return await delayOfNextList();
    };
    expect([await delayAfter(0), await delayAfter(119_000), await delayAfter(120_000), await delayAfter(0)]).toEqual([
      1_200, 2_400, 1_200, 2_400,
    ]);
  });

  it("waits as long as the server asks to, up to a minute", async () => {
    await start();
    lastList().fail(new ApiError("TooManyRequests", "slow down", { retryAfterSeconds: 20 }));
    await clock.settle();
    expect(await delayOfNextList()).toBe(20_000);
    lastList().fail(new ApiError("TooManyRequests", "slow down", { retryAfterSeconds: 86_400 }));
    await clock.settle();
    expect(await delayOfNextList()).toBe(60_000);
  });

  it("that looks like the absence of the resource ends no object", async () => {
    await start();
    await listed(pod("a", "4"));
    await clock.advance(5_000);
    lastWatch().fail(unreachable());
    await delayOfNextList();
    lastList().fail(new ApiError("NotFound", "the server could not find the requested resource"));
    await clock.settle();
    expect(held()).toEqual(["a@4"]);
    expect(changes).toEqual(["ADDED a"]);
  });

  it("does not quote an answer that is no JSON", async () => {
    await start();
    lastList().fail(new SyntaxError(`Unexpected token in "c2VjcmV0`));
    await clock.settle();
    expect(logged).toEqual(["warn: Failed to list or watch, trying again: the answer is not valid JSON"]);
  });
});

describe("waiting for the first list", () => {
  it("ends when a slow list is in, and at once afterwards", async () => {
    await start();
    let isSynced = false;
    const waiting = reflector.synced(controller.signal).then(() => {
      isSynced = true;
    });
    await clock.advance(50_000);
    expect(isSynced).toBe(false);
    await listed();
    await waiting;
    await reflector.synced(controller.signal);
  });

  it("ends with the waiter's signal", async () => {
    await start();
    const impatient = new AbortController();
    const waiting = reflector.synced(impatient.signal);
    impatient.abort();
    await expect(waiting).rejects.toThrow(AbortedError);
    await expect(reflector.synced(impatient.signal)).rejects.toThrow(AbortedError);
    await listed();
  });
});

describe("the signal", () => {
  const stages: Array<[string, () => Promise<void>]> = [
    ["the first list", async () => undefined],
    ["a list of the store", async () => lastList().fail(expired())],
    ["a delay", async () => lastList().fail(unreachable())],
    ["a watch", async () => listed()],
    [
      "a later watch",
      async () => {
        await listed();
        await clock.advance(5_000);
        lastWatch().end();
      },
    ],
  ];

  it.each(stages)("ends it during %s", async (_what, reach) => {
    await start();
    await reach();
    await clock.settle();
    controller.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
    expect(logged.filter((line) => line.includes("abort"))).toEqual([]);
  });

  it("that has fired already starts nothing", async () => {
    controller.abort();
    await start();
    await running;
    expect(server.lists).toEqual([]);
  });

  it("makes it deaf to what comes late", async () => {
    server = createScriptedClient({ ignoresAborts: true });
    await start();
    controller.abort();
    await listed(pod("a", "4"));
    await running;
    expect(changes).toEqual([]);

    controller = new AbortController();
    running = reflector.run(controller.signal);
    await clock.settle();
    await listed();
    controller.abort();
    lastWatch().send("ADDED", pod("a", "11"), "11");
    lastWatch().end();
    await running;
    expect(changes).toEqual([]);
  });
});

describe("a listener that throws", () => {
  it.each<[string, () => Promise<void>]>([
    ["at a list", async () => listed(pod("a", "4"))],
    [
      "at an event",
      async () => {
        await listed();
        lastWatch().send("ADDED", pod("a", "11"), "11");
      },
    ],
  ])("%s is a crash, and not a failure of the server", async (_what, happen) => {
    onChange = () => {
      throw new TypeError("a bug");
    };
    await start();
    const outcome = expect(running).rejects.toThrow("a bug");
    await happen();
    await outcome;
    expect(failures).toEqual([]);
    running = Promise.resolve();
  });
});
