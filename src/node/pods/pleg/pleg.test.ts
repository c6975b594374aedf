import { afterEach, describe, expect, it } from "vitest";
import { makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import { createGate, createPlegRig, podName } from "./__fixtures__/pleg-rig.ts";

/** What PLEG promises: how often it relists without and with events, when it is unhealthy, how long a hint may wait. */
const RELIST_PERIOD_MS = 1_000;
const RELIST_PERIOD_WITH_EVENTS_MS = 30_000;
const RELIST_THRESHOLD_MS = 180_000;
const HINT_HOLD_MS = 10_000;

const NEVER = new AbortController().signal;
let rig = createPlegRig();
afterEach(async () => {
  await rig.stop();
  expect(rig.clock.pendingTimers).toBe(0);
});

/** A rig that has relisted once, with these pods. */
async function start(pods: Record<string, string[]> = {}, options: { eventDriven?: boolean } = {}): Promise<void> {
  await rig.stop();
  rig = createPlegRig();
  for (const [uid, containers] of Object.entries(pods)) rig.pods.set(uid, containers);
  rig.pleg.setEventDriven(options.eventDriven === true);
  await rig.clock.settle();
  if (options.eventDriven) await rig.clock.advance(RELIST_PERIOD_MS);
  rig.told();
  rig.reads.length = 0;
}

const lists = async (advanceMs: number) => {
  const before = rig.lists();
  await rig.clock.advance(advanceMs);
  return rig.lists() - before;
};

describe("the relist", () => {
  it("reads the pods that changed, tells what happened to them, and then that it has looked at all", async () => {
    await start({ a: ["main running"], b: ["main running"] });
    expect([...rig.pleg.pods().keys()]).toEqual(["a", "b"]);
    rig.pods.set("b", ["main exited:1"]);
    rig.pods.set("c", ["main running"]);
    await rig.clock.advance(RELIST_PERIOD_MS);
    // The lists have just shown what there is of them.
    expect(rig.reads).toEqual(["b by its items", "c by its items"]);
    expect(rig.items.at(-1)).toEqual({
      sandboxes: [{ id: "sandbox-0" }],
      containers: [{ id: "main-0", sandboxId: "sandbox-0" }],
    });
    expect(rig.told()).toEqual([
      "b main-0 ContainerDied",
      "c sandbox-0 ContainerStarted",
      "c main-0 ContainerStarted",
      "relisted",
    ]);
    expect(await rig.cache.fresh(podName("b"), NEVER)).toMatchObject({ containers: [{ state: "exited" }] });
  });

  it("leaves a pod that is being changed to the reading that follows, but not for long", async () => {
    await start({ a: ["main running"] });
    rig.cache.invalidate("a");
    rig.pods.set("a", ["main exited:1"]);
    await rig.clock.advance(HINT_HOLD_MS);
    expect(rig.reads).toEqual([]);
    await rig.clock.advance(RELIST_PERIOD_MS);
    expect(rig.reads).toEqual(["a"]);
    rig.pods.set("a", ["main exited:1", "side running"]);
    rig.cache.invalidate("a");
    await rig.clock.advance(RELIST_PERIOD_MS);
    await rig.pleg.refresh(podName("a"));
    await rig.clock.advance(2 * HINT_HOLD_MS);
    expect(rig.reads).toEqual(["a", "a"]);
  });

  it.each([false, true])(
    "within the reading that follows a change makes no further one, unless a hint does: %s",
    async (isHinted) => {
      await start({ a: ["main running"] });
      const gate = createGate();
      rig.cache.invalidate("a");
      rig.pods.set("a", ["main exited:1"]);
      rig.hooks.read = async () => await gate.passed;
      const refreshed = rig.pleg.refresh(podName("a"));
      await rig.clock.advance(RELIST_PERIOD_MS);
      if (isHinted) rig.pleg.hint("main-0");
      gate.open();
      await refreshed;
      await rig.clock.advance(2 * HINT_HOLD_MS);
      expect(rig.reads).toEqual(isHinted ? ["a", "a"] : ["a"]);
    },
  );

  it("takes what its lists show for no newer than they are: a pod may have been changed since", async () => {
    await start({ a: ["main running"] });
    const gate = createGate();
    rig.hooks.list = async () => await gate.passed;
    await rig.clock.advance(RELIST_PERIOD_MS);
    rig.pods.set("a", ["main running", "side running"]);
    rig.cache.invalidate("a");
    await rig.pleg.refresh(podName("a"));
    rig.told();
    rig.pods.set("a", ["main running"]);
    gate.open();
    await rig.clock.settle();
    expect(rig.reads).toEqual(["a", "a by its items"]);
    expect(rig.told()).toEqual(["relisted"]);
    expect(rig.cache.latest("a")?.containers).toHaveLength(2);
  });

  it("tells of a pod that is gone, and forgets it", async () => {
    await start({ a: ["main exited:0"] });
    rig.pods.delete("a");
    await rig.clock.advance(RELIST_PERIOD_MS);
    expect(rig.told()).toEqual([
      "a sandbox-0 ContainerDied",
      "a sandbox-0 ContainerRemoved",
      "a main-0 ContainerRemoved",
      "relisted",
    ]);
    expect(rig.pleg.pods().size).toBe(0);
  });

  it("comes every second, and every half a minute where events arrive", async () => {
    await start();
    expect(await lists(10_000)).toBe(10);
    rig.pleg.setEventDriven(true);
    expect(await lists(RELIST_PERIOD_MS)).toBe(1);
    expect(await lists(RELIST_PERIOD_WITH_EVENTS_MS - 1)).toBe(0);
    expect(await lists(1)).toBe(1);
    rig.pleg.setEventDriven(false);
    expect(await lists(3_000)).toBe(3);
  });

  it("looks again when events begin, because what happened before they did is in the lists only", async () => {
    const gate = createGate();
    await start();
    rig.hooks.list = async () => await gate.passed;
    await rig.clock.advance(RELIST_PERIOD_MS);
    rig.pleg.setEventDriven(true);
    gate.open();
    rig.hooks.list = async () => {};
    expect(await lists(RELIST_PERIOD_MS)).toBe(1);
    expect(await lists(RELIST_PERIOD_MS)).toBe(0);
  });

  it("goes on when the runtime cannot list, and soon", async () => {
    await start({}, { eventDriven: true });
    rig.hooks.list = async () => await Promise.reject(new Error("unavailable"));
    await rig.clock.advance(RELIST_PERIOD_WITH_EVENTS_MS);
    expect(rig.told()).toEqual([]);
    rig.hooks.list = async () => {};
    await rig.clock.advance(RELIST_PERIOD_MS);
    expect(rig.told()).toEqual(["relisted"]);
  });

  it("reads again what could not be read, also a pod that no list shows", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    rig.hooks.read = async () => await Promise.reject(new Error("unavailable"));
    rig.cache.invalidate("ghost");
    await rig.pleg.refresh(podName("ghost"));
    const fresh = rig.cache.fresh(podName("ghost"), NEVER);
    rig.hooks.read = async () => {};
    await rig.clock.advance(RELIST_PERIOD_MS);
    expect(await fresh).toMatchObject({ uid: "ghost", sandboxes: [], containers: [] });
    expect(await lists(RELIST_PERIOD_MS)).toBe(0);
  });

  it("does not let a pod that could not be read pass for one that is not there", async () => {
    await rig.stop();
    rig = createPlegRig();
    rig.pods.set("a", ["main running"]);
    rig.hooks.read = async () => await Promise.reject(new Error("unavailable"));
    await rig.clock.settle();
    expect(rig.told()).toEqual(["relisted"]);
    expect([...rig.pleg.pods().keys()]).toEqual(["a"]);
    const fresh = rig.cache.fresh(podName("a"), NEVER);
    rig.hooks.read = async () => {};
    await rig.clock.advance(RELIST_PERIOD_MS);
    expect(await fresh).toMatchObject({ containers: [{ state: "running" }] });
  });
});

