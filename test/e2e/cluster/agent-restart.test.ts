import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { findDoubles, readReadySandboxes, readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);

describe.each(SERVERS)(
  "a node agent of a cluster that is ended at any moment and started again, on $name",
  (server) => {
    let world: ClusterNode;
    beforeAll(async () => {
      world = await createClusterNode({ server });
      await world.node.start(world.flags);
    });
    afterAll(async () => await world?.destroy());

    it.each(["stopped", "killed"] as const)("flips no condition of a running pod when it is %s", async (how) => {
      const gate = "example.com/ready";
      const gated = shellPod(`gated-${how}`, RUN_FOR_EVER, { readinessGates: [{ conditionType: gate }] });
      await world.create(gated);
      await world.create(shellPod(`web-${how}`, RUN_FOR_EVER));
      await world.create(
        shellPod(
          `crashed-${how}`,
          "test -e /mnt/x || { touch /mnt/x; exit 1; }; sleep 1000",
          {
            volumes: [{ name: "mnt", emptyDir: {} }],
          },
          { volumeMounts: [{ name: "mnt", mountPath: "/mnt" }] },
        ),
      );
      await world.node.write(`static-${how}.json`, shellPod(`static-${how}`, RUN_FOR_EVER));
      const status = { conditions: [{ type: gate, status: "True" }] };
      await world.api.patch("strategic", `/api/v1/namespaces/default/pods/gated-${how}/status`, { status });
      const names = [`web-${how}`, `gated-${how}`, `crashed-${how}`, `static-${how}-e2e`];
      const before = new Map<string, Pod>();
      for (const name of names) {
        const restarts = name.startsWith("crashed") ? 1 : 0;
        const isReady = (pod: Pod) =>
          conditionOf(pod, "Ready")?.status === "True" && containerOf(pod, "main")?.restartCount === restarts;
        before.set(name, await world.pod(name, isReady));
      }
      const { resourceVersion } = await world.api.list("/api/v1/namespaces/default/pods");
      const stream = await world.api.watch("/api/v1/namespaces/default/pods", { resourceVersion });
      await (how === "stopped" ? world.node.stop() : world.node.kill());
      await world.node.start(world.flags);
      await world.create(shellPod(`marker-${how}`, RUN_FOR_EVER));
      const events = await stream.until(
        ({ object }) => object.metadata.name === `marker-${how}` && isRunning(PODS.read(object)),
      );
      stream.close();
      for (const { type, object } of events) {
        const pod = PODS.read(object);
        const { name = "" } = pod.metadata ?? {};
        if (!names.includes(name)) continue;
        expect(type, name).toBe("MODIFIED");
        expect(pod.status?.conditions, name).toEqual(before.get(name)?.status?.conditions);
        expect(pod.status?.phase, name).toBe("Running");
      }
      for (const name of names) expect((await world.read(name))?.status).toEqual(before.get(name)?.status);
    });

    it("finishes starts and deletions that kill -9 interrupted, and starts nothing twice", async () => {
      const names = Array.from({ length: 6 }, (_, round) => `round${round}`);
      for (const [round, name] of names.entries()) {
        await world.create(shellPod(name, RUN_FOR_EVER));
        if (round >= 3) await world.remove(`round${round - 3}`);
        // A start takes about a quarter of a second: the rounds hit all of its steps.
        await delay(round * 40 + Math.random() * 40);
        await world.node.kill();
        await world.node.start(world.flags);
        expect(await findDoubles(world.node)).toEqual([]);
      }
      for (const name of names.slice(0, 3)) await world.gone(name);
      for (const name of names.slice(3)) {
        const pod = await world.pod(name, isRunning);
        expect(await readReadySandboxes(world.node, pod.metadata?.uid)).toHaveLength(1);
        const [container] = (await readRunningContainers(world.node)).filter((running) => running.pod === name);
        expect(containerOf(pod, "main")?.containerID).toBe(`containerd://${container?.id}`);
      }
      expect(await findDoubles(world.node)).toEqual([]);
    });

    it("does not run a pod again that had ended before, nor lose what it said", async () => {
      await world.create(shellPod("done", "printf bye > /dev/termination-log; exit 3", { restartPolicy: "Never" }));
      const isOver = (pod: Pod) => conditionOf(pod, "PodReadyToStartContainers")?.status === "False";
      const done = await world.pod("done", (pod) => pod.status?.phase === "Failed" && isOver(pod));
      expect(containerOf(done, "main")?.state?.terminated).toMatchObject({ exitCode: 3, message: "bye" });
      await world.node.kill();
      await world.node.start(world.flags);
      await world.create(shellPod("after-done", RUN_FOR_EVER));
      await world.pod("after-done", isRunning);
      expect((await world.read("done"))?.status).toEqual(done.status);
      await world.remove("done");
      await world.gone("done");
    });
  },
);
