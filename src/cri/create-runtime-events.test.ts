import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Log, silentLog } from "../base/log.ts";
import { testClock as clock } from "./__fixtures__/test-clock.ts";
import type { ContainerdEvents } from "./containerd-events.ts";
import { createRuntimeEvents, decodeCriEvent, planRetry } from "./create-runtime-events.ts";
import { createFakeCri } from "./fake/create-fake-cri.ts";
import { ContainerDelete } from "./gen/containerd/events.ts";
import { Envelope } from "./gen/containerd/types.ts";
import { ContainerEventResponse, ContainerEventType } from "./gen/cri-v1.ts";
import { CriError } from "./port.ts";

describe("decodeCriEvent", () => {
  it.each([
    [ContainerEventType.CONTAINER_CREATED_EVENT, "created"],
    [ContainerEventType.CONTAINER_STARTED_EVENT, "started"],
    [ContainerEventType.CONTAINER_STOPPED_EVENT, "stopped"],
    [ContainerEventType.CONTAINER_DELETED_EVENT, "deleted"],
  ])("reads type %i as %s, with the pod's UID", (containerEventType, kind) => {
    const podSandboxStatus = { metadata: { uid: "u" } };
    const response = ContainerEventResponse.fromPartial({ containerId: "c", containerEventType, podSandboxStatus });
    expect(decodeCriEvent(response)).toEqual({ kind, containerId: "c", podUid: "u" });
  });

  it("leaves the UID out where the sandbox is gone", () => {
    const response = ContainerEventResponse.fromPartial({ containerId: "c", containerEventType: 3 });
    expect(decodeCriEvent(response)).toEqual({ kind: "deleted", containerId: "c" });
  });
});

describe("planRetry", () => {
  const plan = (source: number, failures: number, outcome: { unsupported?: boolean; wasSteady?: boolean }) =>
    planRetry({ source, failures }, { unsupported: false, wasSteady: false, sources: 2, ...outcome });

  it("tries the next source at once after one that the runtime lacks", () => {
    expect(plan(0, 2, { unsupported: true })).toEqual({ attempt: { source: 1, failures: 2 }, delayMs: 0 });
  });

  it("waits five minutes after the last one", () => {
    expect(plan(1, 2, { unsupported: true })).toEqual({ attempt: { source: 0, failures: 0 }, delayMs: 300_000 });
  });

  it.each([
    [0, 100],
    [1, 200],
    [5, 3_200],
    [6, 5_000],
    [900, 5_000],
  ])("starts over with back-off: after %i failures in %i ms", (failures, delayMs) => {
    expect(plan(1, failures, {})).toEqual({ attempt: { source: 0, failures: failures + 1 }, delayMs });
  });

  it("forgets failures once connected for a while", () => {
    expect(plan(1, 9, { wasSteady: true })).toEqual({ attempt: { source: 0, failures: 1 }, delayMs: 100 });
  });
});

function fakeContainerd() {
  const fake = createFakeCri({ clock });
  const version: typeof fake.runtime.version = async (request, options) => ({
    ...(await fake.runtime.version(request, options)),
    runtimeName: "containerd",
  });
  return { ...fake, runtime: { ...fake.runtime, version } };
}

