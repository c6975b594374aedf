import type { Part } from "../../base/run-parts.ts";
import { createStubRequest } from "../../pki/stub-request.ts";
import { createPodRecorder } from "../cluster/events/record-pod.ts";
import { readObjectTtlMs } from "../cluster/node-status/cluster-settings.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { declareCertificateGauge } from "../cluster/pod-certificates/certificate-gauge.ts";
import { createPodCertificates, type PodCertificates } from "../cluster/pod-certificates/pod-certificates.ts";
import { type ClusterTrustBundles, createClusterTrustBundles } from "../cluster/refs/cluster-trust-bundles.ts";
import { createObjectRefs, type ObjectRefs, readRefStrategy } from "../cluster/refs/object-refs.ts";
import { createPodAccounts, type PodAccounts } from "../cluster/refs/pod-accounts.ts";
import { createPodRefs, type PodRefs } from "../cluster/refs/pod-refs.ts";
import { createPullSecrets, type PullSecrets } from "../cluster/refs/pull-secrets.ts";
import { createRuntimeClasses, type RuntimeClasses } from "../cluster/refs/runtime-classes.ts";
import { createServiceAccountTokens, type ServiceAccountTokens } from "../cluster/refs/service-account-tokens.ts";
import { createServices, type Services } from "../cluster/refs/services.ts";
import { createVolumeClaims, type VolumeClaims } from "../cluster/refs/volume-claims.ts";
import type { Foundation } from "./foundation.ts";
import type { KubePorts } from "./node-agent-ports.ts";

/** What pods of a cluster refer to, kept at hand. */
export interface RefParts extends PodRefs {
  readonly objects: ObjectRefs;
  readonly pullSecrets: PullSecrets;
  readonly tokens: ServiceAccountTokens;
  readonly accounts: PodAccounts;
  readonly services: Services;
  readonly runtimeClasses: RuntimeClasses;
  readonly claims: VolumeClaims;
  readonly trustBundles: ClusterTrustBundles;
  readonly certificates: PodCertificates;
  readonly parts: readonly Part[];
}

interface RefNeighbours {
  readonly kube: KubePorts;
  readonly ownNode: Pick<NodeRegistration, "node">;
}

/** Builds the copies of what pods name; a change of one wakes the pods that name it. */
export function composeRefs(
  { ports, config, inbox, timeline }: Foundation,
  { kube, ownNode }: RefNeighbours,
): RefParts {
  const { host, log } = ports;
  const deps = { client: kube.client, clock: host.clock, random: host.random, log };
  const objects = createObjectRefs(deps, {
    strategy: readRefStrategy(config.kubelet.configMapAndSecretChangeDetectionStrategy),
    ttlMs: () => readObjectTtlMs(ownNode.node()),
  });
  const tokens = createServiceAccountTokens(deps);
  const trustBundles = createClusterTrustBundles(deps);
  const certificates = createPodCertificates({
    ...deps,
    nodeName: config.nodeName,
    node: ownNode.node,
    createKey: createStubRequest,
    record: createPodRecorder(timeline),
  });
  declareCertificateGauge(ports.metrics, certificates);
  const services = createServices(deps);
  const runtimeClasses = createRuntimeClasses(deps);
  return {
    ...createPodRefs({ objects, tokens, trustBundles, certificates, onChanged: inbox.offerReferenced }),
    objects,
    pullSecrets: createPullSecrets({ refs: objects, log }),
    tokens,
    accounts: createPodAccounts(kube.client, tokens),
    services,
    runtimeClasses,
    claims: createVolumeClaims(deps),
    trustBundles,
    certificates,
    parts: [
      { name: "secrets and config maps", run: objects.run },
      { name: "tokens", run: tokens.run },
      { name: "trust bundles", run: trustBundles.run },
      { name: "certificates of pods", run: certificates.run },
      { name: "services", run: services.run },
      { name: "runtime classes", run: runtimeClasses.run },
    ],
  };
}
