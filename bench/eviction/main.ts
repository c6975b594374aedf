import { totalmem } from "node:os";
import type { Pod } from "../../src/api/gen/types.ts";
import { createClusterNode } from "../../test/e2e/cluster/cluster-node.ts";
import { shellPod } from "../../test/e2e/pods.ts";

const MIB = 1024 ** 2;
const FOR_PODS_MIB = 1_600;
const LEFT_MIB = 500;
const ROUNDS = 20;
/** The time after which a pod that was evicted no longer counts as used memory. */
const PAUSE_MS = 5_000;

/** The process takes more than all pods may have, as fast as the machine lets it: the kernel kills it if nobody else does. */
const FILL = `exec dd if=/dev/zero of=/v/data bs=1M count=${2 * FOR_PODS_MIB}`;
const hasEnded = ({ status }: Pod) =>
  status?.phase === "Failed" ||
  status?.containerStatuses?.some(({ state }) => state?.terminated !== undefined) === true;

process.exitCode = await main();

/**
 * Measures how often a pod that takes memory as fast as it can is evicted before the kernel kills it. It needs root,
 * containerd and `npm run build`. The pods of the node may use 1,600 MiB together, of which 500 MiB must be left, so
 * that the rest of the machine does not matter and is in no danger.
 */
async function main(): Promise<number> {
  const world = await createClusterNode({
    configuration: {
      kubeReserved: { memory: String(totalmem() - FOR_PODS_MIB * MIB) },
      evictionHard: { "allocatableMemory.available": `${LEFT_MIB}Mi` },
      evictionPressureTransitionPeriod: "1s",
      kernelMemcgNotification: true,
    },
  });
  let evicted = 0;
  try {
    await world.node.start(world.flags);
    for (let round = 1; round <= ROUNDS; round++) {
      const name = `greedy-${round}`;
      const volumes = [{ name: "v", emptyDir: { medium: "Memory" } }];
      const container = { resources: { requests: { memory: "8Mi" } }, volumeMounts: [{ name: "v", mountPath: "/v" }] };
      await world.create(shellPod(name, FILL, { restartPolicy: "Never", volumes }, container));
      const { status } = await world.pod(name, hasEnded);
      const reason = status?.reason ?? status?.containerStatuses?.[0]?.state?.terminated?.reason ?? "unknown";
      if (reason === "Evicted") evicted++;
      console.log(`${name}: ${reason}`);
      await world.remove(name, 0);
      await world.gone(name);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    await world.destroy();
  }
  console.log(`evicted before the kernel killed it: ${evicted} of ${ROUNDS}`);
  return 0;
}