describe("a subscription", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  const recordingLog = (lines: string[]): Log => ({ ...silentLog, info: (message) => void lines.push(message) });

  const subscribe = (fake: Pick<ReturnType<typeof createFakeCri>, "runtime">, containerd?: ContainerdEvents) => {
    const controller = new AbortController();
    const lines: string[] = [];
    const seen: string[] = [];
    const deps = { runtime: fake.runtime, clock, log: recordingLog(lines), ...(containerd ? { containerd } : {}) };
    const ended = (async () => {
      const report = (connected: boolean) => void seen.push(`${Date.now()} ${connected ? "connected" : "lost"}`);
      for await (const { kind, containerId } of createRuntimeEvents(deps).subscribe(controller.signal, report)) {
        seen.push(`${Date.now()} ${kind} ${containerId}`);
      }
    })();
    const end = async () => {
      controller.abort();
      await ended;
    };
    return { lines, seen, end };
  };

  it("is connected after a moment of silence, and lost and found again with the runtime", async () => {
    const fake = createFakeCri({ clock });
    const { lines, seen, end } = subscribe(fake);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual(["100 connected"]);
    fake.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    fake.start();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen.map((line) => line.split(" ")[1])).toEqual(["connected", "lost", "connected"]);
    expect(lines).toEqual(["container events come from CRI GetContainerEvents"]);
    await end();
    expect(seen.at(-1)).toBe("4000 lost");
  });

  it("takes containerd's own events where that is the runtime", async () => {
    const value = ContainerDelete.encode({ id: "c" }).finish();
    const event = { typeUrl: "containerd.events.ContainerDelete", value };
    const { lines, seen, end } = subscribe(fakeContainerd(), {
      async *subscribe(_filters, { signal }) {
        yield Envelope.fromPartial({ namespace: "k8s.io", event });
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
      close: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual(["0 connected", "0 deleted c"]);
    expect(lines).toEqual(["container events come from containerd's event service"]);
    await end();
  });

  it("takes CRI's events where another runtime takes its time to refuse containerd's", async () => {
    const { lines, seen, end } = subscribe(createFakeCri({ clock }), {
      async *subscribe(_filters, { signal }) {
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
      close: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines).toEqual(["container events come from CRI GetContainerEvents"]);
    expect(seen).toEqual(["100 connected"]);
    await end();
  });

  it("takes CRI's events where the runtime is not containerd", async () => {
    const { lines, seen, end } = subscribe(createFakeCri({ clock }), {
      // biome-ignore lint/correctness/useYield: it fails before the first event
      async *subscribe() {
        throw new CriError("unimplemented", { rpc: "Subscribe", endpoint: "unix:///x", detail: "unknown service" });
      },
      close: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual(["100 connected"]);
    expect(lines).toEqual(["container events come from CRI GetContainerEvents"]);
    await end();
  });

  it("says once that there are no events, and asks again after five minutes", async () => {
    let asked = 0;
    const before = ({ rpc }: { rpc: string }) => {
      if (rpc === "getContainerEvents") asked++;
    };
    const fake = createFakeCri({ clock, lacks: ["getContainerEvents"], faults: { before } });
    const { lines, seen, end } = subscribe(fake);
    await vi.advanceTimersByTimeAsync(11 * 60_000);
    expect(asked).toBe(3);
    expect(lines).toEqual(["the runtime reports no container events: changes wait for a relist"]);
    expect(seen).toEqual([]);
    await end();
  });

  it.each<[name: string, lie: () => AsyncIterable<ContainerEventResponse>]>([
    ["ends its stream at once", async function* () {}],
    [
      "sends one event and hangs up",
      async function* () {
        yield ContainerEventResponse.fromPartial({ containerId: "c" });
      },
    ],
    [
      "sends one event and something that is none",
      async function* () {
        yield ContainerEventResponse.fromPartial({ containerId: "c" });
        throw new CriError("internal", { rpc: "GetContainerEvents", endpoint: "unix:///x", detail: "premature EOF" });
      },
    ],
  ])("is taken up again less and less often with a runtime that %s", async (_name, lie) => {
    const fake = createFakeCri({ clock });
    let opened = 0;
    const getContainerEvents = () => {
      opened++;
      return lie();
    };
    const { end } = subscribe({ ...fake, runtime: { ...fake.runtime, getContainerEvents } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toBeGreaterThan(10);
    expect(opened).toBeLessThan(20);
    await end();
  });

  it("repeats what a runtime repeats, without keeping any of it", async () => {
    const fake = createFakeCri({ clock });
    let sent = 0;
    const getContainerEvents = async function* () {
      for (; sent < 10_000; sent++) yield ContainerEventResponse.fromPartial({ containerId: "c" });
    };
    const events = createRuntimeEvents({ runtime: { ...fake.runtime, getContainerEvents }, clock, log: silentLog });
    const controller = new AbortController();
    const taken = events.subscribe(controller.signal)[Symbol.asyncIterator]();
    for (let count = 0; count < 5; count++) expect((await taken.next()).done).toBe(false);
    // The runtime is held up: it has sent what was taken, and no more.
    expect(sent).toBe(4);
    controller.abort();
    await taken.return?.();
  });
});
