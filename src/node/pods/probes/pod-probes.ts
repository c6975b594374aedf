import type { Container, Pod, PodStatus } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { aborted } from "../../../base/abort.ts";
import { createTasks } from "../../../base/tasks.ts";
import {
  type ContainerProbes,
  type ContainerProbesDeps,
  type ContainerVerdict,
  createContainerProbes,
} from "./container-probes.ts";
import { type ProbeType, probedContainers, probesOf } from "./probe-type.ts";

/** The probes of all pods of the node: which run follows from what was observed last of each pod. */
export interface PodProbes {
  /**
   * What the runtime holds of a pod. Probes begin with a container that runs and end with it; what they find is by the
   * container's id, so that the next run of it begins anew.
   */
  observe(pod: Pod, observed: ObservedPod): void;
  /** Of a running container. One that was not observed has not been probed: it is what it is without probes, or waits. */
  verdictOf(container: Container, containerId: string): ContainerVerdict;
  /** Called after each change of a verdict. Returns how to stop that. */
  subscribe(listener: (change: VerdictChange) => void): () => void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
  /** Until the signal fires; then nothing is probed any more, and it returns when nothing is in flight. */
  run(signal: AbortSignal): Promise<void>;
}

/** A probe has found something else than before. */
export interface VerdictChange {
  /** As it was observed last, with its phase then. */
  pod: Pod;
  phase: ObservedPod["phase"];
  kind: ProbeType;
}

export interface ObservedPod {
  /** From `terminating` on only readiness is looked at, from `terminated` on nothing. */
  phase: "syncing" | "terminating" | "terminated";
  /** Of each name the newest first. */
  containers: readonly ObservedContainer[];
  /** What was told of the pod last, also by a node agent before this one. */
  told: PodStatus | undefined;
}

/** A container as the runtime has it. */
export interface ObservedContainer {
  id: string;
  name: string;
  state: "created" | "running" | "exited" | "unknown";
  /** Milliseconds since the epoch. */
  startedAt: number;
}

type PodProbesDeps = Omit<ContainerProbesDeps, "tasks" | "onChange">;

interface Entry {
  pod: Pod;
  phase: ObservedPod["phase"];
  /** By the container's name. */
  containers: Map<string, ContainerProbes>;
}

export function createPodProbes(deps: PodProbesDeps): PodProbes {
  const entries = new Map<string, Entry>();
  const byContainerId = new Map<string, ContainerProbes>();
  const listeners = new Set<(change: VerdictChange) => void>();
  const ending = new AbortController();
  let crash: { readonly error: unknown } | undefined;
  const tasks = createTasks((_name, error) => {
    crash ??= { error };
    ending.abort();
  });

  const drop = (entry: Entry, name: string) => {
    const probes = entry.containers.get(name);
    if (probes === undefined) return;
    probes.end();
    entry.containers.delete(name);
    byContainerId.delete(probes.containerId);
  };

  const forget = (uid: string) => {
    const entry = entries.get(uid);
    if (entry === undefined) return;
    for (const name of [...entry.containers.keys()]) drop(entry, name);
    for (const container of probedContainers(entry.pod)) {
      for (const { kind } of probesOf(container)) deps.metrics.of(entry.pod, container, kind).remove();
    }
    entries.delete(uid);
  };

  const begin = (entry: Entry, container: Container, observed: ObservedContainer, told: PodStatus | undefined) => {
    const onChange = (kind: ProbeType) => {
      for (const listener of [...listeners]) listener({ pod: entry.pod, phase: entry.phase, kind });
    };
    const known = findTold(told, container.name, observed.id);
    const run = { pod: entry.pod, container, containerId: observed.id, startedAt: observed.startedAt, known };
    const probes = createContainerProbes({ ...deps, tasks, onChange }, run, ending.signal);
    entry.containers.set(container.name, probes);
    byContainerId.set(observed.id, probes);
  };

  return {
    observe(pod, { phase, containers, told }) {
      const { uid } = podReference(pod);
      const probed = probedContainers(pod);
      if (phase === "terminated" || probed.length === 0) {
        forget(uid);
        return;
      }
      const entry = entries.get(uid) ?? { pod, phase, containers: new Map<string, ContainerProbes>() };
      entry.pod = pod;
      entry.phase = phase;
      entries.set(uid, entry);
      for (const container of probed) {
        const observed = containers.find(({ name }) => name === container.name);
        const isSame = entry.containers.get(container.name)?.containerId === observed?.id;
        if (observed?.state !== "running" || !isSame) drop(entry, container.name);
        if (observed?.state === "running" && !entry.containers.has(container.name)) {
          begin(entry, container, observed, told);
        }
        if (phase === "terminating") entry.containers.get(container.name)?.endAllButReadiness();
      }
    },
    verdictOf(container, containerId) {
      const probes = byContainerId.get(containerId);
      if (probes !== undefined) return probes.verdict();
      const started = container.startupProbe === undefined;
      return { started, ready: started && container.readinessProbe === undefined, failed: undefined };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    forget,
    podUids: () => [...entries.keys()],
    async run(signal) {
      const stop = () => ending.abort();
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      await aborted(ending.signal);
      signal.removeEventListener("abort", stop);
      await tasks.settled();
      if (crash !== undefined) throw crash.error;
    },
  };
}

/** What was told of this very container: of one that was replaced meanwhile nothing follows. */
function findTold(
  told: PodStatus | undefined,
  name: string,
  id: string,
): Pick<ContainerVerdict, "started" | "ready"> | undefined {
  const statuses = [...(told?.initContainerStatuses ?? []), ...(told?.containerStatuses ?? [])];
  const status = statuses.find((candidate) => candidate.name === name);
  const isSame = status?.state?.running !== undefined && status.containerID?.endsWith(`://${id}`) === true;
  return isSame ? { started: status.started === true, ready: status.ready } : undefined;
}
