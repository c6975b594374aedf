import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CgroupUsage } from "../../../../host/cgroups-port.ts";
import { createStatsWorld, MIB, runtimePod, type StatsWorld } from "../__fixtures__/stats-world.ts";

const SIGNAL = new AbortController().signal;
const SECOND = 1_000_000_000;
const PLAIN = { details: false, rates: false };
const RATES = { details: false, rates: true };

let world: StatsWorld;
beforeEach(() => {
  world = createStatsWorld();
  use("sandbox-of-web", 1);
  use("c1", 10);
});
afterEach(async () => await world.end());

function use(id: string, cpuSeconds: number, more: Partial<CgroupUsage> = {}) {
  const cpu = { usageNanoseconds: cpuSeconds * SECOND, userNanoseconds: 0, systemNanoseconds: 0 };
  world.host.cgroups.set(id === "/" ? "/" : `/k8s.io/${id}`, { cpu, ...more });
}
const read = async (options = PLAIN) => await world.read(world.usage.read(options, SIGNAL));

describe("reading what pods use", () => {
  it("takes from the kernel what containers that run use, and asks the runtime for nothing", async () => {
    world.pods.set("uid-web", runtimePod("web", [{ id: "c1" }, { id: "old", state: "exited" }]));
    use("old", 99);
    const { pods } = await read();
    expect(pods).toMatchObject([
      {
        pod: { uid: "uid-web", name: "web", namespace: "shop" },
        sandbox: { id: "sandbox-of-web", name: "", path: "/k8s.io/sandbox-of-web" },
        containers: [{ id: "c1", name: "name-of-c1", path: "/k8s.io/c1" }],
        cpuTotal: 11 * SECOND,
      },
    ]);
    expect(pods[0]?.containers).toHaveLength(1);
    expect(world.asked).toEqual([]);
  });

  it("looks for cgroups only when there are containers that it does not know", async () => {
    await read();
    await read();
    expect(world.host.cgroups.searches).toBe(1);
    world.pods.set("uid-new", runtimePod("new", [{ id: "c2" }]));
    use("sandbox-of-new", 0);
    use("c2", 0);
    expect((await read()).pods).toHaveLength(2);
    expect(world.host.cgroups.searches).toBe(2);
  });

  it("leaves out a container that goes meanwhile, and a pod of which nothing runs", async () => {
    await read();
    world.host.cgroups.delete("/k8s.io/c1");
    expect((await read()).pods).toEqual([]);
    world.pods.set("uid-web", runtimePod("web", [{ id: "c1", state: "exited" }]));
    expect((await read()).pods).toEqual([]);
  });

  it("counts a pod's processor time on when a container is replaced", async () => {
    await read();
    world.host.cgroups.delete("/k8s.io/c1");
    world.pods.set("uid-web", runtimePod("web", [{ id: "c2" }]));
    use("c2", 2);
    const [pod] = (await read()).pods;
    expect(pod?.cpuTotal).toBe(13 * SECOND);
  });

  it("takes a pod's network from a process of its own", async () => {
    const counts = { bytes: 5, packets: 1, errors: 0, dropped: 0 };
    const eth0 = { name: "eth0", received: counts, sent: counts };
    world.host.proc.interfaces.set(42, [eth0]);
    use("sandbox-of-web", 1, { pids: [41] });
    use("c1", 1, { pids: [42, 43] });
    // The process of the sandbox has just gone.
    expect((await read()).pods[0]?.network?.interfaces).toEqual([eth0]);
  });

  it("believes the runtime where there is no cgroup, and leaves out what it does not know either", async () => {
    world.pods.set("uid-vm", runtimePod("vm", [{ id: "c3" }, { id: "c4" }]));
    const value = (amount: number) => ({ value: BigInt(amount) });
    const cpu = { timestamp: 0n, usageCoreNanoSeconds: value(7 * SECOND), usageNanoCores: value(300), psi: undefined };
    world.runtimeStats.set("c3", { cpu });
    const { pods } = await read(RATES);
    expect(pods[1]).toMatchObject({
      sandbox: undefined,
      containers: [{ id: "c3", path: undefined, cpuRate: 300, usage: { cpu: { usageNanoseconds: 7 * SECOND } } }],
      cpuTotal: 7 * SECOND,
    });
    expect(pods[1]?.containers).toHaveLength(1);
  });

  it("says so where the kernel counts nothing", async () => {
    world.host.cgroups.delete("/");
    await expect(read()).rejects.toThrow("no cgroups are mounted");
  });
});

describe("how busy processors are", () => {
  it("is found out by a second reading where nobody asked before, and without one after that", async () => {
    const first = world.usage.read(RATES, SIGNAL);
    await world.host.clock.advance(50);
    use("c1", 10.05);
    await world.host.clock.advance(50);
    expect((await first).pods[0]?.containers[0]?.cpuRate).toBe(0.5 * SECOND);
    await world.host.clock.advance(9_900);
    use("c1", 12.05);
    const second = world.usage.read(RATES, SIGNAL);
    await world.host.clock.settle();
    expect((await second).pods[0]?.containers[0]?.cpuRate).toBe(0.205 * SECOND);
  });

  it("is nothing that a reading of counters waits for", async () => {
    const reading = world.usage.read(PLAIN, SIGNAL);
    await world.host.clock.settle();
    expect((await reading).pods[0]?.containers[0]).toMatchObject({ cpuRate: undefined });
    expect(world.host.clock.pendingTimers).toBe(0);
  });

  it("is waited for no longer when who asked has gone", async () => {
    const controller = new AbortController();
    const reading = world.usage.read(RATES, controller.signal);
    await world.host.clock.settle();
    controller.abort();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
  });
});

it("memory of the daemons is read where their cgroups are known", async () => {
  world.host.cgroups.ownPath = "/system.slice/kubelet.service";
  world.host.cgroups.set("/system.slice/kubelet.service", { memory: { usage: 70 * MIB } });
  const { kubelet, misc, runtime } = await read();
  expect(kubelet?.usage.memory?.usage).toBe(70 * MIB);
  expect([misc, runtime]).toEqual([undefined, undefined]);
  world.daemons.runtimeCgroup = "/system.slice/containerd.service";
  expect((await read()).runtime).toBeUndefined();
  world.host.cgroups.set("/system.slice/containerd.service", { memory: { usage: 50 * MIB } });
  expect((await read()).runtime?.usage.memory?.usage).toBe(50 * MIB);
  expect((await read(RATES)).runtime?.cpuRate).toBe(0);
});
