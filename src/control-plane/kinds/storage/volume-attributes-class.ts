import { required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import { keep, validateParameters, validateProvisioner } from "./class-parameters.ts";

export const volumeAttributesClassKind = defineKind({
  group: "storage.k8s.io",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  shortNames: ["vac"],
  namespaced: false,
  strategy: strategyOf("VolumeAttributesClass", {
    returnsDeleted: true,
    validate: ({ driverName, parameters = {} }) => [
      ...validateProvisioner("driverName", driverName),
      ...validateParameters("parameters", parameters),
      ...(Object.keys(parameters).length === 0
        ? [required("parameters", "must contain at least one key/value pair")]
        : []),
    ],
    validateUpdate: (next, current) => [
      ...keep("driverName", next.driverName, current.driverName),
      ...keep("parameters", next.parameters, current.parameters),
    ],
  }),
});
