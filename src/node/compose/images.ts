import { createCredentialProviders } from "../runtime/credential-providers/credential-providers.ts";
import { loadCredentialProviders } from "../runtime/credential-providers/load-providers.ts";
import { createImageClaims, type ImageClaims } from "../runtime/images/image-claims.ts";
import { createImageEnsurer, type ImageEnsurer } from "../runtime/images/image-ensurer.ts";
import { createNodeRegistryConfig } from "../runtime/images/node-registry-config.ts";
import { createPullProgress } from "../runtime/images/pull-progress.ts";
import { createPullRecords, type PullRecords } from "../runtime/images/pull-records.ts";
import { readVerificationPolicy } from "../runtime/images/verification-policy.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";
import type { PodData } from "./pod-data.ts";

/** Images: whose credentials they are pulled with, and who may use them. */
export interface ImageParts {
  readonly ensurer: ImageEnsurer;
  readonly claims: ImageClaims;
  /** Forgets who may use images that were not on the machine at `listedAt`, milliseconds since the epoch. */
  readonly prune: (imageIds: readonly string[], listedAt: number) => Promise<void>;
}

interface ImageNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly data: Pick<PodData, "pullSecrets">;
}

const DEFAULT_PARALLEL_PULLS = 5;

/** Rejects where a plugin for credentials cannot work: the node does not start with such a plugin. */
export async function composeImages(foundation: Foundation, { cluster, data }: ImageNeighbours): Promise<ImageParts> {
  const { ports, config, timeline } = foundation;
  const { host, cri, log, metrics } = ports;
  const { clock, files } = host;
  const { kubelet } = config;
  const records = composePullRecords(foundation);
  const plugins = await composeCredentialProviders(foundation, cluster);
  const parallelPulls = kubelet.serializeImagePulls ? 1 : (kubelet.maxParallelImagePulls ?? DEFAULT_PARALLEL_PULLS);
  const claims = createImageClaims({ clock });
  const ensurer = createImageEnsurer(
    {
      images: cri.images,
      clock,
      timeline,
      metrics,
      records,
      claims,
      progress: createPullProgress({ clock, listDownloads: ports.listDownloads }),
      pullSecrets: data.pullSecrets.of,
      nodeEntries: createNodeRegistryConfig({ files, clock, log }, config.registryConfigs).entries,
      providedCredentials: plugins?.provide,
    },
    { parallelPulls, rate: { qps: kubelet.registryPullQPS, burst: kubelet.registryBurst } },
  );
  return { ensurer, claims, prune: async (imageIds, listedAt) => await records?.prune(imageIds, listedAt) };
}

function composePullRecords({ ports, config }: Foundation): PullRecords | undefined {
  if (!config.featureGates.KubeletEnsureSecretPulledImages) return undefined;
  const { host, cri, log, metrics } = ports;
  const { imagePullCredentialsVerificationPolicy, preloadedImagesVerificationAllowlist = [] } = config.kubelet;
  return createPullRecords(
    { files: host.files, images: cri.images, clock: host.clock, log, metrics },
    {
      rootDirectory: config.rootDirectory,
      policy: readVerificationPolicy(imagePullCredentialsVerificationPolicy, preloadedImagesVerificationAllowlist),
    },
  );
}

/** Undefined where the configuration names none. */
async function composeCredentialProviders({ ports, config }: Foundation, cluster: ClusterParts | undefined) {
  const { credentialProviders, featureGates } = config;
  if (credentialProviders === undefined) return undefined;
  const { host, log, metrics } = ports;
  const { clock, files, programs } = host;
  const tokensAllowed = featureGates.KubeletServiceAccountTokenForCredentialProviders;
  const providers = await loadCredentialProviders(files, { ...credentialProviders, tokensAllowed });
  return createCredentialProviders(
    { programs, clock, log, metrics, serviceAccounts: cluster?.refs.accounts },
    providers,
    credentialProviders.binDirectory,
  );
}
