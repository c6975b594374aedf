import { notFoundError } from "../api/api-error.ts";
import type { Authorizer } from "./access/rbac.ts";
import type { Controller, ControllerDeps } from "./control-loop/controller.ts";
import type { ControlPlaneDeps } from "./control-plane-deps.ts";
import type { ControllerOptions } from "./controller-options.ts";
import { createCertificateApprover } from "./controllers/certificate-approver.ts";
import { createCertificateSigner } from "./controllers/certificate-signer.ts";
import { createClusterRoleAggregation } from "./controllers/cluster-role-aggregation.ts";
import {
  createBootstrapTokenCleaner,
  createCertificateRequestCleaner,
  createEventCleaner,
} from "./controllers/expired-objects.ts";
import { createGarbageCollector } from "./controllers/garbage-collector.ts";
import { createLegacyTokenController } from "./controllers/legacy-tokens.ts";
import { createNamespaceController } from "./controllers/namespaces.ts";
import { createRootCaPublisher } from "./controllers/root-ca-publisher.ts";
import { createServiceAccountController } from "./controllers/service-accounts.ts";
import { createNodeMonitor } from "./node-lifecycle/node-monitor.ts";
import { createPodGarbageCollector } from "./node-lifecycle/pod-garbage-collector.ts";
import { createPodRangeAllocator } from "./node-lifecycle/pod-ranges.ts";
import { createTaintEviction } from "./node-lifecycle/taint-eviction.ts";
import { groupResource } from "./ports/resource-kind.ts";
import { LOOPBACK_USER } from "./ports/user.ts";
import type { KindTable } from "./registry/kind-table.ts";
import type { RegistryDeps } from "./registry/registry-deps.ts";
import { bindingHandler } from "./rest/subresource-handlers.ts";
import type { SchedulerDeps } from "./scheduler/placement-effects.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { createAttachDetach } from "./volumes/attach-detach.ts";
import { createEphemeralClaims } from "./volumes/ephemeral-claims.ts";
import { createClaimProtection, createVolumeProtection } from "./volumes/use-protection.ts";
import { createVolumeBinder } from "./volumes/volume-binder.ts";

interface ControllerParts extends ControllerDeps, Pick<ControlPlaneDeps, "certificates" | "tokens"> {
  registry: RegistryDeps;
  authorizer: Authorizer;
}

/** What keeps the cluster in order besides the API server. Workloads' controllers are not among them. */
export function composeControllers(parts: ControllerParts, options: ControllerOptions = {}): readonly Controller[] {
  const { scheduler = true, controllers = true } = options;
  return [
    // Of the API server itself, elsewhere.
    createEventCleaner(parts),
    ...(scheduler ? [createScheduler({ ...parts, bind: bindPods(parts.registry) })] : []),
    ...(controllers ? [...composeObjectControllers(parts), ...composeNodeControllers(parts, options)] : []),
  ];
}

/** What looks after objects, wherever pods run. */
function composeObjectControllers(parts: ControllerParts): readonly Controller[] {
  const { certificates, tokens, authorizer } = parts;
  const { kinds } = parts.registry;
  const rootCa = certificates.certificatePem;
  const requests = { ...parts, authorize: authorizer.authorize, readCertificateRequest: certificates.readRequest };
  const namespacedResources = () =>
    kinds
      .all()
      .filter(({ namespaced, storedAs, verbs }) => namespaced && !storedAs && verbs.includes("delete"))
      .map(groupResource);
  return [
    createNamespaceController({ ...parts, namespacedResources }),
    createServiceAccountController(parts),
    createRootCaPublisher(parts, { rootCa }),
    createGarbageCollector({ ...parts, resolveKind: (apiVersion, kind) => kindOf(kinds, apiVersion, kind) }),
    createClusterRoleAggregation(parts),
    createCertificateApprover(requests),
    createCertificateSigner({ ...requests, sign: certificates.sign }),
    createCertificateRequestCleaner(parts),
    createBootstrapTokenCleaner(parts),
    createLegacyTokenController(
      {
        ...parts,
        issueLegacyToken: async ({ metadata }, secret) => {
          const { namespace = "", name = "", uid = "" } = metadata ?? {};
          return tokens.issueLegacy({ namespace, name, uid }, secret.metadata?.name ?? "");
        },
      },
      { rootCa },
    ),
    createVolumeBinder(parts),
    createEphemeralClaims(parts),
    createClaimProtection(parts),
    createVolumeProtection(parts),
  ];
}

/** What looks after nodes, and the pods and volumes on them. */
function composeNodeControllers(
  parts: ControllerParts,
  { clusterCidr, nodeMaskSize }: ControllerOptions,
): readonly Controller[] {
  return [
    ...(clusterCidr === undefined ? [] : [createPodRangeAllocator(parts, { clusterCidr, nodeMaskSize })]),
    createNodeMonitor(parts),
    createTaintEviction(parts),
    createPodGarbageCollector(parts),
    createAttachDetach(parts),
  ];
}

/** Through `pods/binding`, as any scheduler. */
function bindPods(registry: RegistryDeps): SchedulerDeps["bind"] {
  const handle = bindingHandler(registry);
  const context = {
    user: LOOPBACK_USER,
    dryRun: false,
    fieldManager: "nodelet",
    fieldValidation: "Ignore",
    warn() {},
  } as const;
  const path = { isResource: true, verb: "create", group: "", version: "v1", rest: "" } as const;
  return async ({ metadata }, nodeName) => {
    const { namespace = "", name = "" } = metadata;
    const kind = registry.kinds.stored("pods");
    if (kind === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
    const target = { ...path, resource: "pods", subresource: "binding", namespace, name };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: nodeName } };
    await handle({ kind, target, context, body, query: new URLSearchParams(), patchType: undefined });
  };
}

function kindOf(kinds: KindTable, apiVersion: string, kind: string) {
  const [first = "", second] = apiVersion.split("/");
  const { group, version } = second === undefined ? { group: "", version: first } : { group: first, version: second };
  const row = kinds.all().find((candidate) => {
    return candidate.group === group && candidate.version === version && candidate.kind === kind;
  });
  // A view's objects are found where they are stored.
  return row && { resource: groupResource(row.storedAs ?? row), namespaced: row.namespaced };
}
