import type { Pod } from "../../../../api/gen/types.ts";
import type { ResourceList } from "../../../../api/resources.ts";
import { EMPTY_DIR_PLUGIN } from "../volume-directories.ts";
import type { VolumeDirectoryMaker, VolumeDirectoryPlan } from "../volume-directory-maker.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin } from "../volume-plugin.ts";
import { computeHugepageSize, isHugepageMedium } from "./hugepage-size.ts";
import { computeMemorySize } from "./memory-size.ts";

interface EmptyDirPluginDeps {
  readonly directoryMaker: VolumeDirectoryMaker;
  /** What the node has for pods; a volume in memory is never larger. */
  allocatable(): ResourceList;
}

/** Volumes that are empty when the pod starts, and are removed with the pod. */
export function createEmptyDirPlugin({ directoryMaker, allocatable }: EmptyDirPluginDeps): VolumePlugin {
  return {
    name: EMPTY_DIR_PLUGIN,
    supports: (source) => source.kind === "pod" && source.volume.emptyDir !== undefined,
    async setUp({ pod, volumeName, source, directories, signal }) {
      const { medium = "", sizeLimit } = (source.kind === "pod" ? source.volume.emptyDir : undefined) ?? {};
      const memory = computeMedium(pod, medium, { sizeLimit, allocatable: allocatable()["memory"] });
      const group = pod.spec?.securityContext?.fsGroup;
      const plan = { pluginName: EMPTY_DIR_PLUGIN, volumeName, memory, group };
      const { path: hostPath } = await directoryMaker.ensure(directories, plan, signal);
      const volume = { kind: "files", hostPath, readOnly: false, relabel: true } as const;
      return { volume, finished: Promise.resolve() };
    },
    tearDown: async ({ path }) => await directoryMaker.remove(path),
  };
}

function computeMedium(
  pod: Pod,
  medium: string,
  bounds: { sizeLimit: string | undefined; allocatable: string | undefined },
): VolumeDirectoryPlan["memory"] {
  if (medium === "") return undefined;
  if (medium === "Memory") return { sizeBytes: computeMemorySize(pod, bounds) };
  if (isHugepageMedium(medium)) return computeHugepageSize(pod, medium);
  throw new VolumeSetUpError("invalid", `unknown storage medium ${JSON.stringify(medium)}`);
}
