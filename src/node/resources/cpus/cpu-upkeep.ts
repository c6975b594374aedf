import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import type { Part } from "../../../base/run-parts.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { NodeCpus } from "./node-cpus.ts";

interface CpuUpkeepDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: Pick<RuntimeService, "updateContainerResources">;
  readonly cpus: Pick<NodeCpus, "cpuListOf" | "save">;
  /** Takes back the CPUs of pods that have ended. */
  releaseStale(): void;
  /** The pods of which something may run. */
  podUids(): readonly string[];
  /** The containers of the pod that run. */
  runningOf(podUid: string): ReadonlyArray<{ readonly id: string; readonly name: string }>;
}

/**
 * Keeps running containers on the CPUs that are theirs: those that share have fewer as others get their own. What an agent
 * before this one told the runtime is not known, so that each container is told once.
 */
export function createCpuUpkeep(deps: CpuUpkeepDeps, { periodMs }: { readonly periodMs: number }): Part {
  const { clock, log, runtime, cpus } = deps;
  let told: ReadonlyMap<string, string> = new Map();

  const tell = async (containerId: string, cpusetCpus: string, signal: AbortSignal): Promise<boolean> => {
    const request = cri.UpdateContainerResourcesRequest.fromPartial({ containerId, linux: { cpusetCpus } });
    try {
      await runtime.updateContainerResources(request, { signal });
      return true;
    } catch (error) {
      if (isAbort(error)) throw error;
      const fields = { containerID: containerId, cpuSet: cpusetCpus, error: messageOf(error) };
      // One that ended meanwhile needs no CPUs.
      if (codeOf(error) !== "not-found") log.error("Failed to update the CPUs of a container", fields);
      return false;
    }
  };

  const tellAll = async (signal: AbortSignal) => {
    const next = new Map<string, string>();
    for (const uid of deps.podUids()) {
      for (const { id, name } of deps.runningOf(uid)) {
        const wanted = cpus.cpuListOf(uid, name);
        if (wanted === undefined) continue;
        if (told.get(id) === wanted || (await tell(id, wanted, signal))) next.set(id, wanted);
      }
    }
    told = next;
  };

  return {
    name: "CPUs of containers",
    run: async (signal) =>
      await repeat(clock, { periodMs, signal }, async () => {
        deps.releaseStale();
        await cpus.save().catch((error: unknown) => {
          log.error("Cannot write the checkpoint of CPUs", { error: messageOf(error) });
        });
        await tellAll(signal);
      }),
  };
}
