import { expect, it } from "vitest";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";
import { createLoopInbox, type LoopEvent } from "./loop-inbox.ts";

const NEVER = new AbortController().signal;

function snapshot(source: SourceSnapshot["source"], name: string): SourceSnapshot {
  return { source, pods: [{ metadata: { name } }] };
}

function describeEvent(event: LoopEvent): string {
  switch (event.type) {
    case "source":
      return `${event.snapshot.source} ${event.snapshot.pods[0]?.metadata?.name}`;
    case "lifecycle":
      return `${event.event.uid} ${event.event.type}`;
    case "relisted":
      return "relisted";
    case "gone":
      return `gone ${event.uid}`;
    case "referenced":
    case "decidable":
    case "probed":
      return `referenced ${event.uid}`;
  }
}

async function takeAll(inbox: ReturnType<typeof createLoopInbox>): Promise<string[]> {
  const events: string[] = [];
  inbox.offerGone("end");
  for (;;) {
    const event = describeEvent(await inbox.take(NEVER));
    if (event === "gone end") return events;
    events.push(event);
  }
}

it("gives everything in the order in which it came", async () => {
  const inbox = createLoopInbox();
  inbox.offerLifecycleEvent({ uid: "a", type: "ContainerDied", id: "1" });
  inbox.offerSnapshot(snapshot("file", "one"));
  inbox.offerGone("b");
  inbox.offerRelisted();
  expect(await takeAll(inbox)).toEqual(["a ContainerDied", "file one", "gone b", "relisted"]);
});

it("keeps the newest snapshot of each source, at the place of the first", async () => {
  const inbox = createLoopInbox();
  inbox.offerSnapshot(snapshot("file", "one"));
  inbox.offerSnapshot(snapshot("http", "other"));
  inbox.offerSnapshot(snapshot("file", "two"));
  inbox.offerSnapshot(snapshot("file", "three"));
  expect(await takeAll(inbox)).toEqual(["file three", "http other"]);
  inbox.offerSnapshot(snapshot("file", "four"));
  expect(await takeAll(inbox)).toEqual(["file four"]);
});

it("keeps how pods went that an older snapshot told of", async () => {
  const inbox = createLoopInbox();
  const lastSeen = (uid: string, seconds: number) =>
    new Map([[uid, { metadata: { uid, deletionGracePeriodSeconds: seconds } }]]);
  inbox.offerSnapshot({ ...snapshot("api", "one"), lastSeen: lastSeen("a", 0) });
  inbox.offerSnapshot({ ...snapshot("api", "two"), lastSeen: lastSeen("b", 5) });
  inbox.offerSnapshot(snapshot("api", "three"));
  const event = await inbox.take(NEVER);
  expect(describeEvent(event)).toBe("api three");
  expect(event.type === "source" && [...(event.snapshot.lastSeen?.keys() ?? [])]).toEqual(["a", "b"]);
});

it("keeps which pods were away, as long as they are there", async () => {
  const inbox = createLoopInbox();
  const pods = ["a", "b"].map((uid) => ({ metadata: { uid } }));
  inbox.offerSnapshot({ source: "file", pods, returned: new Set(["a", "b"]) });
  inbox.offerSnapshot({ source: "file", pods: pods.slice(1) });
  const event = await inbox.take(NEVER);
  expect(event).toMatchObject({ snapshot: { returned: new Set(["b"]) } });
});

it("says once that there was a relist", async () => {
  const inbox = createLoopInbox();
  for (let count = 0; count < 3; count++) inbox.offerRelisted();
  expect(await takeAll(inbox)).toEqual(["relisted"]);
  inbox.offerRelisted();
  expect(await takeAll(inbox)).toEqual(["relisted"]);
});

it("drops and counts life cycle events that find it full, and nothing else", async () => {
  const inbox = createLoopInbox();
  for (let count = 0; count < 10_005; count++) inbox.offerLifecycleEvent({ uid: "a", type: "ContainerDied", id: "1" });
  inbox.offerGone("b");
  inbox.offerSnapshot(snapshot("file", "one"));
  expect(inbox.discarded).toBe(5);
  const events = await takeAll(inbox);
  expect(events).toHaveLength(10_002);
  expect(events.slice(-2)).toEqual(["gone b", "file one"]);
  inbox.offerLifecycleEvent({ uid: "a", type: "ContainerDied", id: "1" });
  expect(await takeAll(inbox)).toHaveLength(1);
  expect(inbox.discarded).toBe(5);
});

it("stops waiting when the signal fires", async () => {
  const controller = new AbortController();
  const taken = createLoopInbox().take(controller.signal);
  controller.abort();
  await expect(taken).rejects.toMatchObject({ name: "AbortError" });
});
