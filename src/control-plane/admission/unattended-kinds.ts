import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";

const POLICIES = "networkpolicies.networking.k8s.io";

/** The kinds whose controller is not part of this control plane, with the effect that therefore does not happen. */
const UNATTENDED: ReadonlyMap<string, string> = new Map([
  ["ingresses.networking.k8s.io", "no traffic is routed by it"],
  [POLICIES, "no traffic is filtered by it"],
]);

/** What somebody else takes care of. */
export interface AttendedElsewhere {
  /** True: the proxy of the cluster's node keeps to network policies. Default false. */
  networkPolicies?: boolean | undefined;
}

/** Warns the author of each object of such a kind that the object is stored and nothing else happens. */
export function createUnattendedKinds({ networkPolicies = false }: AttendedElsewhere = {}): AdmissionPlugin {
  return {
    name: "UnattendedKinds",
    validate({ operation, kind, subresource, warn }: AdmissionRequest) {
      const resource = groupResource(kind);
      const consequence = UNATTENDED.get(resource);
      if (networkPolicies && resource === POLICIES) return;
      if (operation !== "CREATE" || subresource !== "" || consequence === undefined) return;
      warn(`nodelet has no controller for ${resource}: the object is stored, but ${consequence} unless you run one`);
    },
  };
}
