/** The numbers of a version, most significant first. */
export type CsiVersion = readonly number[];

/** Upstream's parser of "generic" versions accepts anything after the numbers (apimachinery/pkg/util/version). */
const VERSION = /^\s*v?([0-9]+(?:\.[0-9]+)*)/;

/** Returns the highest supported version of a CSI driver, or why there is none, in upstream's words. */
export function findHighestSupportedVersion(
  versions: readonly string[],
): { readonly version: CsiVersion } | { readonly error: string } {
  let highest: CsiVersion | undefined;
  let problem = "<nil>";
  // The loop goes from the end, so that the reported problem is the one that upstream reports: that of the first bad
  // version.
  for (const text of versions.toReversed()) {
    const parsed = parseVersion(text);
    if ("error" in parsed) problem = parsed.error;
    else if ((parsed.version[0] ?? 0) <= 1 && (highest === undefined || compareVersions(highest, parsed.version) < 0)) {
      highest = parsed.version;
    }
  }
  if (highest === undefined) {
    const reported = `(${formatList(versions)}) reported: ${problem}`;
    return { error: `could not find a highest supported version from versions ${reported}` };
  }
  if (highest[0] === 1) return { version: highest };
  return { error: `highest supported version reported is ${formatVersion(highest)}, must be v1.x` };
}

/** Negative where the first version is the lower one. A missing number counts as zero: 1.4 is 1.4.0. */
export function compareVersions(a: CsiVersion, b: CsiVersion): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Formats a version for people. */
export function formatVersion(version: CsiVersion): string {
  return version.join(".");
}

function parseVersion(text: string): { readonly version: CsiVersion } | { readonly error: string } {
  const numbers = VERSION.exec(text)?.[1];
  if (numbers === undefined) return { error: `could not parse ${JSON.stringify(text)} as version` };
  const components = numbers.split(".");
  if (components.length < 2) return { error: `illegal version string ${JSON.stringify(text)}` };
  const [major = ""] = components;
  if (major.startsWith("0") && major !== "0") {
    return { error: `illegal zero-prefixed version component ${JSON.stringify(major)} in ${JSON.stringify(text)}` };
  }
  return { version: components.map(Number) };
}

/** Formats a list as Go prints it. */
function formatList(items: readonly string[]): string {
  return `[${items.join(" ")}]`;
}
