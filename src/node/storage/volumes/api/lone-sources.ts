import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumeSources } from "./volume-sources.ts";

/** The sources of a node without an API server: what the pod itself and the node tell is all that there is. */
export function createLoneSources({ podFacts }: Pick<VolumeSources, "podFacts">): VolumeSources {
  const refuse = (what: string) => async () =>
    await Promise.reject(new VolumeSetUpError("unsupported", `${what} need an API server, and there is none here`));
  return {
    secret: refuse("secret volumes"),
    configMap: refuse("configMap volumes"),
    token: refuse("service account tokens"),
    clusterTrustBundles: refuse("cluster trust bundles"),
    podFacts,
  };
}
