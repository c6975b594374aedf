/** The runtime's answer to Version; the name is empty where it has not answered. */
export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
}

export type Release = readonly [major: number, minor: number];

/**
 * Says that the runtime is too old for something that CRI has no flag for; undefined where it is not, or where that is
 * unknown. `first` is the first release of each runtime, by its name in lower case: `containerd 1.6.20 does not support
 * image volumes, which need containerd 2.1 or later`.
 */
export function explainOldRuntime(
  { name, version }: RuntimeVersion,
  what: string,
  first: Readonly<Record<string, Release>>,
): string | undefined {
  const needed = Object.hasOwn(first, name) ? first[name] : undefined;
  const own = parseRelease(version);
  if (needed === undefined || own === undefined || !isBefore(own, needed)) return undefined;
  return `${name} ${version} does not support ${what}, which need ${name} ${needed.join(".")} or later`;
}

function parseRelease(version: string): Release | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

function isBefore([major, minor]: Release, [otherMajor, otherMinor]: Release): boolean {
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}
