import { splitServiceRanges } from "../../api/service-addresses.ts";
import type { Authorizer } from "../access/rbac.ts";
import { createApiServiceKeeper } from "../bootstrap/api-service-keeper.ts";
import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import type { StartHooks } from "../control-loop/start-hooks.ts";
import { createAddressRepair } from "../controllers/addresses/address-repair.ts";
import { createDefaultRangeKeeper } from "../controllers/addresses/default-range-keeper.ts";
import { createServiceRangeController } from "../controllers/addresses/service-range-controller.ts";
import { createBootstrapSigner } from "../controllers/bootstrap-signer.ts";
import { createCertificateApprover } from "../controllers/certificate-approver.ts";
import { createCertificateSigner } from "../controllers/certificate-signer.ts";
import { createClusterRoleAggregation } from "../controllers/cluster-role-aggregation.ts";
import { createDeviceClaimController } from "../controllers/devices/device-claim-controller.ts";
import {
  createBootstrapTokenCleaner,
  createCertificateRequestCleaner,
  createEventCleaner,
  createPodCertificateRequestCleaner,
} from "../controllers/expired-objects.ts";
import { createGarbageCollector } from "../controllers/garbage-collector.ts";
import { createLegacyTokenController } from "../controllers/legacy-tokens.ts";
import { createNamespaceController } from "../controllers/namespaces.ts";
import { createPolicyStatus } from "../controllers/policies/policy-status.ts";
import { createResourceQuotaController } from "../controllers/resource-quotas.ts";
import { createRootCaPublisher } from "../controllers/root-ca-publisher.ts";
import { createServiceAccountController } from "../controllers/service-accounts.ts";
import { createEndpointsController } from "../controllers/traffic/endpoints-controller.ts";
import { createNodeLoadBalancer } from "../controllers/traffic/load-balancer.ts";
import { createEndpointSliceMirroring } from "../controllers/traffic/mirroring-controller.ts";
import { createEndpointSliceController } from "../controllers/traffic/slice-controller.ts";
import { createDanglingSchemas } from "../flow-control/dangling-schemas.ts";
import { createManifests } from "../manifests/manifests.ts";
import { NODE_MONITOR_DEFAULTS } from "../node-lifecycle/monitor-settings.ts";
import { createNodeMonitor } from "../node-lifecycle/node-monitor.ts";
import { createPodGarbageCollector } from "../node-lifecycle/pod-garbage-collector.ts";
import { createPodRangeAllocator } from "../node-lifecycle/pod-ranges.ts";
import { createTaintEviction } from "../node-lifecycle/taint-eviction.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";
import type { ForeignResources, ReadForeign } from "../ports/foreign-reads.ts";
import { createApplier } from "../registry/in-process.ts";
import { listNamespacedResources, resolveKind } from "../registry/kind-table.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { createPodBinder } from "../registry/subresources/bind-pod.ts";
import { createScaleReader } from "../registry/subresources/read-scale.ts";
import { createScaleTargets } from "../registry/subresources/scale-targets.ts";
import type { SchedulerDeps } from "../scheduler/placement-effects.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { createAttachDetach } from "../volumes/attach-detach.ts";
import { createEphemeralClaims } from "../volumes/ephemeral-claims.ts";
import { createLocalProvisioner } from "../volumes/local-provisioner.ts";
import { createLocalTopology } from "../volumes/local-topology.ts";
import { createClaimProtection, createVolumeProtection } from "../volumes/use-protection.ts";
import { createVolumeBinder } from "../volumes/volume-binder.ts";
import { createPodAutoscalers } from "../workloads/autoscaler/autoscaler-controller.ts";
import { AUTOSCALER_DEFAULTS } from "../workloads/autoscaler/autoscaler-settings.ts";
import { createCronJobController } from "../workloads/cron-job/cron-job-controller.ts";
import { createDaemonSetController } from "../workloads/daemon-set/daemon-set-controller.ts";
import { createDeployments } from "../workloads/deployments/deployment-controller.ts";
import { createDisruptionBudgets } from "../workloads/disruption/budget-controller.ts";
import { createStaleDisruptions } from "../workloads/disruption/stale-disruptions.ts";
import { createJobController } from "../workloads/job/job-controller.ts";
import { createJobOrphanController } from "../workloads/job/orphan-pods.ts";
import { createTtlAfterFinished } from "../workloads/job/ttl-after-finished.ts";
import { createReplicaSets, createReplicationControllers } from "../workloads/replicas/replica-controller.ts";
import { createStatefulSetController } from "../workloads/stateful-set/stateful-set-controller.ts";
import type { ControllerOptions, ControlPlaneConfig, ControlPlaneDeps } from "./control-plane-ports.ts";
import { createKindTypes } from "./kind-types.ts";

interface ControllerParts
  extends ControllerDeps,
    Pick<ControlPlaneDeps, "certificates" | "tokens" | "localDirectories" | "manifests"> {
  registry: RegistryDeps;
  hooks: Pick<StartHooks, "whileRunning">;
  authorizer: Authorizer;
  resourceMetrics: ReadonlyMap<string, ComputedObjects>;
  readForeign: ReadForeign;
  foreignResources(): readonly ForeignResources[];
  timeline: SchedulerDeps["timeline"];
}

