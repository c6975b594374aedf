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

/** The probes of all pods of the node: which of them run follows from the last observation of each pod. */
export interface PodProbes {
  /**
   * Takes the containers that the runtime holds of a pod. Probes begin with a container that runs and end with it;
   * their verdicts are by the container's id, so that the container's next run begins anew.
   */
  observe(pod: Pod, observed: ObservedPod): void;
  /**
   * The verdict on a running container. A container that was not observed has not been probed: it has started and is
   * ready unless it has a startup or readiness probe.
   */
  verdictOf(container: Container, containerId: string): ContainerVerdict;
  /**
   * Ends the probes of a container that the node agent has stopped, before anything else can answer at its address: a probe
   * that is under way counts for nothing. The verdicts so far stay until the end is observed.
   */
  end(containerId: string): void;
  /** Calls the listener after each change of a verdict. The function that it returns stops that. */
  subscribe(listener: (change: VerdictChange) => void): () => void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
  /** Probes until the signal fires, and returns when no probe is in flight. */
  run(signal: AbortSignal): Promise<void>;
}

/** A probe's verdict differs from the one before. */
export interface VerdictChange {
  /** The pod as it was observed last, with its phase then. */
  pod: Pod;
  phase: ObservedPod["phase"];
  kind: ProbeType;
}

export interface ObservedPod {
  /** From `terminating` on only readiness is probed, from `terminated` on nothing. */
  phase: "syncing" | "terminating" | "terminated";
  /** The newest container of each name comes first. */
  containers: readonly ObservedContainer[];
  /** The status that was published last, also by a node agent before this one. */
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
    end: (containerId) => byContainerId.get(containerId)?.end(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
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

/** The published verdict on this very container; a verdict on one that was replaced meanwhile does not count. */
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
