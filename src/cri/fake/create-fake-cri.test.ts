import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { testClock as clock } from "../__fixtures__/test-clock.ts";
import { ContainerConfig, ImageSpec, NamespaceMode, PodSandboxConfig } from "../gen/cri-v1.ts";
import { createFakeCri, type FakeCri, type FakeCriOptions } from "./create-fake-cri.ts";
import type { FakeCall } from "./fake-faults.ts";

const config = PodSandboxConfig.fromPartial({
  metadata: { name: "p", uid: "u", namespace: "n" },
  logDirectory: "/logs",
});
const runSandbox = async (fake: FakeCri) =>
  (await fake.runtime.runPodSandbox({ config, runtimeHandler: "" })).podSandboxId;

async function run(fake: FakeCri, script: string, extra: Parameters<typeof ContainerConfig.fromPartial>[0] = {}) {
  const podSandboxId = await runSandbox(fake);
  const container = ContainerConfig.fromPartial({
    metadata: { name: "c" },
    image: { image: "busybox" },
    command: ["sh", "-c", script],
    logPath: "c/0.log",
    linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
    ...extra,
  });
  const request = { podSandboxId, config: container, sandboxConfig: config };
  const { containerId } = await fake.runtime.createContainer(request);
  await fake.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

const status = async (fake: FakeCri, containerId: string) =>
  (await fake.runtime.containerStatus({ containerId, verbose: false })).status;

/** A fake that fails this RPC at this point. */
const failing = (point: "before" | "after", rpc: string): FakeCriOptions => ({
  clock,
  faults: {
    [point]: (call: FakeCall) => {
      if (call.rpc === rpc) throw new CodedError("unavailable", "injected");
    },
  },
});

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

describe("faults", () => {
  it("before the effect leave nothing behind", async () => {
    const fake = createFakeCri(failing("before", "runPodSandbox"));
    await expect(runSandbox(fake)).rejects.toMatchObject({ code: "unavailable", detail: "injected" });
    expect(fake.sandboxes()).toEqual([]);
  });

  it("after the effect lose the reply only", async () => {
    const fake = createFakeCri(failing("after", "runPodSandbox"));
    await expect(runSandbox(fake)).rejects.toMatchObject({ code: "unavailable" });
    expect(fake.sandboxes()).toMatchObject([{ state: "ready" }]);
  });

  it("lose and double events", async () => {
    const copies = { 0: 0, 1: 2, 2: 1, 3: 1 };
    const copiesOf = (event: { containerEventType: 0 | 1 | 2 | 3 }) => copies[event.containerEventType];
    const fake = createFakeCri({ clock, faults: { copiesOf } });
    const events = fake.runtime.getContainerEvents({})[Symbol.asyncIterator]();
    const first = events.next();
    await vi.advanceTimersByTimeAsync(0);
    const { containerId, podSandboxId } = await run(fake, "true");
    await vi.advanceTimersByTimeAsync(0);
    const ids = [await first, await events.next(), await events.next(), await events.next(), await events.next()];
    expect(ids.map(({ value }) => value?.containerId)).toEqual([
      podSandboxId,
      podSandboxId,
      containerId,
      containerId,
      containerId,
    ]);
    await events.return?.();
  });
});

describe("a restart", () => {
  it("ends calls and streams as unavailable and leaves containers alone", async () => {
    const fake = createFakeCri({ clock });
    const { containerId } = await run(fake, "sleep 1000");
    const events = fake.runtime.getContainerEvents({})[Symbol.asyncIterator]();
    const stop = fake.runtime.stopContainer({ containerId, timeout: 60n });
    const ended = Promise.allSettled([
      stop,
      (async () => {
        for (;;) if ((await events.next()).done) return;
      })(),
    ]);
    await vi.advanceTimersByTimeAsync(10);
    fake.stop();
    expect(await ended).toMatchObject([{ reason: { code: "unavailable" } }, { reason: { code: "unavailable" } }]);
    await expect(status(fake, containerId)).rejects.toMatchObject({ code: "unavailable" });
    fake.start();
    expect(await status(fake, containerId)).toMatchObject({ state: 1 });
  });

  it("replays to the next subscriber what happened meanwhile", async () => {
    const fake = createFakeCri({ clock });
    const { containerId } = await run(fake, "sleep 5");
    await vi.advanceTimersByTimeAsync(10_000);
    const seen: string[] = [];
    const controller = new AbortController();
    const reading = (async () => {
      for await (const event of fake.runtime.getContainerEvents({}, { signal: controller.signal }))
        seen.push(event.containerId);
    })();
    await vi.advanceTimersByTimeAsync(0);
    controller.abort();
    await reading;
    expect(seen.filter((id) => id === containerId).length).toBe(3);
  });

  it("of the machine ends everything that ran", async () => {
    const fake = createFakeCri({ clock });
    const { containerId } = await run(fake, "sleep 1000");
    fake.reboot();
    expect(await status(fake, containerId)).toMatchObject({ state: 2, exitCode: 255, reason: "Unknown" });
    expect(fake.sandboxes()).toMatchObject([{ state: "notready", ip: "" }]);
    expect(fake.runningContainers()).toEqual([]);
  });
});

describe("time", () => {
  it("passes before an RPC has its effect, and a caller that gives up meanwhile prevents it", async () => {
    const fake = createFakeCri({ clock, latencyMs: () => 100 });
    const controller = new AbortController();
    const call = fake.runtime.runPodSandbox({ config, runtimeHandler: "" }, { signal: controller.signal });
    const outcome = expect(call).rejects.toMatchObject({ name: "AbortError" });
    await vi.advanceTimersByTimeAsync(50);
    controller.abort();
    await outcome;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(fake.sandboxes()).toEqual([]);
  });

  it("ends a call at its time-out", async () => {
    const fake = createFakeCri({ clock, latencyMs: () => 100 });
    const outcome = expect(fake.runtime.version({ version: "" }, { timeoutMs: 60 })).rejects.toMatchObject({
      code: "deadline-exceeded",
    });
    await vi.advanceTimersByTimeAsync(60);
    await outcome;
  });

  it("leaves no timer behind", async () => {
    const fake = createFakeCri({ clock });
    const { containerId, podSandboxId } = await run(fake, "sleep 1000");
    await fake.runtime.execSync({ containerId, cmd: ["true"], timeout: 10n });
    await fake.runtime.removePodSandbox({ podSandboxId });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("what a test can do to it", () => {
  it("ends containers as it says", async () => {
    const fake = createFakeCri({ clock });
    const { containerId } = await run(fake, "sleep 1000");
    fake.oomKill(containerId);
    expect(await status(fake, containerId)).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    expect(fake.history.map(({ what }) => what)).toEqual([
      "sandbox-ready",
      "container-created",
      "container-started",
      "container-exited",
    ]);
  });

  it("kills a sandbox with what runs in it", async () => {
    const fake = createFakeCri({ clock });
    const { containerId, podSandboxId } = await run(fake, "sleep 1000");
    fake.killSandbox(podSandboxId);
    expect(await status(fake, containerId)).toMatchObject({ state: 2, exitCode: 137 });
  });

  it("takes the network away from sandboxes that need one", async () => {
    const fake = createFakeCri({ clock });
    fake.setNetworkReady(false, "no CNI configuration");
    await expect(runSandbox(fake)).rejects.toThrow("cni plugin not initialized: no CNI configuration");
    const onHost = { ...config, linux: { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } } };
    await fake.runtime.runPodSandbox({ config: PodSandboxConfig.fromPartial(onHost), runtimeHandler: "" });
    const { status: node } = await fake.runtime.status({ verbose: false });
    expect(node?.conditions[1]).toMatchObject({ type: "NetworkReady", status: false, message: "no CNI configuration" });
  });

  it("pulls what its registry has, in its time", async () => {
    const registry = [
      { ref: "example.com/app:1", pullMs: 5_000 },
      { ref: "example.com/secret:1", pullError: { code: "permission-denied" as const, detail: "401" } },
    ];
    const fake = createFakeCri({ clock, registry });
    const pull = async (image: string) =>
      await fake.images.pullImage({
        image: ImageSpec.fromPartial({ image }),
        auth: undefined,
        sandboxConfig: undefined,
      });
    const pulled = pull("example.com/app:1");
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await pulled).imageRef).toMatch(/^sha256:/);
    await expect(pull("example.com/secret:1")).rejects.toMatchObject({ code: "permission-denied" });
    await expect(pull("example.com/none:1")).rejects.toMatchObject({ code: "not-found" });
  });

  it("writes logs in CRI's format, and files that mounts show", async () => {
    const written = new Map<string, string>();
    const files = { writeAtomically: async (path: string, data: string) => void written.set(path, data) };
    const fake = createFakeCri({ clock, files });
    const mounts = [{ containerPath: "/dev/termination-log", hostPath: "/pods/u/message" }];
    await run(fake, "echo one; sleep 1; echo two; echo why > /dev/termination-log; exit 1", { mounts });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Object.fromEntries(written)).toEqual({
      "/logs/c/0.log": "1970-01-01T00:00:00.000000000Z stdout F one\n1970-01-01T00:00:01.000000000Z stdout F two\n",
      "/pods/u/message": "why\n",
    });
  });

  it("does not start a container whose log cannot be written", async () => {
    const files = { writeAtomically: async () => await Promise.reject(new Error("ENOENT: no such directory")) };
    await expect(run(createFakeCri({ clock, files }), "true")).rejects.toThrow("/logs/c/0.log: ENOENT");
  });
});
