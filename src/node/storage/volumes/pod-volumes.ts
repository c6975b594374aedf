import type { Pod, Volume } from "../../../api/gen/types.ts";
import { podContainers, podReference } from "../../../api/pods.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";
import { volumeGroupOf } from "./persistent/volume-gid.ts";
import type { SubPaths } from "./subpaths/sub-paths.ts";
import { tearDownVolumes } from "./tear-down-volumes.ts";
import { volumeDirectories } from "./volume-directories.ts";
import { type VolumeFailure, VolumeSetUpError, volumeError } from "./volume-error.ts";
import type {
  ClaimedVolumes,
  ReadyVolume,
  VolumePlugin,
  VolumeRequest,
  VolumeSetUp,
  VolumeSource,
} from "./volume-plugin.ts";

/** Sets up and tears down the volumes of pods on the host. Both may be repeated; for one pod, calls come one at a time. */
export interface PodVolumes {
  /**
   * Resolves when all content of the volumes is known, so that the pod's sandbox may be made; containers wait for the
   * result's `finished`. It is called at every sync of the pod, and does little where nothing changed. Rejects with one
   * `VolumeError` that names every volume that cannot be set up, once no work is under way any more.
   */
  setUp(pod: Pod, signal?: AbortSignal): Promise<PodVolumeSetUp>;
  /**
   * Undoes what `setUp` made; host paths stay. Rejects, and removes no directory, while something is still mounted. The
   * signal ends the wait for drivers that do not answer.
   */
  tearDown(uid: string, signal?: AbortSignal): Promise<void>;
}

/** Where the volumes of a pod are, or will be in a moment. */
export interface PodVolumeSetUp {
  /** The volumes by their names in the pod, without those that no container uses. */
  volumes: ReadonlyMap<string, ReadyVolume>;
  /**
   * Resolves when all volumes may be used; rejects as `setUp` does, once no work is under way any more. The caller
   * waits for it before it does anything else with the volumes.
   */
  finished: Promise<void>;
}

interface PodVolumesDeps {
  files: Files;
  mounts: Pick<Mounts, "unmount">;
  plugins: readonly VolumePlugin[];
  /** Undefined without an API server. */
  claims: ClaimedVolumes | undefined;
  subPaths: Pick<SubPaths, "cleanUp">;
}

/** Manages the volumes of all pods. Each volume is set up by the plugin for its kind. */
export function createPodVolumes(deps: PodVolumesDeps, options: { rootDirectory: string }): PodVolumes {
  const pluginOf = (source: VolumeSource): VolumePlugin => {
    const plugin = deps.plugins.find(({ supports }) => supports(source));
    if (plugin === undefined)
      throw new VolumeSetUpError("unsupported", "volumes of this kind are not supported by this version of nodelet");
    return plugin;
  };

  const findSource = async (pod: Pod, volume: Volume, signal: AbortSignal): Promise<VolumeSource> => {
    if (!volume.persistentVolumeClaim && !volume.ephemeral) return { kind: "pod", volume };
    if (deps.claims === undefined)
      throw new VolumeSetUpError("unsupported", "volume claims need an API server, and there is none here");
    return await deps.claims.resolve(pod, volume, signal);
  };

  return {
    async setUp(pod, signal = new AbortController().signal) {
      const directories = volumeDirectories(options.rootDirectory, podReference(pod).uid);
      const volumes = findUsedVolumes(pod);
      const found = await Promise.allSettled(
        volumes.map(async (volume): Promise<FoundVolume> => {
          const source = await findSource(pod, volume, signal);
          const request = { pod, volumeName: volume.name, source, directories, signal };
          return { plugin: pluginOf(source), request };
        }),
      );
      const admissions = admitAll(found);
      // All set-ups run to their ends even where one has failed, so that none is left under way and one error names all.
      const begun = await Promise.allSettled(
        found.map(async (outcome) => {
          if (outcome.status === "rejected") throw outcome.reason;
          const { plugin, request } = outcome.value;
          await admissions.get(plugin);
          return await plugin.setUp(request);
        }),
      );
      const finished = finish(volumes, begun);
      finished.catch(() => undefined);
      if (begun.some(({ status }) => status === "rejected")) await finished;
      const ready = new Map<string, ReadyVolume>();
      for (const [index, { name }] of volumes.entries()) {
        const outcome = begun[index];
        if (outcome?.status !== "fulfilled") continue;
        const source = found[index]?.status === "fulfilled" ? found[index].value.request.source : undefined;
        ready.set(name, { ...outcome.value.volume, ...(source && volumeGroupOf(source)) });
      }
      return { volumes: ready, finished };
    },

    async tearDown(uid, signal) {
      const directories = volumeDirectories(options.rootDirectory, uid);
      deps.claims?.forget?.(uid);
      for (const plugin of deps.plugins) plugin.forget?.(uid);
      // A sub path that is still mounted keeps its volume from being unmounted.
      await deps.subPaths.cleanUp(uid);
      await tearDownVolumes(deps, directories, signal);
    },
  };
}

interface FoundVolume {
  readonly plugin: VolumePlugin;
  readonly request: VolumeRequest;
}

/** Asks each plugin that wants to be asked once, about all of the pod's volumes that are its own. */
function admitAll(found: readonly PromiseSettledResult<FoundVolume>[]): ReadonlyMap<VolumePlugin, Promise<void>> {
  const known = found.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const admissions = new Map<VolumePlugin, Promise<void>>();
  for (const plugin of new Set(known.map((volume) => volume.plugin))) {
    if (plugin.admit === undefined) continue;
    const own = known.filter((volume) => volume.plugin === plugin);
    admissions.set(plugin, plugin.admit(own.map(({ request }) => request)));
  }
  return admissions;
}

async function finish(volumes: readonly Volume[], begun: readonly PromiseSettledResult<VolumeSetUp>[]): Promise<void> {
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
}

/** A volume that no container uses is not set up and cannot keep the pod from starting, as upstream. */
function findUsedVolumes(pod: Pod): Volume[] {
  const used = new Set(
    podContainers(pod).flatMap(({ container: { volumeMounts = [], volumeDevices = [], env = [] } }) => [
      ...[...volumeMounts, ...volumeDevices].map(({ name }) => name),
      ...env.flatMap(({ valueFrom }) => valueFrom?.fileKeyRef?.volumeName ?? []),
    ]),
  );
  return (pod.spec?.volumes ?? []).filter(({ name }) => used.has(name));
}
