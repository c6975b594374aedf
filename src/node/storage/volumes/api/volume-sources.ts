import type { ConfigMap, LabelSelector, Pod, Secret } from "../../../../api/gen/types.ts";
import type { ResourceList } from "../../../../api/resources.ts";

/**
 * Where volumes get their content from. What there is not rejects with an ApiError `NotFound`; every other failure with
 * words for the pod's event, which never hold any content. Asked at each set-up, so what is unchanged should be at hand.
 */
export interface VolumeSources {
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret>;
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap>;
  /** The same token as before until it is time for another. `expiresAt`: milliseconds since the epoch. */
  token(request: VolumeTokenRequest, signal: AbortSignal): Promise<{ token: string; expiresAt: number }>;
  /**
   * The PEM texts of the trust bundle of that name, or of all bundles of a signer that have the labels. None for a signer
   * who has none of them. Absent where the API has no such bundles.
   */
  clusterTrustBundles?(selection: ProjectedTrustBundles, signal: AbortSignal): Promise<readonly string[]>;
  /** What the downward API tells of the node: its resources for pods. */
  podFacts(pod: Pod): { readonly allocatable: ResourceList };
}

/** A token that is valid only as long as the pod is there. */
export interface VolumeTokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Empty: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly pod: { readonly name: string; readonly uid: string };
}

/** Which trust bundles a volume shows. */
export type ProjectedTrustBundles =
  | { readonly name: string }
  /** `labelSelector`: undefined for none of the signer's, empty for all. */
  | { readonly signerName: string; readonly labelSelector: LabelSelector | undefined };
