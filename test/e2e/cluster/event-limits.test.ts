import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Event } from "../../../src/api/gen/types.ts";
import { createKubectl, type Kubectl } from "../kubectl/kubectl.ts";
import { newestKubectl } from "../kubectl/kubectl-binaries.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

/** One source may send so many events about one object at once, and one more every five minutes. */
const BURST = 25;
/** From the tenth message of one reason on, they are told as one event. */
const MAX_ALIKE = 10;

const occurrences = (events: readonly Event[]) => events.reduce((sum, { count = 1 }) => sum + count, 0);

describe("how much is told of a pod that fails again and again", () => {
  let world: ClusterNode;
  let kubectl: Kubectl;
  beforeAll(async () => {
    world = await createClusterNode({ configuration: { syncFrequency: "1s" } });
    const { kubeconfigPath: kubeconfig } = world.cluster;
    kubectl = createKubectl({ binary: newestKubectl(), home: world.node.directory, kubeconfig });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const containersOf = (count: number, container: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => ({ name: `c${index}`, ...container(index) }));

  it.concurrent("is one event whose count goes up, and not one more each time", async () => {
    await world.create(shellPod("crash", "exit 3"));
    await world.event("crash", { reason: "BackOff" });
    const first = (await world.events("crash")).find(({ reason }) => reason === "BackOff");
    await settlesOn(true, async () => {
      const { count = 0 } = (await world.events("crash")).find(({ reason }) => reason === "BackOff") ?? {};
      return count >= 3;
    });
    const again = (await world.events("crash")).filter(({ reason }) => reason === "BackOff");
    expect(again).toHaveLength(1);
    expect(again[0]).toMatchObject({
      metadata: { uid: first?.metadata?.uid, name: first?.metadata?.name },
      firstTimestamp: first?.firstTimestamp,
    });
    expect(Date.parse(again[0]?.lastTimestamp ?? "")).toBeGreaterThan(Date.parse(first?.lastTimestamp ?? ""));
    expect(await kubectl.ok(["describe", "pod", "crash"])).toMatch(
      /^ {2}Warning {2}BackOff +\d+s \(x\d+ over \d+s\) +kubelet +(?:spec\.containers\{main\}: )?Back-off restarting failed container main in pod crash/m,
    );
  });

  it.concurrent("is told as similar events, where each is about something else", async () => {
    const image = (index: number) => `localhost/absent/image-${index}:1`;
    const count = MAX_ALIKE + 2;
    const containers = containersOf(count, (index) => ({ image: image(index), imagePullPolicy: "Never" }));
    await world.create(shellPod("similar", "", { containers }));
    const messageOf = (index: number) => `Container image "${image(index)}" is not present with pull policy of Never`;
    const readAlike = async () =>
      (await world.events("similar")).filter(({ reason }) => reason === "ErrImageNeverPull");
    const isCombined = ({ message = "" }: Event) => message.startsWith("(combined from similar events): ");
    const countCombined = async () => occurrences((await readAlike()).filter(isCombined));
    await settlesOn(true, async () => (await countCombined()) >= count - MAX_ALIKE + 1);
    const alike = await readAlike();
    const single = Array.from({ length: MAX_ALIKE - 1 }, (_, index) => messageOf(index));
    expect(alike.filter((event) => !isCombined(event)).map(({ message }) => message)).toEqual(single);
    expect(alike.filter(isCombined)).toHaveLength(1);
    expect(await kubectl.ok(["describe", "pod", "similar"])).toMatch(
      /^ {2}Warning {2}ErrImageNeverPull +\d+s \(x\d+ over \d+s\) +kubelet +(?:spec\.containers\{\w+\}: )?\(combined from similar events\): Container image/m,
    );
  });

  it.concurrent("ends when it is too much, for that pod alone", async () => {
    const containers = containersOf(BURST, () => ({ image: "localhost/absent:1", imagePullPolicy: "Never" }));
    await world.create(shellPod("noisy", "", { containers }));
    await settlesOn(BURST, async () => occurrences(await world.events("noisy")), 15_000);
    // It goes on failing with every look at the pod.
    await delay(3_000);
    expect(occurrences(await world.events("noisy"))).toBe(BURST);
    await world.create(shellPod("quiet", RUN_FOR_EVER));
    await world.pod("quiet", isRunning);
    await world.event("quiet", { reason: "Started" });
  });

  it.concurrent("is as much for volumes that cannot be had", async () => {
    const volumes = [{ name: "v", configMap: { name: "absent" } }];
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    await world.create(shellPod("mount", RUN_FOR_EVER, { volumes }, { volumeMounts }));
    const message = 'MountVolume.SetUp failed for volume "v" : configmap "absent" not found';
    await world.event("mount", { type: "Warning", reason: "FailedMount", message });
    await settlesOn(true, async () => {
      const told = (await world.events("mount")).filter((event) => event.message === message);
      return told.length === 1 && (told[0]?.count ?? 1) >= 2;
    });
    expect(containerOf((await world.read("mount")) ?? {}, "main")?.state?.waiting?.reason).toBe("ContainerCreating");
    expect(await kubectl.ok(["describe", "pod", "mount"])).toMatch(
      /^ {2}Warning {2}FailedMount +\d+s \(x\d+ over \d+s\) +kubelet +MountVolume\.SetUp failed for volume "v" : /m,
    );
  });
});
