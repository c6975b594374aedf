import { ApiError } from "../../../../api/api-error.ts";
import type { Container, Pod, PodSpec, Volume } from "../../../../api/gen/types.ts";
import type { Clock } from "../../../../base/clock.ts";
import { silentLog } from "../../../../base/log.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { createApiVolumePlugins } from "../api/api-volumes.ts";
import { createLoneSources } from "../api/lone-sources.ts";
import type { VolumeSources } from "../api/volume-sources.ts";
import { createEmptyDirPlugin } from "../local/empty-dir.ts";
import { createHostPathPlugin } from "../local/host-path.ts";
import { createPodVolumes, type PodVolumes } from "../pod-volumes.ts";
import { createSubPaths } from "../subpaths/sub-paths.ts";
import { createVolumeDirectoryMaker } from "../volume-directory-maker.ts";
import { volumeError } from "../volume-error.ts";

/** The machine and the API that the volumes of a test are on. */
interface VolumeRigDeps {
  host: { files: Files; mounts: Mounts; clock: Pick<Clock, "now"> };
  /** Default: there is none. */
  api?: VolumeSources;
  /** With the words of the event. */
  onOutdated?: (message: string) => void;
}

/** The pod's own kinds of volumes, as the node agent puts them together. */
export function createVolumeRig({ host, onOutdated, ...deps }: VolumeRigDeps, rootDirectory: string): PodVolumes {
  const absent = async () => await Promise.reject(new ApiError("NotFound", "there is none beside the pod"));
  const none = { secret: absent, configMap: absent };
  const { api = createLoneSources(none, () => ({ allocatable: {} })) } = deps;
  const { files, mounts, clock } = host;
  const directoryMaker = createVolumeDirectoryMaker({ files, mounts });
  const plugins = [
    createEmptyDirPlugin({ directoryMaker, allocatable: () => ({}) }),
    createHostPathPlugin({ files }),
    ...createApiVolumePlugins({
      files,
      clock,
      directoryMaker,
      api,
      onOutdated: (_pod, volumeName, error) => onOutdated?.(volumeError([{ volumeName, error }]).message),
    }),
  ];
  const subPaths = createSubPaths({ files, mounts, log: silentLog }, { rootDirectory });
  return createPodVolumes({ files, mounts, plugins, claims: undefined, subPaths }, { rootDirectory });
}

/** `shop/web`, one container of which mounts all the volumes. */
export function podWith(
  volumes: readonly Volume[],
  { containers = [{ name: "main" }], ...spec }: Partial<PodSpec> = {},
) {
  const mountAll = (container: Container, index: number): Container => {
    if (index > 0) return container;
    return { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })), ...container };
  };
  const metadata: NonNullable<Pod["metadata"]> = { name: "web", namespace: "shop", uid: "uid-1" };
  return { metadata, spec: { ...spec, volumes: [...volumes], containers: containers.map(mountAll) } } satisfies Pod;
}

/** Sets the volumes up, waits until they may be used, and gives the host path of each by its name. */
export async function setUpPaths(volumes: PodVolumes, pod: Pod, signal?: AbortSignal): Promise<Map<string, string>> {
  const setUp = await volumes.setUp(pod, signal);
  await setUp.finished;
  return new Map([...setUp.volumes].map(([name, volume]) => [name, volume.kind === "image" ? "" : volume.hostPath]));
}
