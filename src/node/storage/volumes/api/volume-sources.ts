import type { ConfigMap, LabelSelector, Pod, Secret } from "../../../../api/gen/types.ts";
import type { ResourceList } from "../../../../api/resources.ts";

/**
 * Where volumes get their content from. A missing object rejects with an ApiError `NotFound`; other failures have messages
 * for the pod's event, which never contain any content. Each set-up asks, so unchanged objects should be in memory.
 */
export interface VolumeSources {
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret>;
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap>;
  /** Resolves with the same token until it is due to be renewed. `expiresAt` is in milliseconds since the epoch. */
  token(request: VolumeTokenRequest, signal: AbortSignal): Promise<{ token: string; expiresAt: number }>;
  /**
   * The PEM texts of the trust bundle of that name, or of all the signer's bundles with the labels, which may be none.
   * Absent where the API has no trust bundles.
   */
  clusterTrustBundles?(selection: ProjectedTrustBundles, signal: AbortSignal): Promise<readonly string[]>;
  /** What the source can be shown of its certificate now. Absent where there is no API server. */
  podCertificate?(source: CertificateSource): CertificateAnswer;
  /** What the downward API shows of the node: its resources for pods. */
  podFacts(pod: Pod): { readonly allocatable: ResourceList };
}

/** A request for a token that is valid only as long as the pod exists. */
export interface VolumeTokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Empty: the API server's own audience. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly pod: { readonly name: string; readonly uid: string };
  /** The token that the volume shows already, of a process before this one; undefined where it shows none. */
  shown?(): Promise<string | undefined>;
}

/** One `podCertificate` source of a pod's volume, by its place among the volume's sources. */
export interface CertificateSource {
  readonly podUid: string;
  readonly volumeName: string;
  readonly sourceIndex: number;
}

/** A key and the certificates for it, as PEM, or why there are none: not yet, or never. */
export type CertificateAnswer =
  | { readonly kind: "issued"; readonly keyPem: string; readonly chainPem: string }
  /** `isUsual`: nothing is wrong yet. */
  | { readonly kind: "waiting"; readonly message: string; readonly isUsual: boolean }
  | { readonly kind: "refused"; readonly message: string };

/** The trust bundles that a volume shows. */
export type ProjectedTrustBundles =
  | { readonly name: string }
  /** An undefined `labelSelector` selects none of the signer's bundles, an empty one all of them. */
  | { readonly signerName: string; readonly labelSelector: LabelSelector | undefined };
