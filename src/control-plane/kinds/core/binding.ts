import type { FieldError } from "../../../api/field-error.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";

/** The older way to bind a pod, by creating a Binding with the pod's name. Objects of the kind are not stored. */
export const bindingKind = defineKind({
  kind: "Binding",
  plural: "bindings",
  verbs: ["create"],
  strategy: { validate: validateBinding },
});

/** The problems of a Binding, also of one that is sent to `pods/binding`. */
function validateBinding(object: KubeObject): FieldError[] {
  const { kind = "", name = "" } = typed("Binding", object).target;
  return [
    ...(["", "Node"].includes(kind) ? [] : [unsupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(name === "" ? [required("target.name")] : []),
  ];
}
