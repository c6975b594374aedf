import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sleep } from "../base/abort.ts";
import { testClock as clock } from "./__fixtures__/test-clock.ts";
import type { RuntimeEvent } from "./container-events.ts";
import { decodeEnvelope, followContainerdEvents } from "./containerd-events.ts";
import { ContainerCreate, ContainerDelete, TaskExit, TaskOOM, TaskStart } from "./gen/containerd/events.ts";
import { Envelope } from "./gen/containerd/types.ts";
import { ContainerState, ContainerStatusResponse, PodSandboxState, PodSandboxStatusResponse } from "./gen/cri-v1.ts";
import type { OwnStops } from "./own-stops.ts";
import { CriError } from "./port.ts";

const envelope = (name: string, value: Uint8Array, namespace = "k8s.io"): Envelope =>
  Envelope.fromPartial({ namespace, topic: "/a/topic", event: { typeUrl: name, value } });

const exitOf = (containerId: string, id = containerId) =>
  envelope(
    "containerd.events.TaskExit",
    TaskExit.encode(TaskExit.fromPartial({ containerId, id, exitStatus: 1 })).finish(),
  );

describe("decodeEnvelope", () => {
  it.each<[string, Envelope, RuntimeEvent | undefined]>([
    [
      "a container is created",
      envelope("containerd.events.ContainerCreate", ContainerCreate.encode({ id: "c", image: "i" }).finish()),
      { kind: "created", containerId: "c" },
    ],
    [
      "a container is deleted",
      envelope("containerd.events.ContainerDelete", ContainerDelete.encode({ id: "c" }).finish()),
      { kind: "deleted", containerId: "c" },
    ],
    [
      "a task starts",
      envelope("containerd.events.TaskStart", TaskStart.encode({ containerId: "c", pid: 7 }).finish()),
      { kind: "started", containerId: "c" },
    ],
    ["a task exits", exitOf("c"), { kind: "stopped", containerId: "c" }],
    ["an exec exits", exitOf("c", "exec-1"), undefined],
    [
      "the kernel kills for want of memory",
      envelope("containerd.events.TaskOOM", TaskOOM.encode({ containerId: "c" }).finish()),
      { kind: "stopped", containerId: "c" },
    ],
    [
      "the type is written as the protobuf library writes it",
      envelope(
        "type.googleapis.com/containerd.events.TaskStart",
        TaskStart.encode({ containerId: "c", pid: 7 }).finish(),
      ),
      { kind: "started", containerId: "c" },
    ],
    ["another event", envelope("containerd.events.TaskPaused", new Uint8Array()), undefined],
    [
      "another namespace",
      envelope("containerd.events.ContainerDelete", ContainerDelete.encode({ id: "c" }).finish(), "moby"),
      undefined,
    ],
    ["no payload", Envelope.fromPartial({ namespace: "k8s.io" }), undefined],
  ])("%s", (_what, received, event) => {
    expect(decodeEnvelope(received)).toEqual(event);
  });
});

const notFound = () => new CriError("not-found", { rpc: "X", endpoint: "unix:///x", detail: "not found" });

/** Containers and sandboxes that stop at a time, and containers that start at one; others are not found. */
function runtimeWhere({ containers = {}, sandboxes = {}, starts = {} }: Record<string, Record<string, number>>) {
  const isOver = (at: number) => Date.now() >= at;
  const stateOf = (id: string, stopsAt: number) => {
    if (isOver(stopsAt)) return ContainerState.CONTAINER_EXITED;
    return isOver(starts[id] ?? 0) ? ContainerState.CONTAINER_RUNNING : ContainerState.CONTAINER_CREATED;
  };
  return {
    async containerStatus({ containerId }: { containerId: string }) {
      const at = containers[containerId];
      if (at === undefined) throw notFound();
      return ContainerStatusResponse.fromPartial({ status: { state: stateOf(containerId, at) } });
    },
    async podSandboxStatus({ podSandboxId }: { podSandboxId: string }) {
      const at = sandboxes[podSandboxId];
      if (at === undefined) throw notFound();
      const state = isOver(at) ? PodSandboxState.SANDBOX_NOTREADY : PodSandboxState.SANDBOX_READY;
      return PodSandboxStatusResponse.fromPartial({ status: { state } });
    },
  };
}

