import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";
import { nodeNameOfUser } from "../ports/user.ts";
import { restrictCertificateRequest } from "./node-own-certificates.ts";
import { restrictNode } from "./node-own-node.ts";
import { restrictClaimStatus, restrictCsiNode, restrictLease, restrictResourceSlice } from "./node-own-objects.ts";
import { restrictPod } from "./node-own-pods.ts";
import { restrictToken } from "./node-own-tokens.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { refusal } from "./refusal.ts";

type Rule = (from: NodeRequest, deps: NodeRestrictionDeps) => void;

/** Of what is not listed nothing is restricted here: what the authorizer gives to nodes they may use. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["pods", restrictPod],
  ["nodes", restrictNode],
  ["persistentvolumeclaims", restrictClaimStatus],
  ["serviceaccounts", restrictToken],
  ["leases.coordination.k8s.io", restrictLease],
  ["csinodes.storage.k8s.io", restrictCsiNode],
  ["resourceslices.resource.k8s.io", restrictResourceSlice],
  ["certificatesigningrequests.certificates.k8s.io", restrictCertificateRequest],
]);

/**
 * A node writes what is its own and nothing else, so that a stolen kubelet key is worth one machine
 * (`plugin/pkg/admission/noderestriction`). Reading is the Node authorizer's concern.
 */
export function createNodeRestriction(deps: NodeRestrictionDeps): AdmissionPlugin {
  const restrict = (request: AdmissionRequest): undefined => {
    const node = nodeNameOfUser(request.user);
    if (node === undefined || request.operation === "CONNECT") return undefined;
    if (node === "") throw refusal(request, `could not determine node from user "${request.user.username}"`);
    RULES.get(groupResource(request.kind))?.({ request, node }, deps);
    return undefined;
  };
  return {
    name: "NodeRestriction",
    mutate: (request) => (request.operation === "DELETE" ? undefined : restrict(request)),
    // A deletion has nothing to change: it is only judged.
    validate(request) {
      if (request.operation === "DELETE") restrict(request);
    },
  };
}