/** The controllers that run beside the API server. */
export function composeControllers(
  parts: ControllerParts,
  options: ControllerOptions & Pick<ControlPlaneConfig, "serviceCidr" | "endpoint">,
): readonly Controller[] {
  const { scheduler = true, controllers = true } = options;
  const { localDirectories, manifests, hooks } = parts;
  return [
    // In other clusters, the API server itself deletes events, tells flow schemas of their levels, and keeps its own
    // service, its default range and the addresses of services.
    createEventCleaner(parts),
    createDanglingSchemas(parts),
    createApiServiceKeeper(parts, options.endpoint),
    createDefaultRangeKeeper(parts, { cidrs: splitServiceRanges(options.serviceCidr) }),
    hooks.whileRunning(createAddressRepair(parts), "poststarthook/start-service-ip-repair-controllers"),
    ...(scheduler ? [createScheduler({ ...parts, bind: createPodBinder(parts.registry) })] : []),
    // In other clusters, a provisioner is a program beside the controller manager.
    ...(localDirectories === undefined
      ? []
      : [createLocalProvisioner(parts, localDirectories), createLocalTopology(parts, localDirectories.nodeName)]),
    ...(manifests === undefined ? [] : [composeManifests(parts, manifests)]),
    ...(controllers
      ? [
          ...composeObjectControllers(parts),
          ...composeAutoscalers(parts, options),
          ...composeWorkloadControllers(parts),
          ...composeNodeControllers(parts, options),
        ]
      : []),
  ];
}

function composeManifests(
  parts: ControllerParts,
  { files, ...options }: NonNullable<ControlPlaneDeps["manifests"]>,
): Controller {
  return createManifests({ ...parts, files, applier: createApplier(parts.registry, "nodelet") }, options);
}

/** The controllers of objects that do not depend on a node. */
function composeObjectControllers(parts: ControllerParts): readonly Controller[] {
  const { certificates, tokens, authorizer } = parts;
  const { kinds } = parts.registry;
  const namespacedResources = () => listNamespacedResources(kinds);
  const rootCa = certificates.certificatePem;
  const requests = { ...parts, authorize: authorizer.authorize, readCertificateRequest: certificates.readRequest };
  return [
    createNamespaceController({ ...parts, namespacedResources }),
    createResourceQuotaController({ ...parts, namespacedResources }),
    createServiceAccountController(parts),
    createRootCaPublisher(parts, { rootCa }),
    createGarbageCollector({ ...parts, resolveKind: (apiVersion, kind) => resolveKind(kinds, apiVersion, kind) }),
    createClusterRoleAggregation(parts),
    createPolicyStatus({ ...parts, kinds: () => kinds.all(), typeOf: createKindTypes(parts.reader) }),
    createCertificateApprover(requests),
    createCertificateSigner({ ...requests, sign: certificates.sign }),
    createCertificateRequestCleaner(parts),
    createPodCertificateRequestCleaner(parts),
    createBootstrapTokenCleaner(parts),
    createBootstrapSigner(parts),
    createLegacyTokenController({ ...parts, issueLegacyToken: tokens.issueLegacy }, { rootCa }),
    createServiceRangeController(parts),
    createEndpointSliceController(parts),
    createEndpointSliceMirroring(parts),
    createEndpointsController(parts),
    createVolumeBinder(parts),
    createEphemeralClaims(parts),
    createDeviceClaimController(parts),
    createClaimProtection(parts),
    createVolumeProtection(parts),
  ];
}

/** The controllers of what makes pods, each by the name of its kind. */
function composeWorkloadControllers(parts: ControllerParts): readonly Controller[] {
  const readScale = createScaleReader(parts.registry.kinds, parts.reader);
  return [
    createCronJobController(parts),
    createDaemonSetController(parts),
    createDeployments(parts),
    createDisruptionBudgets({ ...parts, readScale }),
    createReplicaSets(parts),
    createReplicationControllers(parts),
    createStaleDisruptions(parts),
    createJobController(parts),
    createJobOrphanController(parts),
    createStatefulSetController(parts),
    createTtlAfterFinished(parts),
  ];
}

/** The controller of autoscalers, which scales by what the pods on the nodes use, and by what servers of others measure. */
function composeAutoscalers(parts: ControllerParts, { autoscaler }: ControllerOptions): readonly Controller[] {
  const podMetrics = parts.resourceMetrics.get("pods.metrics.k8s.io");
  if (podMetrics === undefined) return [];
  const targets = createScaleTargets(parts.registry);
  const { kinds } = parts.registry;
  const pluralOf = (group: string, kind: string) =>
    kinds.all().find((row) => row.group === group && row.kind === kind)?.plural;
  const deps = { ...parts, targets, podMetrics, pluralOf };
  return [createPodAutoscalers(deps, { ...AUTOSCALER_DEFAULTS, ...autoscaler })];
}

/** The controllers of nodes and of the pods and volumes on them. */
function composeNodeControllers(
  parts: ControllerParts,
  { clusterCidr, nodeMaskSize, nodeMaskSizeIpv6, nodeMonitor }: ControllerOptions,
): readonly Controller[] {
  return [
    ...(clusterCidr === undefined
      ? []
      : [createPodRangeAllocator(parts, { clusterCidr, nodeMaskSize, nodeMaskSizeIpv6 })]),
    createNodeLoadBalancer(parts),
    createNodeMonitor(parts, { ...NODE_MONITOR_DEFAULTS, ...nodeMonitor }),
    createTaintEviction(parts),
    createPodGarbageCollector(parts),
    createAttachDetach(parts),
  ];
}
