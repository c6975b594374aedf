import { SERVICE_ACCOUNTS } from "../../api/kube-resource.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createCredentialProviders } from "../runtime/credential-providers/credential-providers.ts";
import type { LoadedProviders } from "../runtime/credential-providers/load-providers.ts";
import type { ServiceAccountReader } from "../runtime/credential-providers/service-account-proof.ts";
import { createImageClaims, type ImageClaims } from "../runtime/images/image-claims.ts";
import { createImageEnsurer, type ImageEnsurer } from "../runtime/images/image-ensurer.ts";
import { createNodeRegistryConfig } from "../runtime/images/node-registry-config.ts";
import { createPullRecords, type PullRecords } from "../runtime/images/pull-records.ts";
import { readVerificationPolicy } from "../runtime/images/verification-policy.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";
import type { RefParts } from "./refs.ts";

/** Images: whose credentials they are pulled with, and who may use them. */
export interface ImageParts {
  readonly ensurer: ImageEnsurer;
  readonly claims: ImageClaims;
  /** Forgets who may use images that were not on the machine at `listedAt`, milliseconds since the epoch. */
  readonly prune: (imageIds: readonly string[], listedAt: number) => Promise<void>;
}

interface ImagePartsDeps {
  readonly ports: NodeAgentPorts;
  readonly timeline: Timeline;
  readonly cluster: { readonly kube: KubePorts; readonly refs: Pick<RefParts, "pullSecrets" | "tokens"> } | undefined;
  /** Undefined: the node has no credential providers. */
  readonly providers: LoadedProviders | undefined;
}

const DEFAULT_PARALLEL_PULLS = 5;
/** What an API server gives where a request names no life. */
const TOKEN_SECONDS = 3_600;

/** Builds them bottom-up. */
export function composeImages(
  { ports, timeline, cluster, providers }: ImagePartsDeps,
  config: NodeAgentConfig,
): ImageParts {
  const { host, log, metrics } = ports;
  const { clock, files, programs } = host;
  const { images } = ports.cri;
  const { kubelet, credentialProviders } = config;
  const records = config.featureGates.KubeletEnsureSecretPulledImages ? composeRecords(ports, config) : undefined;
  const plugins =
    providers &&
    createCredentialProviders(
      { programs, clock, log, metrics, serviceAccounts: cluster && readServiceAccounts(cluster) },
      providers,
      credentialProviders?.binDirectory ?? "",
    );
  const parallelPulls = kubelet.serializeImagePulls ? 1 : (kubelet.maxParallelImagePulls ?? DEFAULT_PARALLEL_PULLS);
  const claims = createImageClaims({ clock });
  const ensurer = createImageEnsurer(
    {
      images,
      clock,
      timeline,
      metrics,
      records,
      claims,
      pullSecrets: cluster?.refs.pullSecrets.of,
      nodeEntries: createNodeRegistryConfig({ files, clock, log }, config.registryConfigs).entries,
      providedCredentials: plugins?.provide,
    },
    { parallelPulls },
  );
  return { ensurer, claims, prune: async (imageIds, listedAt) => await records?.prune(imageIds, listedAt) };
}

function composeRecords({ host, cri, log, metrics }: NodeAgentPorts, config: NodeAgentConfig): PullRecords {
  const { imagePullCredentialsVerificationPolicy, preloadedImagesVerificationAllowlist = [] } = config.kubelet;
  return createPullRecords(
    { files: host.files, images: cri.images, clock: host.clock, log, metrics },
    {
      rootDirectory: config.rootDirectory,
      policy: readVerificationPolicy(imagePullCredentialsVerificationPolicy, preloadedImagesVerificationAllowlist),
    },
  );
}

function readServiceAccounts({ kube, refs }: NonNullable<ImagePartsDeps["cluster"]>): ServiceAccountReader {
  return {
    read: async (name, signal) => await kube.client.get(SERVICE_ACCOUNTS, name, { signal }),
    async token({ audience, ...request }, signal) {
      const wanted = { ...request, audiences: [audience], expirationSeconds: TOKEN_SECONDS };
      return (await refs.tokens.get(wanted, signal)).token;
    },
  };
}
