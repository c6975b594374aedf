import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";
import { readText } from "./read-text.ts";

/**
 * Nothing of a pod is made, and no start is asked for, once the node agent that is up has begun to terminate it. A start
 * that was asked for before may still have its effect.
 */
export function createTerminationCheck(world: World): Check {
  const check = (uid: string, what: string) => {
    const phase = world.node.memory?.workers.states().get(uid)?.phase;
    if (phase === "syncing") return;
    world.fail(
      "nothing starts in a pod that terminates",
      `${what} of pod ${short(uid)}, which is ${phase ?? "unknown"}`,
    );
  };
  return {
    occurred({ what, podUid, podName, containerName }) {
      const makes = what === "sandbox-ready" || what === "container-created";
      // A call that was on its way when the process was killed may still have its effect.
      if (makes && world.node.memory !== undefined) check(podUid, `${what} ${podName}/${containerName}`);
    },
    called(rpc, request) {
      if (rpc !== "startContainer") return;
      const id = readText(request, "containerId");
      const container = world.cri.containers().find((candidate) => candidate.id === id);
      const sandbox = world.cri.sandboxes().find((candidate) => candidate.id === container?.sandboxId);
      if (sandbox !== undefined) check(sandbox.config.metadata?.uid ?? "", "StartContainer");
    },
  };
}
