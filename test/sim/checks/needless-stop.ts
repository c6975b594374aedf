import type { Pod } from "../../../src/api/gen/types.ts";
import { isRestartableInitContainer } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import { isEndedByNode } from "../ended-by-node.ts";
import { containersOf, restartsAfterExit } from "../pod-script.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";
import { isFoundDead } from "./probe-evidence.ts";
import { readText } from "./read-text.ts";

/** A container of a pod that is wanted and not done is never stopped; above all not because the node agent restarted. */
export function createNeedlessStopCheck(world: World): Check {
  /** When the sandboxes were made, by a clock that does not jump. */
  const made = new Map<string, number>();
  const check = (container: Readonly<FakeContainer>) => {
    const sandbox = world.cri.sandboxes().find(({ id }) => id === container.sandboxId);
    const uid = sandbox?.config.metadata?.uid ?? "";
    const pod = world.wanted.pod(uid);
    if (sandbox === undefined || sandbox.state !== "ready" || pod === undefined) return;
    const madeAt = made.get(sandbox.id) ?? 0;
    const wantedSince = world.wanted.wantedSince(uid);
    const wasWanted = wantedSince !== undefined && wantedSince <= madeAt && world.wanted.uncertainAt(uid) < madeAt;
    if (isEndedByNode(world, uid)) return;
    const { probed, interference } = world;
    const spec = containersOf(pod).find(({ name }) => name === container.config.metadata?.name);
    if (probed !== undefined && spec !== undefined && isFoundDead(probed, spec, container.id)) {
      probed.disturbed.add(uid);
      interference.endedContainers.add(container.id);
      interference.pods.add(uid);
      return;
    }
    if (!wasWanted || isOutdated(pod, container) || isDone(pod, newestOf(world, sandbox.id))) return;
    const name = `${sandbox.config.metadata?.name}/${container.config.metadata?.name} ${short(container.id)}`;
    world.fail("what is wanted and runs is never stopped", name);
  };
  return {
    occurred({ what, id }) {
      if (what === "sandbox-ready") made.set(id, world.clock.monotonic());
    },
    called(rpc, request) {
      if (rpc !== "stopContainer" && rpc !== "stopPodSandbox") return;
      const id = readText(request, rpc === "stopContainer" ? "containerId" : "podSandboxId");
      const running = world.cri.runningContainers();
      for (const container of running) if (container.id === id || container.sandboxId === id) check(container);
    },
  };
}

/** Its image was changed, and the node agent may have heard of that late. */
function isOutdated(pod: Pod, { config }: Readonly<FakeContainer>): boolean {
  const image = containersOf(pod).find(({ name }) => name === config.metadata?.name)?.image;
  return image !== config.image?.userSpecifiedImage;
}

/** The newest container of each name. */
function newestOf(world: World, sandboxId: string): Map<string, Readonly<FakeContainer>> {
  const own = world.cri.containers().filter((container) => container.sandboxId === sandboxId);
  return new Map(own.map((container) => [container.config.metadata?.name ?? "", container]));
}

/** No main container runs or will again, or an init container failed for good. */
function isDone(pod: Pod, newest: ReadonlyMap<string, Readonly<FakeContainer>>): boolean {
  const isOver = (name: string) => {
    const last = newest.get(name);
    return last?.state === "exited" && !restartsAfterExit(pod, name, last.exitCode);
  };
  const mains = pod.spec?.containers ?? [];
  const regularInits = containersOf(pod).filter(
    (container) => !mains.includes(container) && !isRestartableInitContainer(container),
  );
  const hasFailed = regularInits.some(({ name }) => isOver(name) && newest.get(name)?.exitCode !== 0);
  return hasFailed || mains.every(({ name }) => isOver(name));
}
