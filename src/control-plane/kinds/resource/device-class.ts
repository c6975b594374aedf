import type { FieldError } from "../../../api/field-error.ts";
import type { DeviceClassSpec } from "../../../api/gen/types.ts";
import { forbidden } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateList } from "./bounded-list.ts";
import { MAX_DEVICES } from "./device-claim.ts";
import { validateConfiguration, validateSelectors } from "./device-selectors.ts";

export const deviceClassKind = defineKind({
  group: "resource.k8s.io",
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
  strategy: strategyOf("DeviceClass", {
    generation: true,
    validate: ({ spec }) => validateSpec("spec", spec),
  }),
});

function validateSpec(path: string, { selectors, config, extendedResourceName }: DeviceClassSpec): FieldError[] {
  return [
    ...validateSelectors(`${path}.selectors`, selectors),
    ...validateList(`${path}.config`, config, {
      max: MAX_DEVICES,
      check: (item, at) => validateConfiguration(at, item),
    }),
    ...(extendedResourceName === undefined
      ? []
      : [forbidden(`${path}.extendedResourceName`, "nodelet gives devices to claims only: name the class in a claim")]),
  ];
}
