import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumeSources } from "./volume-sources.ts";

/** The sources of volumes on a node without an API server, where manifests hold the secrets and config maps. */
export function createLoneSources(
  { secret, configMap }: Pick<VolumeSources, "configMap" | "secret">,
  podFacts: VolumeSources["podFacts"],
): VolumeSources {
  const refuse = (what: string) => async () =>
    await Promise.reject(new VolumeSetUpError("unsupported", `${what} need an API server, and there is none here`));
  return {
    secret,
    configMap,
    token: refuse("service account tokens"),
    clusterTrustBundles: refuse("cluster trust bundles"),
    podFacts,
  };
}
