import { describe, expect, it } from "vitest";
import { aborted } from "../../../base/abort.ts";
import type { FakeCall } from "../../../cri/fake/fake-faults.ts";
import { STUBBORN } from "../reading/__fixtures__/fake-node.ts";
import { createRuntimeRig, makePod } from "./__fixtures__/runtime-rig.ts";

describe("a new pod", () => {
  it("gets a sandbox, its containers, their logs and links, and a word about each step", async () => {
    const { host, cri, sync, containers, events } = createRuntimeRig();
    expect(await sync(makePod())).toMatchObject({ told: [], changes: 1, readyBefore: [0] });
    expect(cri.sandboxes()).toMatchObject([{ state: "ready" }]);
    expect(containers()).toEqual(["main#0 running"]);
    expect(events()).toEqual([
      "SandboxStarted: Pod sandbox started",
      'Pulled: Container image "busybox" already present on machine',
      "Created: Container created",
      "Started: Container started",
    ]);
    const [link] = await host.files.list("/var/log/containers");
    expect(await host.files.readLink(`/var/log/containers/${link?.name}`)).toBe(
      "/var/log/pods/default_web_uid-1/main/0.log",
    );
    const [container] = cri.containers();
    expect(container?.config.mounts.map(({ containerPath }) => containerPath)).toEqual([
      "/etc/hosts",
      "/dev/termination-log",
    ]);
  });

  it("gets its sandbox, and no container, where its volumes fail meanwhile", async () => {
    const { cri, sync, containers } = createRuntimeRig();
    const volumesFinished = Promise.reject(new Error("no room"));
    volumesFinished.catch(() => undefined);
    await expect(sync(makePod(), { volumesFinished })).rejects.toThrow("no room");
    expect(cri.sandboxes()).toMatchObject([{ state: "ready" }]);
    expect(containers()).toEqual([]);
    await sync(makePod());
    expect(cri.sandboxes()).toHaveLength(1);
    expect(containers()).toEqual(["main#0 running"]);
  });

  it("needs nothing more", async () => {
    const { calls, sync } = createRuntimeRig();
    await sync(makePod());
    calls.length = 0;
    expect(await sync(makePod())).toMatchObject({ told: [], changes: 0, readyBefore: [] });
    expect(calls).toEqual([]);
  });

  it("starts no main container before its init containers are done", async () => {
    const { sync, containers } = createRuntimeRig();
    const pod = makePod({
      init: [
        { name: "one", command: ["true"] },
        { name: "two", command: ["true"] },
      ],
    });
    for (let round = 0; round < 3; round++) await sync(pod);
    expect(containers()).toEqual(["one#0 exited", "two#0 exited", "main#0 running"]);
  });

  it("goes no further than an init container that cannot start", async () => {
    const { sync, containers } = createRuntimeRig();
    const pod = makePod({ init: [{ name: "one", image: "missing" }] });
    expect((await sync(pod)).told).toEqual(["one ErrImagePull"]);
    expect(containers()).toEqual([]);
  });

  it("starts what can be started when another container cannot", async () => {
    const { sync, containers } = createRuntimeRig();
    const pod = makePod({ main: [{ name: "bad", image: "missing" }, { name: "good" }] });
    expect((await sync(pod)).told).toEqual(["bad ErrImagePull"]);
    expect(containers()).toEqual(["good#0 running"]);
  });

  it("without a sandbox says so, and rejects", async () => {
    const { failing, sync, events } = createRuntimeRig();
    failing.set("runPodSandbox", "unknown");
    await expect(sync(makePod())).rejects.toThrow("Failed to create pod sandbox: ");
    expect(events()).toEqual([expect.stringMatching(/^FailedCreatePodSandBox: .*runPodSandbox fails/)]);
  });

  it("warns of missing cluster DNS when its sandbox is made, and not again", async () => {
    const { cri, clock, sync, events } = createRuntimeRig({ facts: { clusterDns: [] } });
    const warnings = () => events().filter((event) => event.startsWith("MissingClusterDNS"));
    const pod = makePod();
    await sync(pod);
    expect(warnings()).toHaveLength(1);
    const [container] = cri.containers();
    cri.exitContainer(container?.id ?? "", 1);
    await clock.settle();
    await sync(pod);
    await clock.advance(10_000);
    await sync(pod);
    expect(cri.runningContainers()).toHaveLength(1);
    expect(warnings()).toHaveLength(1);
  });
});

