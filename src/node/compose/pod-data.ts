import { createManifestObjects, type ManifestObjects } from "../cluster/refs/manifest-objects.ts";
import type { ObjectRefs } from "../cluster/refs/object-refs.ts";
import { createPullSecrets, type PullSecrets } from "../cluster/refs/pull-secrets.ts";
import type { Services } from "../cluster/refs/services.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";

/** What pods read by name: of the API server, or, where there is none, of manifests. */
export interface PodData {
  readonly objects: Pick<ObjectRefs, "configMap" | "secret">;
  readonly pullSecrets: PullSecrets;
  readonly services: Pick<Services, "hasSynced" | "list">;
  /** Takes the config maps and secrets of manifests; undefined where the API server has them. */
  readonly manifests: ManifestObjects | undefined;
}

/** There is nobody who could make one. */
const NO_SERVICES: PodData["services"] = { hasSynced: true, list: () => [] };

/** Chooses where pods read from; without an API server there are no services. */
export function composePodData({ ports, inbox }: Foundation, cluster: ClusterParts | undefined): PodData {
  if (cluster !== undefined) {
    const { objects, pullSecrets, services } = cluster.refs;
    return { objects, pullSecrets, services, manifests: undefined };
  }
  const { log } = ports;
  const manifests = createManifestObjects({ log, onChanged: inbox.offerReferenced });
  const pullSecrets = createPullSecrets({ refs: manifests, log });
  return { objects: manifests, pullSecrets, services: NO_SERVICES, manifests };
}
