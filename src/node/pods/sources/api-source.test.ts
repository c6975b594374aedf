import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { AbortedError, aborted } from "../../../base/abort.ts";
import { type Log, type LogFields, silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodServer, type PodServer } from "./__fixtures__/pod-server.ts";
import { createApiSource } from "./api-source.ts";
import type { SourceSnapshot } from "./source-snapshot.ts";

const pod = (name: string, fields: Partial<Pod> = {}): Pod => ({
  metadata: { namespace: "default", name, uid: `uid-${name}` },
  spec: { nodeName: "node-1", containers: [] },
  ...fields,
});

let clock: FakeClock;
let server: PodServer;
let controller: AbortController;
let running: Promise<void>;
let snapshots: SourceSnapshot[];
let errors: LogFields[];
let becomeReady: () => void;

beforeEach(() => {
  clock = createFakeClock();
  server = createPodServer();
  controller = new AbortController();
  running = Promise.resolve();
  snapshots = [];
  errors = [];
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

async function start({ isReady = true } = {}) {
  const log: Log = { ...silentLog, error: (_message, fields = {}) => void errors.push(fields) };
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });
  if (isReady) becomeReady();
  const nodeReady = async (signal: AbortSignal) => {
    await Promise.race([ready, aborted(signal)]);
    if (signal.aborted) throw new AbortedError();
  };
  const emit = (snapshot: SourceSnapshot) => void snapshots.push(snapshot);
  const deps = { client: server.client, clock, random: createSeededRandom(1), log, emit, nodeReady };
  running = createApiSource(deps, { nodeName: "node-1" }).run(controller.signal);
  await clock.settle();
}

const lastNames = () => snapshots.at(-1)?.pods.map(({ metadata }) => metadata?.name);

describe("the API source", () => {
  it("asks for nothing before the node is ready, then for this node's pods", async () => {
    await start({ isReady: false });
    await clock.advance(60_000);
    expect(server.lists).toEqual([]);
    becomeReady();
    await clock.settle();
    expect(server.lists).toMatchObject([{ fieldSelector: "spec.nodeName=node-1", resourceVersion: "0" }]);
  });

  it("ends when it is told to before the node is ready", async () => {
    await start({ isReady: false });
    controller.abort();
    await running;
    expect(snapshots).toEqual([]);
  });

  it("goes down with a node that cannot become ready", async () => {
    const emit = () => undefined;
    const nodeReady = async () => await Promise.reject(new Error("a bug"));
    const deps = { client: server.client, clock, random: createSeededRandom(1), log: silentLog, emit, nodeReady };
    await expect(createApiSource(deps, { nodeName: "node-1" }).run(controller.signal)).rejects.toThrow("a bug");
  });

  it("gives an empty snapshot of an empty list, once", async () => {
    await start();
    expect(snapshots).toEqual([{ source: "api", pods: [] }]);
  });

  it("gives one snapshot with all pods at first, and after each change", async () => {
    server.put(pod("a"));
    server.put(pod("b"));
    await start();
    expect(snapshots).toHaveLength(1);
    server.put(pod("c"));
    await clock.settle();
    server.remove("a");
    await clock.settle();
    expect(snapshots.map(({ pods }) => pods.map(({ metadata }) => metadata?.name))).toEqual([
      ["a", "b"],
      ["a", "b", "c"],
      ["b", "c"],
    ]);
  });

  it("tells how pods went that it saw going, once", async () => {
    for (const name of ["a", "b", "c"]) server.put(pod(name));
    await start();
    server.remove("a", { deletionGracePeriodSeconds: 0 });
    await clock.settle();
    expect(lastNames()).toEqual(["b", "c"]);
    const lastSeen = [...(snapshots.at(-1)?.lastSeen ?? [])];
    expect(lastSeen.map(([uid, { metadata }]) => [uid, metadata?.deletionGracePeriodSeconds])).toEqual([["uid-a", 0]]);
    server.put(pod("d"));
    await clock.settle();
    expect(snapshots.at(-1)?.lastSeen).toBeUndefined();
    server.isAway = true;
    server.disconnect();
    server.remove("b");
    server.isAway = false;
    await clock.advance(60_000);
    expect(lastNames()).toEqual(["c", "d"]);
    expect(snapshots.at(-1)?.lastSeen).toBeUndefined();
  });

  it("gives one snapshot for changes that come together", async () => {
    await start();
    for (let index = 0; index < 100; index++) server.put(pod(`pod-${index}`));
    await clock.settle();
    expect(snapshots.map(({ pods }) => pods.length)).toEqual([0, 100]);
  });

  it("keeps the very object of a pod that did not change", async () => {
    server.put(pod("a"));
    server.put(pod("b"));
    await start();
    server.put(pod("b", { metadata: { namespace: "default", name: "b", uid: "uid-b", labels: { changed: "yes" } } }));
    await clock.settle();
    const [before, after] = snapshots;
    expect(after?.pods[0]).toBe(before?.pods[0]);
    expect(after?.pods[1]).not.toBe(before?.pods[1]);
  });

  it("stays silent while the server is away, and gives the difference when it is back", async () => {
    server.put(pod("a"));
    server.put(pod("b"));
    await start();
    server.isAway = true;
    server.disconnect();
    server.remove("a");
    server.put(pod("c"));
    await clock.advance(3_600_000);
    expect(snapshots).toHaveLength(1);
    server.isAway = false;
    await clock.advance(60_000);
    expect(snapshots).toHaveLength(2);
    expect(lastNames()).toEqual(["b", "c"]);
  });

  it.each<[string, Pod, string]>([
    ["without a UID", pod("bad", { metadata: { namespace: "default", name: "bad" } }), "it has no UID"],
    ["without a namespace", pod("bad", { metadata: { name: "bad", uid: "x" } }), "it has no namespace"],
    ["without a spec", { metadata: { namespace: "default", name: "bad", uid: "x" } }, "it has no spec"],
    ["of another node", pod("bad", { spec: { nodeName: "node-2", containers: [] } }), "it is bound to node node-2"],
    ["of no node", pod("bad", { spec: { containers: [] } }), "it is bound to no node"],
  ])("leaves out a pod %s, and says so once", async (_what, bad, problem) => {
    server.put(bad);
    server.put(pod("good"));
    await start();
    server.put(pod("other"));
    await clock.settle();
    expect(lastNames()).toEqual(["good", "other"]);
    expect(errors).toEqual([expect.objectContaining({ error: problem })]);
  });

  it("lists anew after a malformed pod, at growing intervals, and takes it when it is mended", async () => {
    server.put(pod("a"));
    await start();
    const lists = () => server.lists.length;
    expect(lists()).toBe(1);
    const malformed: object = { ...pod("b"), spec: { nodeName: "node-1", containers: "none" } };
    server.put(malformed);
    await clock.advance(9_999);
    expect([lists(), lastNames()]).toEqual([1, ["a"]]);
    await clock.advance(20_001);
    expect([lists(), lastNames()]).toEqual([3, ["a"]]);
    server.mend(pod("b"));
    await clock.advance(40_000);
    expect([lists(), lastNames()]).toEqual([4, ["a", "b"]]);
    await clock.advance(200_000);
    expect(lists()).toBe(4);
  });

  it("says nothing more when it was told to end", async () => {
    await start();
    server.put(pod("a"));
    controller.abort();
    await running;
    await clock.settle();
    expect(snapshots).toHaveLength(1);
  });
});
