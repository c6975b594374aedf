import type { Authorizer } from "./access/rbac.ts";
import type { ControlPlaneDeps } from "./control-plane-deps.ts";
import { createCertificateApprover } from "./controllers/certificate-approver.ts";
import { createCertificateSigner } from "./controllers/certificate-signer.ts";
import { createClusterRoleAggregation } from "./controllers/cluster-role-aggregation.ts";
import type { Controller, ControllerDeps } from "./controllers/controller.ts";
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
import { groupResource } from "./ports/resource-kind.ts";
import type { KindTable } from "./registry/kind-table.ts";

interface ControllerParts extends ControllerDeps, Pick<ControlPlaneDeps, "certificates" | "tokens"> {
  kinds: KindTable;
  authorizer: Authorizer;
}

/** What keeps the cluster in order besides the API server. Workloads' controllers are not among them. */
export function composeControllers(parts: ControllerParts): readonly Controller[] {
  const { kinds, certificates, tokens, authorizer } = parts;
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
    createEventCleaner(parts),
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
  ];
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