describe("a hint", () => {
  it("reads that one pod at once, found by the container or named", async () => {
    await start({ a: ["main running"], b: ["main running", "side running"] }, { eventDriven: true });
    rig.pods.set("b", ["main running", "side exited:1"]);
    rig.pleg.hint("side-0");
    await rig.clock.settle();
    expect(rig.told()).toEqual(["b side-0 ContainerDied"]);
    rig.pleg.hint("whatever", "a");
    await rig.clock.settle();
    expect(rig.reads).toEqual(["b", "a"]);
  });

  it("that comes while its pod is being read makes one more reading, however many come", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    const gate = createGate();
    rig.hooks.read = async () => await gate.passed;
    for (let count = 0; count < 5; count++) rig.pleg.hint("main-0");
    await rig.clock.settle();
    expect(rig.reads).toEqual(["a"]);
    rig.pods.set("a", ["main exited:0"]);
    gate.open();
    await rig.clock.settle();
    expect(rig.reads).toEqual(["a", "a"]);
    expect(rig.told()).toEqual(["a main-0 ContainerDied"]);
  });

  it("of an unknown container makes a relist, but a flood of them not more than one a period", async () => {
    await start({}, { eventDriven: true });
    await rig.clock.advance(5_000);
    rig.pleg.hint("stranger");
    expect(await lists(0)).toBe(1);
    const before = rig.lists();
    for (let count = 0; count < 100; count++) {
      rig.pleg.hint(`stranger-${count}`);
      await rig.clock.advance(100);
    }
    expect(rig.lists() - before).toBe(10);
    expect(await lists(RELIST_PERIOD_MS)).toBe(0);
  });

  it("of a pod that is being changed waits for the reading that follows", async () => {
    await start({ a: ["main running", "side running"] }, { eventDriven: true });
    rig.cache.invalidate("a");
    rig.pods.set("a", ["main exited:0", "side exited:0"]);
    for (const id of ["main-0", "side-0"]) rig.pleg.hint(id);
    await rig.clock.advance(HINT_HOLD_MS - 1);
    expect(rig.reads).toEqual([]);
    await rig.pleg.refresh(podName("a"));
    await rig.clock.advance(10 * HINT_HOLD_MS);
    expect(rig.reads).toEqual(["a"]);
  });

  it("that comes while the reading after a change is under way makes one more", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    rig.cache.invalidate("a");
    const gate = createGate();
    rig.hooks.read = async () => await gate.passed;
    const refreshed = rig.pleg.refresh(podName("a"));
    await rig.clock.settle();
    rig.pods.set("a", ["main exited:0"]);
    rig.pleg.hint("main-0");
    gate.open();
    await refreshed;
    await rig.clock.settle();
    expect(rig.told()).toEqual(["a main-0 ContainerDied"]);
  });

  it("of a pod whose change takes its time is heeded all the same", async () => {
    await start({ a: ["main running", "side running"] }, { eventDriven: true });
    rig.cache.invalidate("a");
    rig.pods.set("a", ["main exited:0", "side running"]);
    rig.pleg.hint("main-0");
    await rig.clock.advance(HINT_HOLD_MS);
    expect(rig.told()).toEqual(["a main-0 ContainerDied"]);
  });

  it("of what is known to be gone is too late to matter", async () => {
    await start({ a: ["main exited:0"] }, { eventDriven: true });
    await rig.clock.advance(5_000);
    rig.pods.delete("a");
    await rig.pleg.refresh(podName("a"));
    for (const id of ["main-0", "sandbox-0"]) rig.pleg.hint(id);
    expect(await lists(RELIST_PERIOD_MS)).toBe(0);
  });

  it("is not lost when it comes during a relist", async () => {
    await start({}, { eventDriven: true });
    const gate = createGate();
    rig.hooks.list = async () => await gate.passed;
    await rig.clock.advance(RELIST_PERIOD_WITH_EVENTS_MS);
    rig.pleg.hint("stranger");
    gate.open();
    expect(await lists(RELIST_PERIOD_MS)).toBe(1);
  });
});

