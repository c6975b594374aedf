import { isAbort } from "../../../../base/abort.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { HistogramSeries, Metrics } from "../../../../base/metrics.ts";
import type { VolumePlace, VolumePlugin, VolumeRequest } from "../volume-plugin.ts";
import { csiDriverOf, metricPluginName, type NodeVolumesWriter } from "./node-volumes.ts";

/** `storage_operation_duration_seconds`. */
export type StorageOperations = HistogramSeries<"volume_plugin" | "operation_name" | "status" | "migrated">;

interface MeasuredPluginDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly operations: StorageOperations;
  readonly volumes: Pick<NodeVolumesWriter, "want" | "settle" | "forget">;
}

/** Upstream's buckets (pkg/volume/util/metrics.go), in seconds. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
/** How many volumes of ending pods have their driver remembered. Beyond it, the oldest are counted without a driver. */
const MAX_LEAVING = 1_024;

/** Declares `storage_operation_duration_seconds`, under upstream's name, labels and buckets. Called once a process. */
export function createStorageOperations(metrics: Metrics): StorageOperations {
  return metrics.histogram("storage_operation_duration_seconds", "Storage operation duration", {
    labels: ["volume_plugin", "operation_name", "status", "migrated"],
    buckets: BUCKETS,
  });
}

/**
 * Wraps a plugin: its set-ups and tear-downs, failed ones included, are observed as upstream observes those of its operation
 * executor, and its volumes are reported to `volumes`. The set-up of a volume that is ready mounts nothing, although it is
 * repeated at each sync of the pod, and is not observed.
 */
export function measurePlugin(plugin: VolumePlugin, deps: MeasuredPluginDeps): VolumePlugin {
  const { volumes } = deps;
  /** A tear-down knows only the volume's place, and its pod has been forgotten by then; so the drivers are remembered. */
  const leaving = new Map<string, string>();

  const begin = (pluginName: string, operationName: string) => {
    const begun = deps.clock.monotonic();
    const labels = { volume_plugin: pluginName, operation_name: operationName, migrated: "false" };
    return (status: "success" | "fail-unknown") =>
      deps.operations.observe((deps.clock.monotonic() - begun) / 1000, { ...labels, status });
  };

  return {
    ...plugin,
    async setUp(request) {
      const { pod, volumeName, source, directories } = request;
      const wanted = volumes.want(directories.podUid, { pod, volumeName, source, pluginName: plugin.name });
      if (wanted.ready) return await plugin.setUp(request);
      const end = begin(metricPluginName(wanted), isBlock(request) ? "map_volume" : "volume_mount");
      const onError = (error: unknown) => {
        if (!isAbort(error)) end("fail-unknown");
      };
      try {
        const setUp = await plugin.setUp(request);
        // The user of the volume waits for `finished` too, and handles its failure.
        setUp.finished.then(() => {
          end("success");
          volumes.settle(directories.podUid, volumeName, setUp.volume);
        }, onError);
        return setUp;
      } catch (error) {
        onError(error);
        throw error;
      }
    },
    ...(plugin.tearDown && {
      async tearDown(place: VolumePlace, signal?: AbortSignal) {
        const key = leavingKey(place.podUid, place.directoryName);
        const operationName = place.kind === "device" ? "unmap_volume" : "volume_unmount";
        const end = begin(leaving.get(key) ?? plugin.name, operationName);
        try {
          await plugin.tearDown?.(place, signal);
          end("success");
          leaving.delete(key);
        } catch (error) {
          if (!isAbort(error)) end("fail-unknown");
          throw error;
        }
      },
    }),
    forget(podUid) {
      for (const volume of volumes.forget(podUid, plugin.name)) {
        const { source, volumeName } = volume;
        if (csiDriverOf(source) === undefined) continue;
        const name = source.kind === "pod" ? volumeName : (source.persistentVolume.metadata?.name ?? "");
        leaving.set(leavingKey(podUid, name), metricPluginName(volume));
      }
      for (const key of leaving.keys()) {
        if (leaving.size <= MAX_LEAVING) break;
        leaving.delete(key);
      }
      plugin.forget?.(podUid);
    },
  };
}

function leavingKey(podUid: string, directoryName: string): string {
  return `${podUid}/${directoryName}`;
}

function isBlock({ source }: VolumeRequest): boolean {
  return source.kind === "persistent" && source.persistentVolume.spec?.volumeMode === "Block";
}
