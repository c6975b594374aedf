import { type KubeObject, typed } from "../../../../api/object.ts";
import { checkDnsLabel } from "../../../../api/validation/names.ts";
import { defineKind } from "../../define-kind.ts";
import { proxySubresource, statusSubresource } from "../../subresource.ts";
import { defaultService, prepareService, prepareServiceUpdate } from "./service-defaults.ts";
import { validateServiceStatusUpdate, validateServiceUpdate } from "./service-update.ts";
import { validateService } from "./service-validation.ts";
import { serviceWarnings } from "./service-warnings.ts";

/** Services, without the addresses and node ports that `createAllocatingServiceKind` gives them. */
export const serviceKind = defineKind({
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  categories: ["all"],
  strategy: {
    default: defaultService,
    prepareCreate: prepareService,
    prepareUpdate: prepareServiceUpdate,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    warnings: serviceWarnings,
    checkName: checkDnsLabel,
    createsOnUpdate: true,
    returnsDeleted: true,
    fields: {
      "spec.clusterIP": (object: KubeObject) => typed("Service", object).spec?.clusterIP ?? "",
      "spec.type": (object: KubeObject) => typed("Service", object).spec?.type ?? "",
    },
  },
  subresources: [statusSubresource("Service", validateServiceStatusUpdate), proxySubresource("ServiceProxyOptions")],
});
