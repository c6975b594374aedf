import { typed } from "../../../api/object.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { takeClaimStatus, validateClaimStatus } from "./claim-status.ts";
import { defaultDeviceClaim, validateDeviceClaim } from "./device-claim.ts";

const KIND = { group: "resource.k8s.io", version: "v1", kind: "ResourceClaim" };

export const resourceClaimKind = defineKind({
  ...KIND,
  plural: "resourceclaims",
  // The name without the prefix belongs to a container's reference to a claim in core.
  type: "ResourceResourceClaim",
  strategy: strategyOf("ResourceClaim", {
    default: ({ spec }) => defaultDeviceClaim(spec.devices),
    initialStatus: {},
    validate: ({ spec }) => validateDeviceClaim("spec.devices", spec.devices),
    validateUpdate: (next, current) => immutable("spec", next.spec, current.spec),
  }),
  subresources: [
    {
      ...KIND,
      name: "status",
      verbs: ["get", "patch", "update"],
      take: takeClaimStatus,
      validateUpdate: (next, current) => {
        return validateClaimStatus(typed("ResourceClaim", next), typed("ResourceClaim", current));
      },
    },
  ],
});
