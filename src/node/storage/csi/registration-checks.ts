import { CSI_PLUGIN } from "../../../api/csi-volumes.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import type { Plugin } from "../plugins/plugin-handler.ts";
import { type CsiVersion, compareVersions, findHighestSupportedVersion, formatVersion } from "./csi-version.ts";

/** The longest name of a CSI driver (pkg/apis/storage/validation, ValidateCSIDriverName). */
const MAX_NAME_LENGTH = 63;

/** A plugin's version, or why it cannot be registered, in upstream's words. */
type VersionVerdict = { readonly version: CsiVersion } | { readonly error: string };

/**
 * `caller` is upstream's name of the step, with which its messages begin. `registered` holds the versions under the
 * same name.
 */
export function checkVersions(
  caller: "ValidatePlugin" | "RegisterPlugin",
  { name, supportedVersions }: Plugin,
  registered: readonly CsiVersion[],
): VersionVerdict {
  const fail = (reason: string) => ({
    error: `${CSI_PLUGIN}: ${caller} for CSI driver ${JSON.stringify(name)} failed. ${reason}`,
  });
  if (supportedVersions.length === 0) return fail("Plugin returned an empty list for supported versions");
  const highest = findHighestSupportedVersion(supportedVersions);
  if ("error" in highest) {
    const list = `[${supportedVersions.map((version) => JSON.stringify(version)).join(" ")}]`;
    return fail(`None of the versions specified ${list} are supported. err=${highest.error}`);
  }
  const higher = registered.find((version) => compareVersions(version, highest.version) > 0);
  if (higher === undefined) return highest;
  const version = JSON.stringify(formatVersion(higher));
  return fail(`Another driver with the same name is already registered with a higher supported version: ${version}`);
}

/** Checks what upstream does not: the name, which becomes a directory, and the endpoint, a socket on this machine. */
export function findPlaceProblem({ name, endpoint }: Plugin): string | undefined {
  const problems = name.length > MAX_NAME_LENGTH ? [`must be no more than ${MAX_NAME_LENGTH} characters`] : [];
  problems.push(...checkDnsSubdomain(name.toLowerCase()));
  if (problems.length > 0) return `invalid driver name: ${problems.join("; ")}`;
  const isAbsolute = endpoint.startsWith("/") || endpoint.startsWith("unix:///");
  return isAbsolute ? undefined : "the endpoint must be an absolute path";
}
