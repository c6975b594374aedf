import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContainerStatus, Pod } from "../../../src/api/gen/types.ts";
import { claimPort } from "../../machine/claims.ts";
import { readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { createUpstreamNode, type GoKubelet, type UpstreamNode } from "./go-kubelet.ts";
import { type KeptPods, prepareKeptPods, RUNNING_PODS } from "./kept-pods.ts";
import { startUpstreamCluster } from "./upstream-cluster.ts";
import { readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBELET_BIN");
/** A volume follows its config map at the next sync of its pod at the latest. */
const SYNC = { syncFrequency: "2s", nodeLeaseDurationSeconds: 4 };
const UPDATE_TIMEOUT_MS = 40_000;

type Agent = "the Go kubelet" | "nodelet";
/** Since 1.31 it is a container's name and image that decide whether it is the same; before, every field in its form of then. */
const KNOWS_OUR_CONTAINERS = (program?.minor ?? 0) >= 31;
const DIRECTIONS: ReadonlyArray<{ from: Agent; to: Agent; isAdopted: boolean }> = [
  { from: "the Go kubelet", to: "nodelet", isAdopted: true },
  { from: "nodelet", to: "the Go kubelet", isAdopted: KNOWS_OUR_CONTAINERS },
];

describe.skipIf(program === undefined).each(DIRECTIONS)(
  `${titleOf("a node with kubelet", "KUBELET_BIN", program)}: what $from ran, $to goes on with`,
  ({ from, to, isAdopted }) => {
    let world: UpstreamNode;
    let kept: KeptPods;
    let kubelet: GoKubelet | undefined;
    let pods: Pod[];
    let before: Awaited<ReturnType<typeof readRunningContainers>>;
    let sandboxes: string[];

    const start = async (agent: Agent) => {
      if (program === undefined) return;
      if (agent === "nodelet") await world.node.start(world.flags);
      else kubelet = await world.startKubelet(program);
    };
    const crash = async (agent: Agent) => (agent === "nodelet" ? await world.node.kill() : await kubelet?.kill());
    /** The ID and the number of restarts of each container of the pods that run. */
    const identities = async () => {
      const read = await Promise.all(RUNNING_PODS.map(async (name) => await world.read(name)));
      return read.map((pod) => [pod?.metadata?.name, statusesOf(pod).map(identityOf)]);
    };

    beforeAll(async () => {
      if (program === undefined) return;
      world = await createUpstreamNode(await startUpstreamCluster(), SYNC);
      await start(from);
      // From 1.33 on a Go kubelet resizes containers whose resources it has no record of, and ends by a nil pointer there
      // when pods have no cgroups of their own.
      const hasResources = to === "nodelet" || program.minor < 33;
      kept = await prepareKeptPods(world, { hostPort: await claimPort(), minor: program.minor, hasResources });
      pods = await kept.create();
      before = await readRunningContainers(world.node);
      sandboxes = (await readReadySandboxes(world.node)).toSorted();
    });
    afterAll(async () => {
      await kept?.remove();
      await world?.destroy();
    });

    /** One crashes, the other starts, and has looked at volumes and status when a change arrives. */
    const takeOver = async () => {
      await crash(from);
      await start(to);
      await kept.change("blue");
      const isBlue = async () => (await kept.seenColours())[0];
      await expect.poll(isBlue, { timeout: UPDATE_TIMEOUT_MS }).toBe("blue");
    };
    const callsForVolume = async () => (await kept.driver?.callsFor("csi")) ?? [];
    const removeRunning = async () => {
      for (const name of RUNNING_PODS) await world.remove(name);
    };

    it.skipIf(!isAdopted)("leaves every container and every pod as it is, for whoever watches too", async () => {
      const known = await identities();
      const follows = await Promise.all(RUNNING_PODS.map(async (name) => await world.follow(name)));
      await takeOver();
      const colours = ["blue", "blue", "red", 'colour="blue"'];
      await expect.poll(kept.seenColours, { timeout: UPDATE_TIMEOUT_MS }).toEqual(colours);
      expect(await readRunningContainers(world.node)).toEqual(before);
      expect((await readReadySandboxes(world.node)).toSorted()).toEqual(sandboxes);
      expect(await identities()).toEqual(known);
      expect((await world.read("done"))?.status?.phase).toBe("Succeeded");
      // Either agent publishes again what it finds; neither takes a volume from a running pod.
      const calls = new Set((await callsForVolume()).map((call) => call.replace(" unanswered", "")));
      if (kept.driver) expect(calls).toEqual(new Set(["NodeStageVolume", "NodePublishVolume"]));
      await removeRunning();
      for (const { ended } of follows) {
        // A Go kubelet itself tells that its node is not ready while it starts, and its pods with it.
        if (to !== "nodelet") continue;
        const alive = (await ended).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
        expect(alive.map(readinessOf)).toEqual(alive.map(() => "True"));
      }
    });

    it.skipIf(isAdopted)("restarts containers where they are, as it does with those of a newer kubelet", async () => {
      await takeOver();
      const colours = ["blue", "blue", "blue", 'colour="blue"'];
      await expect.poll(kept.seenColours, { timeout: UPDATE_TIMEOUT_MS }).toEqual(colours);
      expect((await readReadySandboxes(world.node)).toSorted()).toEqual(sandboxes);
      const events = await world.events("volumes");
      expect(events.map(({ message }) => message)).toContain("Container main definition changed, will be restarted");
      await removeRunning();
    });

    it("ends them with nothing left of them", async () => {
      await world.remove("done");
      for (const { metadata } of pods) await world.gone(metadata?.name ?? "", 60_000);
      for (const { metadata } of pods) {
        const uid = metadata?.uid ?? "";
        await expect.poll(async () => await world.leftovers(uid), { timeout: 30_000 }).toEqual([]);
      }
      const left = async () => (await world.node.cri.runtime.listPodSandbox({ filter: undefined })).items.length;
      await expect.poll(left, { timeout: 120_000 }).toBe(0);
      const calls = await callsForVolume();
      if (kept.driver) expect(calls.slice(-2)).toEqual(["NodeUnpublishVolume", "NodeUnstageVolume"]);
      expect(await world.inNamespace("find", "/var/log/pods", "-mindepth", "1", "-maxdepth", "1")).toBe("");
      expect(await world.inNamespace("cat", `${world.scratch}/disk/kept`, `${world.scratch}/host/kept`)).toBe(
        "keptkept",
      );
    });
  },
);

function statusesOf(pod: Pod | undefined): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  return [...initContainerStatuses, ...containerStatuses];
}

const identityOf = ({ name, containerID, restartCount, state, ready }: ContainerStatus) => {
  return { name, containerID, restartCount, state, ready };
};

const readinessOf = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === "Ready")?.status;
