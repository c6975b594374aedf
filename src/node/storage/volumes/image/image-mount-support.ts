import { explainOldRuntime, type Release, type RuntimeVersion } from "../../../../cri/runtime-release.ts";

/** The first release of each runtime that mounts an image, and the first that mounts a part of one. */
const WHOLE: Readonly<Record<string, Release>> = { containerd: [2, 1], "cri-o": [1, 31] };
const SUB_PATH: Readonly<Record<string, Release>> = { containerd: [2, 2], "cri-o": [1, 33] };

/**
 * Why the runtime cannot mount an image, or a sub path of one; undefined where it can, or where that is unknown. An older
 * runtime takes the mount for one of an empty host path, or mounts the whole image.
 */
export function findImageMountProblem(
  runtime: RuntimeVersion,
  wanted: { readonly subPath: boolean },
): string | undefined {
  return wanted.subPath
    ? explainOldRuntime(runtime, "sub paths of image volumes", SUB_PATH)
    : explainOldRuntime(runtime, "image volumes", WHOLE);
}
