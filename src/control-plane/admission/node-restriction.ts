import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";
import { nodeNameOfUser } from "../ports/user.ts";
import { restrictCertificateRequest } from "./node-own-certificates.ts";
import { restrictNode } from "./node-own-node.ts";
import { restrictClaimStatus, restrictCsiNode, restrictLease, restrictResourceSlice } from "./node-own-objects.ts";
import { restrictPodCertificateRequest } from "./node-own-pod-certificates.ts";
import { restrictPod } from "./node-own-pods.ts";
import { restrictToken } from "./node-own-tokens.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { refusal } from "./refusal.ts";

type Rule = (from: NodeRequest, deps: NodeRestrictionDeps) => void;

/** The rules by resource. Other resources are not restricted here: nodes may use what the authorizer allows. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["pods", restrictPod],
  ["nodes", restrictNode],
  ["persistentvolumeclaims", restrictClaimStatus],
  ["serviceaccounts", restrictToken],
  ["leases.coordination.k8s.io", restrictLease],
  ["csinodes.storage.k8s.io", restrictCsiNode],
  ["resourceslices.resource.k8s.io", restrictResourceSlice],
  ["certificatesigningrequests.certificates.k8s.io", restrictCertificateRequest],
  ["podcertificaterequests.certificates.k8s.io", restrictPodCertificateRequest],
]);

/**
 * Lets a node write only its own objects, so that a stolen kubelet key is worth one machine
 * (`plugin/pkg/admission/noderestriction`). The Node authorizer restricts reading.
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
    // A deletion has no object to change, so it is only judged.
    validate(request) {
      if (request.operation === "DELETE") restrict(request);
    },
  };
}