describe("a container that ends", () => {
  it("is started again after its back-off, which doubles, to the millisecond", async () => {
    const { clock, cri, sync } = createRuntimeRig();
    const pod = makePod({ main: [{ command: ["false"] }] });
    await sync(pod);
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      const { failures } = await sync(pod);
      const failure = failures.get("main");
      const until = failure?.retryAt ?? clock.now();
      waits.push((until - clock.now()) / 1000);
      if (failure !== undefined) {
        expect(failure).toMatchObject({
          reason: "CrashLoopBackOff",
          message: expect.stringMatching(/^back-off \d+s /),
        });
        await clock.advance(until - clock.now() - 1);
        expect((await sync(pod)).told).toEqual(["main CrashLoopBackOff"]);
        await clock.advance(1);
        await sync(pod);
      }
    }
    expect(waits).toEqual([0, 10, 20, 40]);
    expect(cri.history.filter(({ what }) => what === "container-started")).toHaveLength(5);
  });

  it("leaves one dead container behind, however often it ends", async () => {
    const { clock, sync, containers } = createRuntimeRig();
    const pod = makePod({ main: [{ command: ["false"] }] });
    for (let round = 0; round < 6; round++) {
      await sync(pod);
      await clock.advance(300_000);
    }
    expect(containers()).toEqual(["main#4 exited", "main#5 exited"]);
  });

  it("keeps its log and its count when the runtime has forgotten it", async () => {
    const { host, sync, containers, logDirectory } = createRuntimeRig();
    const pod = makePod();
    host.files.put(`${logDirectory(pod)}/main/6.log`, "kept");
    await sync(pod);
    expect(containers()).toEqual(["main#7 running"]);
    expect(host.files.text(`${logDirectory(pod)}/main/6.log`)).toBe("kept");
  });
});

describe("a sandbox that dies", () => {
  it("is made anew with all that was in it, and old ones are removed once nothing in them is kept", async () => {
    const { clock, cri, sync, containers, events } = createRuntimeRig();
    const pod = makePod();
    for (let round = 0; round < 5; round++) {
      await sync(pod);
      const sandbox = cri.sandboxes().find(({ state }) => state === "ready");
      expect(cri.runningContainers()).toHaveLength(1);
      cri.killSandbox(sandbox?.id ?? "");
      await clock.advance(300_000);
    }
    await sync(pod);
    await sync(pod);
    expect(containers().at(-1)).toBe("main#5 running");
    expect(cri.sandboxes().length).toBeLessThanOrEqual(3);
    expect(events()).toContain("SandboxChanged: Pod sandbox changed, it will be killed and re-created.");
  });
});

describe("a container whose image changed", () => {
  const images = [{ ref: "busybox:1" }, { ref: "busybox:2" }];

  it("is stopped and started again", async () => {
    const { sync, containers, events } = createRuntimeRig({ images });
    await sync(makePod({ main: [{ image: "busybox:1" }] }));
    await sync(makePod({ main: [{ image: "busybox:2" }] }));
    expect(containers()).toEqual(["main#0 exited", "main#1 running"]);
    expect(events()).toContain("Killing: Container main definition changed, will be restarted");
  });

  it("is waited for with all the others before the sync fails", async () => {
    const { calls, failing, sync } = createRuntimeRig({ images });
    const pod = (version: string) =>
      makePod({
        main: ["a", "b"].map((name) => ({ name, command: [...STUBBORN], image: `busybox:${version}` })),
        spec: { terminationGracePeriodSeconds: 2 },
      });
    await sync(pod("1"));
    calls.length = 0;
    failing.set("stopContainer", "unavailable");
    await expect(sync(pod("2"))).rejects.toThrow("stopping containers");
    expect(calls.some((call) => call.includes("createContainer"))).toBe(false);
  });
});

it("a pod that is not wanted any more starts nothing further", async () => {
  const controller = new AbortController();
  const { sync, containers } = createRuntimeRig({
    images: [{ ref: "busybox" }],
    onOccurrence: ({ what }) => {
      if (what === "container-started") controller.abort();
    },
  });
  const pod = makePod({ main: [{ name: "a" }, { name: "b" }] });
  await expect(sync(pod, { signal: controller.signal })).rejects.toMatchObject({ name: "AbortError" });
  expect(containers()).toEqual(["a#0 running"]);
});

describe("a container that starts when its pod is not wanted any more", () => {
  const unwanted = (during: (call: FakeCall) => Promise<void>) => {
    const controller = new AbortController();
    const before = async (call: FakeCall) => {
      if (call.rpc !== "startContainer") return;
      controller.abort();
      await during(call);
    };
    const rig = createRuntimeRig({ images: [{ ref: "busybox" }], faults: { before } });
    return { ...rig, synced: rig.sync(makePod(), { signal: controller.signal }) };
  };

  it("may still start", async () => {
    const { synced, containers, events } = unwanted(async ({ signal }) => expect(signal.aborted).toBe(false));
    await expect(synced).rejects.toMatchObject({ name: "AbortError" });
    expect(containers()).toEqual(["main#0 running"]);
    expect(events().some((event) => event.startsWith("Started"))).toBe(true);
  });

  it("is not waited for without end", async () => {
    let isUnderWay = () => {};
    const underWay = new Promise<void>((resolve) => {
      isUnderWay = resolve;
    });
    const { synced, host } = unwanted(async ({ signal }) => {
      isUnderWay();
      await aborted(signal);
    });
    const ended = expect(synced).rejects.toMatchObject({ name: "AbortError" });
    await underWay;
    await host.clock.advance(5_000);
    await ended;
  });
});

it("a pod with nothing left to run is stopped, and is no changed sandbox", async () => {
  const { cri, sync, events } = createRuntimeRig();
  const pod = makePod({ main: [{ command: ["true"] }], spec: { restartPolicy: "Never" } });
  await sync(pod);
  await sync(pod);
  expect(cri.sandboxes()).toMatchObject([{ state: "notready" }]);
  expect(events().filter((event) => event.startsWith("SandboxChanged"))).toEqual([]);
});
