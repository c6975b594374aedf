import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumeSources } from "./volume-sources.ts";

/** The sources of volumes on a node without an API server, where only the pod and the node itself can be read. */
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
