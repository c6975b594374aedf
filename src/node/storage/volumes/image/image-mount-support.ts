/** The runtime's answer to Version; the name is empty where it has not answered. */
export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
}

/** The first release of each runtime that mounts an image, and the first that mounts a part of one. */
const FIRST_RELEASES: Readonly<Record<string, { whole: Release; subPath: Release }>> = {
  containerd: { whole: [2, 1], subPath: [2, 2] },
  "cri-o": { whole: [1, 31], subPath: [1, 33] },
};

type Release = readonly [major: number, minor: number];

/**
 * Why the runtime cannot mount an image, or a sub path of one; undefined where it can, or where that is unknown. CRI has no
 * flag for it: an older runtime takes the mount for one of an empty host path, or mounts the whole image.
 */
export function findImageMountProblem(
  { name, version }: RuntimeVersion,
  wanted: { readonly subPath: boolean },
): string | undefined {
  const first = FIRST_RELEASES[name]?.[wanted.subPath ? "subPath" : "whole"];
  const own = parseRelease(version);
  if (first === undefined || own === undefined || !isBefore(own, first)) return undefined;
  const what = wanted.subPath ? "sub paths of image volumes" : "image volumes";
  return `${name} ${version} does not support ${what}, which need ${name} ${first.join(".")} or later`;
}

function parseRelease(version: string): Release | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

function isBefore([major, minor]: Release, [otherMajor, otherMinor]: Release): boolean {
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}
