import type { Node } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";

const LOG = (name: string) => `ask-api GET /api/v1/namespaces/default/pods/${name}/log`;
const PIDS_LIMIT = 40;
const MIB = 1024 * 1024;
/** What a pod takes of the disk, and how much less than that would be left over. */
const TAKEN_MIB = 600;
const MARGIN_MIB = 300;

/** A pod that forks without end meets its own limit, not the machine's. */
export const pidsLimit: Scenario = {
  name: "pids-limit",
  promise: "a pod that forks without end reaches podPidsLimit, and nobody else notices",
  run: async (at) => {
    await withKubeletConfiguration(at, `podPidsLimit: ${PIDS_LIMIT}`, async () => {
      const fork = `n=0; while [ $n -lt ${2 * PIDS_LIMIT} ]; do sleep 3600 & n=$((n + 1)); done; echo "all forked"`;
      await createPod(at, "forking", {
        script: fork,
        spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
      });
      await createPod(at, "neighbour");
      await untilReady(at, "neighbour");
      await until(at, LOG("forking"), (log) => log.includes("can't fork"));
      expectTrue(
        !(await at.machine.read(LOG("forking"))).includes("all forked"),
        "the pod has forked as often as it liked",
      );
      await at.machine.read("nodelet status > /dev/null");
      await deletePods(at, "forking", "neighbour");
    });
  },
};

/** A pod fills the node's disk. */
export const diskPressure: Scenario = {
  name: "disk-pressure",
  promise: "a pod that fills the disk is evicted, its neighbour is not, and the node takes pods again afterwards",
  needs: "qemu",
  run: async (at) => {
    const free = Number(await at.machine.read("df --output=avail --block-size=1M /var/lib | tail -1"));
    const threshold = free - TAKEN_MIB + MARGIN_MIB;
    const settings = `evictionHard: { nodefs.available: ${threshold}Mi }\nevictionPressureTransitionPeriod: 5s`;
    await withKubeletConfiguration(at, settings, async () => {
      await createPod(at, "neighbour");
      await untilReady(at, "neighbour");
      await createPod(at, "filling", {
        script: `head -c ${TAKEN_MIB * MIB} /dev/zero > /scratch/file; sleep 3600`,
        container: { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] },
        spec: { volumes: [{ name: "scratch", emptyDir: {} }], terminationGracePeriodSeconds: 1 },
      });
      const { status } = await untilPod(at, "filling", (pod) => pod.status?.phase === "Failed");
      at.note(`filling: ${status?.reason}, ${status?.message}`);
      expectSame(status?.reason ?? "", "Evicted", "the reason");
      await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (node) => !isUnderPressure(node));
      await untilReady(at, "neighbour");
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      await deletePods(at, "filling", "neighbour", "newcomer");
    });
  },
};

/** True while the condition holds, or a taint keeps pods off. */
function isUnderPressure(text: string): boolean {
  const { status, spec }: Node = JSON.parse(text);
  const isPressed = status?.conditions?.some(
    (condition) => condition.type === "DiskPressure" && condition.status === "True",
  );
  return isPressed === true || (spec?.taints?.length ?? 0) > 0;
}
