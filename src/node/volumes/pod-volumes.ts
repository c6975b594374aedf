import type { Pod, Volume } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import type { Clock } from "../../base/clock.ts";
import { throwJoined } from "../../base/errors.ts";
import type { Files } from "../../host/port.ts";
import { type ApiVolumes, createApiVolumes, planApiVolume, type VolumePlace, type VolumeSetUp } from "./api-volumes.ts";
import { setUpEmptyDir, setUpHostPath } from "./local-volumes.ts";
import { isMemoryPlugin, volumeDirectories } from "./volume-directories.ts";
import { createVolumeDirectoryMaker } from "./volume-directory-maker.ts";
import { type VolumeFailure, volumeError } from "./volume-error.ts";
import type { VolumeSources } from "./volume-sources.ts";

/** Sets up what a pod's volumes are on the host, and tears it down. Both may be repeated; a pod has one call at a time. */
export interface PodVolumes {
  /**
   * Resolves when nothing is lacking that the volumes are to show, so that the pod may have its sandbox; containers wait
   * until it has finished. Called at every sync of the pod, and does little where nothing changed. Rejects with one error
   * that names every volume that cannot be had, when no work is left under way. A volume of API objects that containers
   * may be using, and that cannot be brought up to date, is no failure: it stays as it was, and `onOutdated` is told.
   */
  setUp(pod: Pod, signal?: AbortSignal): Promise<PodVolumeSetUp>;
  /** Removes what `setUp` made; host paths stay. */
  tearDown(uid: string): Promise<void>;
}

/** Where the volumes of a pod are, or will be in a moment. */
export interface PodVolumeSetUp {
  /** The host path of every volume by its name. */
  paths: ReadonlyMap<string, string>;
  /**
   * Resolves when all of them may be used; rejects as `setUp` does, when no work is left under way. To be waited for
   * before anything else is done with them.
   */
  finished: Promise<void>;
}

/** Without an API server, volumes whose content comes from it are refused. */
export type PodVolumesDeps = { files: Files } & (
  | { clock?: undefined; api?: undefined; onOutdated?: undefined }
  | {
      clock: Pick<Clock, "now">;
      api?: VolumeSources | undefined;
      /** With words for the pod's FailedMount event. */
      onOutdated?: ((pod: Pod, message: string) => void) | undefined;
    }
);

export function createPodVolumes(deps: PodVolumesDeps, options: { rootDirectory: string }): PodVolumes {
  const { files } = deps;
  const directoryMaker = createVolumeDirectoryMaker({ files });
  const apiVolumes: ApiVolumes | undefined =
    deps.api &&
    createApiVolumes({
      files,
      clock: deps.clock,
      api: deps.api,
      directoryMaker,
      onOutdated: (pod, volumeName, error) => deps.onOutdated?.(pod, volumeError([{ volumeName, error }]).message),
    });

  const setUpVolume = async (pod: Pod, volume: Volume, place: VolumePlace): Promise<VolumeSetUp> => {
    const finished = Promise.resolve();
    if (volume.hostPath) return { path: await setUpHostPath(files, volume.hostPath), finished };
    if (volume.emptyDir) {
      const options = { volumeName: volume.name, source: volume.emptyDir, ...place };
      return { path: await setUpEmptyDir(directoryMaker, pod, options), finished };
    }
    const plan = planApiVolume(volume);
    if (plan === undefined) throw new Error("volumes of this kind are not supported by this version of nodelet");
    if (apiVolumes === undefined) throw new Error(`${plan.kind} volumes need an API server, and there is none here`);
    return await apiVolumes.setUp(pod, plan, place);
  };

  return {
    async setUp(pod, signal = new AbortController().signal) {
      const place = { directories: volumeDirectories(options.rootDirectory, podReference(pod).uid), signal };
      const volumes = pod.spec?.volumes ?? [];
      // All of them, also when one has failed: none is left under way, and one error names every culprit.
      const begun = await Promise.allSettled(volumes.map(async (volume) => await setUpVolume(pod, volume, place)));
      const finish = async () => {
        const outcomes = await Promise.allSettled(
          begun.map(async (outcome) => {
            if (outcome.status === "rejected") throw outcome.reason;
            await outcome.value.finished;
          }),
        );
        const failures = volumes.flatMap(({ name }, index): VolumeFailure[] => {
          const outcome = outcomes[index];
          return outcome?.status === "rejected" ? [{ volumeName: name, error: outcome.reason }] : [];
        });
        if (failures.length > 0) throw volumeError(failures);
      };
      const finished = finish();
      finished.catch(() => undefined);
      if (begun.some(({ status }) => status === "rejected")) await finished;
      const paths = new Map<string, string>();
      for (const [index, { name }] of volumes.entries()) {
        const outcome = begun[index];
        if (outcome?.status === "fulfilled") paths.set(name, outcome.value.path);
      }
      return { paths, finished };
    },

    async tearDown(uid) {
      apiVolumes?.forget(uid);
      const directories = volumeDirectories(options.rootDirectory, uid);
      const memory = await findMemoryVolumes(files, directories.volumes);
      const outcomes = await Promise.allSettled(memory.map(async (path) => await files.unmount(path)));
      const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
      throwJoined(failures, "volumes of the pod cannot be unmounted");
      await files.remove(directories.notes);
      await files.remove(directories.volumes);
    },
  };
}

/** Paths of volumes that may be mounted. A link in a volume's place is not one: what it leads to is none of the pod's. */
async function findMemoryVolumes(files: Files, directory: string): Promise<string[]> {
  if ((await files.stat(directory)) === undefined) return [];
  const plugins = (await listDirectories(files, directory)).filter(isMemoryPlugin);
  const volumes = await Promise.all(
    plugins.map(async (plugin) => {
      const names = await listDirectories(files, `${directory}/${plugin}`);
      return names.map((name) => `${directory}/${plugin}/${name}`);
    }),
  );
  return volumes.flat();
}

async function listDirectories(files: Files, directory: string): Promise<string[]> {
  return (await files.list(directory)).filter(({ type }) => type === "directory").map(({ name }) => name);
}
