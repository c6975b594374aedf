import { describe, expect, it } from "vitest";
import { claimPort } from "../../machine/claims.ts";
import { readTree, type TreeLine } from "./directory-tree.ts";
import { createUpstreamNode, type UpstreamNode } from "./go-kubelet.ts";
import { prepareKeptPods } from "./kept-pods.ts";
import { startUpstreamCluster } from "./upstream-cluster.ts";
import { readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBELET_BIN");

/** What is not the same, and why. */
const DIFFERENT = [
  // Written here where a policy keeps something in it.
  /^\/kubelet\/((cpu|memory)_manager_state|dra_manager_state) /,
  // Theirs is in /var/lib/kubelet, whatever the root directory is; two kubelets of a machine would share it.
  /^\/kubelet\/device-plugins(\/kubelet\.sock)? /,
  // Checkpoints of features that are off; images that were pulled, by whom.
  /^\/kubelet\/(checkpoints|image_manager)(\/\S*)? /,
  // A pod that is done keeps no volumes here; there, empty directories of theirs stay until it is deleted.
  /^(mount )?\/kubelet\/pods\/<done>\/(volumes|plugins)(\/\S*)? /,
];

describe.skipIf(program === undefined)(titleOf("the directories of kubelet", "KUBELET_BIN", program), () => {
  /** The tree that the same pods make on a node of their own. */
  const treeOf = async (start: (world: UpstreamNode) => Promise<unknown>): Promise<TreeLine[]> => {
    const world = await createUpstreamNode(await startUpstreamCluster());
    try {
      await start(world);
      const kept = await prepareKeptPods(world, { hostPort: await claimPort(), minor: program?.minor ?? 0 });
      try {
        return await readTree(world, await kept.create());
      } finally {
        await kept.remove();
      }
    } finally {
      await world.destroy();
    }
  };

  it("are the same here, with their modes, owners, links and mounts", async () => {
    if (program === undefined) return;
    const theirs = await treeOf(async (world) => await world.startKubelet(program));
    const ours = await treeOf(async (world) => await world.node.start(world.flags));
    const compared = (lines: readonly TreeLine[]) => lines.filter((line) => !DIFFERENT.some((one) => one.test(line)));
    // Each is of some dozens of lines: an empty list is like any other.
    expect(compared(theirs).length).toBeGreaterThan(150);
    expect(compared(ours)).toEqual(compared(theirs));
  });
});
