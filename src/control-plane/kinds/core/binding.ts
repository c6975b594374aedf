import type { FieldError } from "../../../api/field-error.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";

/** The older way to bind a pod: create one of these, named as the pod. Nothing of the kind is stored. */
export const bindingKind = defineKind({
  kind: "Binding",
  plural: "bindings",
  verbs: ["create"],
  strategy: { validate: validateBinding },
});

/** Holds for what is sent to `pods/binding` too. */
function validateBinding(object: KubeObject): FieldError[] {
  const { kind = "", name = "" } = typed("Binding", object).target;
  return [
    ...(["", "Node"].includes(kind) ? [] : [unsupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(name === "" ? [required("target.name")] : []),
  ];
}
