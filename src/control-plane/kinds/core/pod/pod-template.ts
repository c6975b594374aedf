import type { FieldError } from "../../../../api/field-error.ts";
import { type KubeObject, typed } from "../../../../api/object.ts";
import { defineKind, MAX_POD_VALUES } from "../../define-kind.ts";
import { defaultTemplate, validateTemplate } from "./pod-template-spec.ts";
import { podTemplateWarnings } from "./pod-warnings.ts";

/** Pod templates as objects of their own. */
export const podTemplateKind = defineKind({
  kind: "PodTemplate",
  plural: "podtemplates",
  maxValues: MAX_POD_VALUES,
  strategy: {
    default: (object) => ({ ...object, template: defaultTemplate(templateOf(object)) }),
    validate: (object): FieldError[] => validateTemplate("template", templateOf(object)),
    warnings: (object) => podTemplateWarnings(templateOf(object), "template."),
    generation: true,
    returnsDeleted: true,
  },
});

const templateOf = (object: KubeObject) => typed("PodTemplate", object).template ?? {};
