import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** What must not be there twice: a pod's ready sandbox, a pod's container of one name, a pod of one full name. */
export function createExclusionCheck(world: World): Check {
  const checkSandboxes = ({ podUid }: FakeOccurrence) => {
    const ready = world.cri
      .sandboxes()
      .filter(({ state, config }) => state === "ready" && config.metadata?.uid === podUid);
    if (ready.length > 1) world.fail("one ready sandbox a pod", `${ready.length} of pod ${short(podUid)}`);
  };

  const checkContainers = ({ podUid, podName, containerName }: FakeOccurrence) => {
    const metadata = new Map(world.cri.sandboxes().map(({ id, config }) => [id, config.metadata]));
    const running = world.cri.runningContainers();
    const same = running.filter(
      ({ sandboxId, config }) => metadata.get(sandboxId)?.uid === podUid && config.metadata?.name === containerName,
    );
    if (same.length > 1) {
      world.fail("one running container of a name", `${same.length} of ${podName}/${containerName}`);
    }
    // A user who deletes a pod by force says that it may run on beside the next one.
    if (world.cluster?.pods.pod(podUid) !== undefined) return;
    const namesakes = running.filter(({ sandboxId }) => {
      const pod = metadata.get(sandboxId);
      return pod?.name === podName && pod.uid !== podUid;
    });
    const [other] = namesakes;
    if (other !== undefined) {
      const uids = [podUid, metadata.get(other.sandboxId)?.uid ?? ""].map(short);
      world.fail("static pods of one name never run at once", `${podName}: ${uids.join(" and ")}`);
    }
  };

  return {
    occurred(occurrence) {
      if (occurrence.what === "sandbox-ready") checkSandboxes(occurrence);
      if (occurrence.what === "container-started") checkContainers(occurrence);
    },
  };
}
