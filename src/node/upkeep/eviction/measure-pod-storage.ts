import type { Pod } from "../../../api/gen/types.ts";
import { type PodReference, podReference } from "../../../api/pods.ts";
import { POD_UID_LABEL } from "../../../api/well-known.ts";
import { isAbort } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import { podStoragePaths } from "../../runtime/config/system-mounts.ts";
import { podLogDirectory } from "../../runtime/logs/container-log-paths.ts";
import { CONFIG_MAP_PLUGIN, EMPTY_DIR_PLUGIN, volumeDirectories } from "../../storage/volumes/volume-directories.ts";
import type { FileUsageReader } from "./file-usage.ts";
import { isEphemeralStorage } from "./judge-local-storage.ts";
import type { LocalStorageLimits } from "./local-storage-limits.ts";
import type { ContainerStorageUsage, PodStorageUsage } from "./pod-storage-usage.ts";
import { findRuntimeFiles } from "./runtime-files.ts";

/** Measures one pod repeatedly. */
export interface PodStorageMeter {
  /**
   * Measures everything that is needed to judge the limits. A part that cannot be measured is missing from the result,
   * and the log reports it. Rejects only when the signal fires.
   */
  measure(pod: Pod, limits: LocalStorageLimits, signal: AbortSignal): Promise<PodStorageUsage>;
}

interface PodStorageMeterDeps {
  readonly usage: FileUsageReader;
  readonly runtime: Pick<RuntimeService, "listContainerStats" | "containerStatus">;
  /** The pod's running containers, as far as they are known. */
  runningContainers(podUid: string): readonly RunningContainer[];
  readonly log: Log;
}

interface RunningContainer {
  readonly id: string;
  readonly name: string;
}

/** `rootDirectory` is `--root-dir`, and `podLogsDirectory` is `podLogsDir`. */
interface PodStorageMeterOptions {
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
}

const RUNTIME_TIMEOUT_MS = 10 * SECOND;

/** Creates the meter of one pod. It remembers where the runtime keeps files of the containers that run. */
export function createPodStorageMeter(deps: PodStorageMeterDeps, options: PodStorageMeterOptions): PodStorageMeter {
  const { usage, runtime } = deps;
  const { rootDirectory, podLogsDirectory } = options;
  let runtimeFiles: ReadonlyMap<string, readonly string[]> = new Map();

  const orElse = async <T>(left: T, what: { pod: PodReference; name: string }, read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      if (isAbort(error)) throw error;
      const { pod, name } = what;
      const fields = { pod: `${pod.namespace}/${pod.name}`, uid: pod.uid, what: name, error: messageOf(error) };
      deps.log.debug("Cannot tell how much local storage a pod uses", fields);
      return left;
    }
  };

  const measureVolumes = async (pod: Pod, limits: LocalStorageLimits, signal: AbortSignal) => {
    const reference = podReference(pod);
    const directories = volumeDirectories(rootDirectory, reference.uid);
    const limited = new Set(limits.emptyDirs.map(({ volumeName }) => volumeName));
    const volumes = new Map<string, number>();
    for (const volume of pod.spec?.volumes ?? []) {
      if (!limited.has(volume.name) && !(limits.pod !== undefined && isEphemeralStorage(volume))) continue;
      const path = directories.of(volume.emptyDir ? EMPTY_DIR_PLUGIN : CONFIG_MAP_PLUGIN, volume.name);
      const read = async () => await usage.ofPaths([path], signal);
      const used = await orElse(undefined, { pod: reference, name: `volume ${volume.name}` }, read);
      if (used !== undefined) volumes.set(volume.name, used);
    }
    return volumes;
  };

  const readLayers = async (uid: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> => {
    const filter = { id: "", podSandboxId: "", labelSelector: { [POD_UID_LABEL]: uid } };
    const { stats } = await runtime.listContainerStats({ filter }, { signal, timeoutMs: RUNTIME_TIMEOUT_MS });
    const used = stats.map(({ attributes, writableLayer }) => {
      return [attributes?.id ?? "", Number(writableLayer?.usedBytes?.value ?? 0n)] as const;
    });
    return new Map(used);
  };

  const measureContainers = async (pod: PodReference, signal: AbortSignal): Promise<ContainerStorageUsage[]> => {
    const noLayers: ReadonlyMap<string, number> = new Map();
    const layers = await orElse(noLayers, { pod, name: "layers" }, async () => await readLayers(pod.uid, signal));
    const usages: ContainerStorageUsage[] = [];
    for (const { id, name } of deps.runningContainers(pod.uid)) {
      const directory = `${podLogDirectory(podLogsDirectory, pod)}/${name}`;
      const read = async () => await usage.ofFilesIn(directory, signal);
      const logs = await orElse(0, { pod, name: `logs of ${name}` }, read);
      usages.push({ name, writableLayer: layers.get(id) ?? 0, logs });
    }
    return usages;
  };

  /**
   * Finds the files that the runtime made for the pod. The containers of a pod share them, so each path is listed once.
   */
  const findFilesOfRuntime = async (pod: PodReference, signal: AbortSignal): Promise<ReadonlySet<string>> => {
    const found = new Map<string, readonly string[]>();
    for (const { id, name } of deps.runningContainers(pod.uid)) {
      const read = async () => {
        const call = { signal, timeoutMs: RUNTIME_TIMEOUT_MS };
        return findRuntimeFiles(await runtime.containerStatus({ containerId: id, verbose: true }, call));
      };
      const paths = runtimeFiles.get(id) ?? (await orElse(undefined, { pod, name: `status of ${name}` }, read));
      if (paths !== undefined) found.set(id, paths);
    }
    runtimeFiles = found;
    return new Set([...found.values()].flat());
  };

  const measureHostFiles = async (pod: PodReference, signal: AbortSignal): Promise<number> => {
    const { hosts, terminationLogs } = podStoragePaths(rootDirectory, pod.uid);
    const ofRuntime = await findFilesOfRuntime(pod, signal);
    const read = async (name: string, bytes: () => Promise<number>) => await orElse(0, { pod, name }, bytes);
    return (
      (await read("/etc/hosts", async () => await usage.ofPaths([hosts], signal))) +
      (await read("termination logs", async () => await usage.ofFilesBelow(terminationLogs, signal))) +
      (await read("files of the runtime", async () => await usage.ofPaths(ofRuntime, signal)))
    );
  };

  return {
    async measure(pod, limits, signal) {
      const reference = podReference(pod);
      const volumes = await measureVolumes(pod, limits, signal);
      if (limits.pod === undefined) return { volumes, containers: [], podLogs: 0, hostFiles: 0 };
      const directory = podLogDirectory(podLogsDirectory, reference);
      const readLogs = async () => await usage.ofFilesIn(directory, signal);
      return {
        volumes,
        containers: await measureContainers(reference, signal),
        podLogs: await orElse(0, { pod: reference, name: "logs" }, readLogs),
        hostFiles: await measureHostFiles(reference, signal),
      };
    },
  };
}