describe("followContainerdEvents", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  const follow = (
    envelopes: readonly Envelope[],
    runtime: ReturnType<typeof runtimeWhere>,
    stops?: OwnStops | undefined,
  ) => {
    const controller = new AbortController();
    const seen: Array<[at: number, id: string]> = [];
    const containerd = {
      async *subscribe(_filters: string[], { signal }: { signal?: AbortSignal | undefined }) {
        yield* envelopes;
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
      close: () => undefined,
    };
    const ended = (async () => {
      const events = followContainerdEvents({ containerd, runtime, stops, clock }, controller.signal);
      for await (const event of events) seen.push([Date.now(), event.containerId]);
    })();
    ended.catch(() => undefined);
    return { seen, ended, abort: () => controller.abort() };
  };

  it("holds an exit back until the status says so, and nothing else meanwhile", async () => {
    const { seen, ended, abort } = follow([exitOf("slow"), exitOf("sandbox"), exitOf("quick")], {
      ...runtimeWhere({ containers: { slow: 50, quick: 0 }, sandboxes: { sandbox: 10 } }),
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen.map(([, id]) => id)).toEqual(["quick", "sandbox", "slow"]);
    const [quick, sandbox, slow] = seen.map(([at]) => at);
    expect([quick, sandbox]).toEqual([0, 10]);
    expect(slow).toBeGreaterThanOrEqual(50);
    expect(slow).toBeLessThan(65);
    abort();
    await ended;
  });

  it("holds back the exit of a container that the runtime is still about to call started", async () => {
    const runtime = runtimeWhere({ containers: { fast: 50 }, starts: { fast: 20 } });
    const { seen, ended, abort } = follow([exitOf("fast")], runtime);
    await vi.advanceTimersByTimeAsync(49);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(seen.map(([, id]) => id)).toEqual(["fast"]);
    abort();
    await ended;
  });

  it("leaves out the end of what a call of ours stopped, and tells of an OOM kill in it", async () => {
    const runtime = { ...runtimeWhere({}), containerStatus: async () => expect.unreachable("nobody had to look") };
    const stops = { isOver: async () => await sleep(clock, 30).then(() => true) };
    const oom = envelope("containerd.events.TaskOOM", TaskOOM.encode({ containerId: "ours" }).finish());
    const { seen, ended, abort } = follow([exitOf("ours"), oom], runtime, stops);
    await vi.advanceTimersByTimeAsync(100);
    expect(seen).toEqual([[30, "ours"]]);
    abort();
    await ended;
  });

  it("passes an event on whatever the status says: an OOM kill after a second, an exit after half a minute", async () => {
    const oom = envelope("containerd.events.TaskOOM", TaskOOM.encode({ containerId: "one-of-two" }).finish());
    const { seen, ended, abort } = follow([exitOf("goes-on"), oom, exitOf("unknown"), exitOf("late")], {
      ...runtimeWhere({ containers: { "goes-on": 1e9, "one-of-two": 1e9, late: 5_000 } }),
    });
    await vi.advanceTimersByTimeAsync(40_000);
    expect(seen).toEqual([
      [0, "unknown"],
      [expect.closeTo(1_000, -3), "one-of-two"],
      [expect.closeTo(5_000, -3), "late"],
      [expect.closeTo(30_000, -3), "goes-on"],
    ]);
    abort();
    await ended;
  });

  it("fails when more events wait than it holds", async () => {
    const flood = Array.from({ length: 1_100 }, (_, number) => exitOf(`c${number}`));
    const running = Object.fromEntries(flood.map((_, number) => [`c${number}`, 1e9]));
    const { ended } = follow(flood, runtimeWhere({ containers: running }));
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(ended).rejects.toMatchObject({ code: "resource-exhausted" });
  });
});
