import type { Container, ContainerStatus } from "../../../src/api/gen/types.ts";
import { containersOf } from "../pod-script.ts";
import type { ProbedPods } from "../probes/probed-pods.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** A container is ready, or has started, only if it has told a probe so: this very one, to whichever node agent. */
export function createProbeEvidenceCheck(world: World, probed: ProbedPods): Check {
  const checkStatus = (container: Container, status: ContainerStatus, podName: string) => {
    const id = status.containerID?.split("://")[1];
    if (id === undefined || status.state?.running === undefined) return;
    const judge = (kind: "startup" | "readiness", isClaimed: boolean | undefined) => {
      if (isClaimed !== true || container[`${kind}Probe`] === undefined) return;
      if (probed.evidence(id, kind).hasSucceeded) return;
      world.fail("what probes decide has evidence", `${kind} of ${podName}/${container.name} ${short(id)} has none`);
    };
    judge("startup", status.started);
    judge("readiness", status.ready);
  };
  return {
    published({ pod, status }) {
      const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
      for (const container of containersOf(pod)) {
        const found = statuses.find(({ name }) => name === container.name);
        if (found !== undefined) checkStatus(container, found, pod.metadata?.name ?? "");
      }
    },
    occurred({ what, podUid, podName, containerName, sandboxId }) {
      if (what !== "container-started") return;
      const pod = world.wanted.pod(podUid);
      const inits = pod?.spec?.initContainers ?? [];
      const index = inits.findIndex(({ name }) => name === containerName);
      const others = index < 0 ? inits : inits.slice(0, index);
      for (const sidecar of others.filter(({ startupProbe }) => startupProbe !== undefined)) {
        // That a later run of it may be starting again is no reason to wait.
        if (probed.hasStartedIn(sandboxId, sidecar.name)) continue;
        world.fail("a sidecar has started before what comes after it", `${podName}/${containerName}`);
      }
    },
  };
}

/** Whether a probe has found the container dead, so that it is rightly stopped. */
export function isFoundDead(probed: ProbedPods, container: Container, containerId: string): boolean {
  return (["startup", "liveness"] as const).some((kind) => {
    const probe = container[`${kind}Probe`];
    return probe !== undefined && probed.evidence(containerId, kind).failuresInARow >= (probe.failureThreshold ?? 3);
  });
}
