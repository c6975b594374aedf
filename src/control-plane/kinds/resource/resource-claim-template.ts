import { validateAnnotations, validateLabels } from "../../../api/validation/metadata.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { defaultDeviceClaim, validateDeviceClaim } from "./device-claim.ts";

export const resourceClaimTemplateKind = defineKind({
  group: "resource.k8s.io",
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  strategy: strategyOf("ResourceClaimTemplate", {
    default: ({ spec }) => defaultDeviceClaim(spec.spec.devices),
    validate: ({ spec }) => [
      ...validateLabels("spec.metadata.labels", spec.metadata?.labels),
      ...validateAnnotations("spec.metadata.annotations", spec.metadata?.annotations),
      ...validateDeviceClaim("spec.spec.devices", spec.spec.devices),
    ],
    validateUpdate: (next, current) => immutable("spec", next.spec, current.spec),
  }),
});