describe("a refresh", () => {
  it("updates cache and records, and never rejects", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    rig.pods.set("a", ["main exited:3"]);
    await rig.pleg.refresh(podName("a"));
    expect(rig.told()).toEqual(["a main-0 ContainerDied"]);
    rig.hooks.read = async () => await Promise.reject(new Error("unavailable"));
    await expect(rig.pleg.refresh(podName("a"))).resolves.toBeUndefined();
  });

  it("of a pod of which all is known asks no lists, unless an event named something else of it", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    const items = { sandboxes: [{ id: "sandbox-0" }], containers: [{ id: "main-0", sandboxId: "sandbox-0" }] };
    await rig.pleg.refresh(podName("a"), items);
    rig.cache.invalidate("a");
    rig.pleg.hint("main-0", "a");
    await rig.pleg.refresh(podName("a"), items);
    rig.cache.invalidate("a");
    rig.pleg.hint("stranger", "a");
    await rig.pleg.refresh(podName("a"), items);
    await rig.pleg.refresh(podName("a"), items);
    expect(rig.reads).toEqual(["a by its items", "a by its items", "a", "a by its items"]);
  });

  it("asks a sandbox that was ready, where something happened to its pod since, and none that had ended", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    const [ready] = makeRuntimeStatus([]).sandboxes;
    const ended = ready && { ...ready, id: "ended", state: "notready" as const };
    const sandboxes = [ready, ended].map((status) => ({ id: status?.id ?? "", status }));
    rig.cache.invalidate("a");
    await rig.pleg.refresh(podName("a"), { sandboxes, containers: [] });
    rig.cache.invalidate("a");
    rig.pleg.hint("main-0", "a");
    await rig.pleg.refresh(podName("a"), { sandboxes, containers: [] });
    expect(rig.items.slice(-2).map((items) => items?.sandboxes.map(({ status }) => status?.state))).toEqual([
      ["ready", "notready"],
      [undefined, "notready"],
    ]);
  });

  it("is not undone by a slower reading that began before it", async () => {
    await start({ a: ["main running"] }, { eventDriven: true });
    const gate = createGate();
    rig.hooks.read = async () => await gate.passed;
    const slow = rig.pleg.refresh(podName("a"));
    rig.hooks.read = async () => {};
    rig.pods.set("a", ["main exited:3"]);
    await rig.pleg.refresh(podName("a"));
    gate.open();
    await slow;
    expect(rig.told()).toEqual(["a main-0 ContainerDied"]);
    expect(rig.pleg.pods().get("a")?.containers).toMatchObject([{ state: "exited" }]);
  });
});

describe("its health", () => {
  it("is unknown at first, good after a relist, and bad when there was none for three minutes", async () => {
    await rig.stop();
    rig = createPlegRig();
    expect(rig.pleg.health()).toEqual({ state: "starting" });
    await rig.clock.settle();
    expect(rig.pleg.health()).toEqual({ state: "healthy" });
    rig.hooks.list = async () => await Promise.reject(new Error("unavailable"));
    await rig.clock.advance(RELIST_THRESHOLD_MS);
    expect(rig.pleg.health()).toEqual({ state: "healthy" });
    await rig.clock.advance(1_000);
    const message = "pleg was last seen active 181s ago; threshold is 180s";
    expect(rig.pleg.health()).toEqual({ state: "unhealthy", message });
  });

  it("is bad when the first relist never ends", async () => {
    await rig.stop();
    rig = createPlegRig();
    rig.hooks.list = async () => await Promise.reject(new Error("unavailable"));
    await rig.clock.advance(RELIST_THRESHOLD_MS + 1);
    expect(rig.pleg.health()).toMatchObject({ state: "unhealthy" });
  });
});
