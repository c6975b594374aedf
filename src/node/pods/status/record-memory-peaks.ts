import type { ContainerStateTerminated, ContainerStatus, Pod } from "../../../api/gen/types.ts";
import { podContainers, podReference } from "../../../api/pods.ts";
import { formatQuantity } from "../../../api/quantity.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { runInBackground } from "../../../base/tasks.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodStatuses } from "./pod-statuses.ts";

interface MemoryPeakDeps {
  readonly statuses: Pick<PodStatuses, "subscribe">;
  readonly timeline: Pick<Timeline, "record">;
  readonly log: Log;
  /** Reads the pod's cgroup, whose `now` is undefined when it is gone. Undefined: pods have no cgroups of their own. */
  readonly sizesOf: ((pod: Pod) => Promise<{ readonly now: CgroupPeak | undefined }>) | undefined;
}

interface CgroupPeak {
  /** The most memory in use so far, in bytes; undefined where the kernel does not tell. */
  readonly details: { readonly maxMemoryUsage: number | undefined } | undefined;
}

/**
 * Records how much memory a pod had at its peak when the kernel ended one of its containers. The container's own cgroup is
 * gone by then, with its runtime's task; the pod's is there until the pod is removed.
 */
export function recordMemoryPeaks({ statuses, timeline, log, sizesOf }: MemoryPeakDeps): void {
  statuses.subscribe(({ pod, status }, previous) => {
    const known = new Set(killsOf(previous.containerStatuses).map(({ end }) => end.containerID));
    for (const { name, end } of killsOf(status.containerStatuses)) {
      if (known.has(end.containerID)) continue;
      const work = async () => {
        const sizes = await sizesOf?.(pod);
        const message = describePeak(pod, name, sizes?.now?.details?.maxMemoryUsage);
        timeline.record(podReference(pod), { type: "Normal", reason: "MemoryPeak", message, container: name });
      };
      runInBackground(work, (error) => log.debug("A pod's memory peak was not read", { error: messageOf(error) }));
    }
  });
}

function killsOf(containers: readonly ContainerStatus[] = []): { name: string; end: ContainerStateTerminated }[] {
  return containers.flatMap(({ name, state, lastState }) => {
    const ends = [lastState?.terminated, state?.terminated].filter((end) => end !== undefined);
    return ends.filter(({ reason }) => reason === "OOMKilled").map((end) => ({ name, end }));
  });
}

const MEBIBYTE = 1024 ** 2;

function describePeak(pod: Pod, name: string, peak: number | undefined): string {
  const container = podContainers(pod).find((one) => one.container.name === name)?.container;
  const limit = container?.resources?.limits?.["memory"] ?? pod.spec?.resources?.limits?.["memory"];
  const limited =
    limit === undefined ? "has no limit of its own, so that the node itself was short" : `is limited to ${limit}`;
  const most =
    peak === undefined
      ? "How much memory the pod had at its peak is not known, because its cgroup is gone or does not tell"
      : `The pod's memory was at ${formatMebibytes(peak)} at its peak, all its containers together`;
  return `${most}; ${name} ${limited}. The peak of the container alone is not known: its cgroup ended with it`;
}

function formatMebibytes(bytes: number): string {
  const whole = BigInt(Math.ceil(bytes / MEBIBYTE) * MEBIBYTE);
  return formatQuantity({ nanos: whole * 10n ** 9n, format: "BinarySI" });
}
