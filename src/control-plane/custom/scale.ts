import type { FieldError } from "../../api/field-error.ts";
import type { CustomResourceSubresourceScale } from "../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { invalid } from "../../api/validation/problems.ts";
import type { ScalePaths } from "../ports/resource-kind.ts";
import { evaluateJsonPath, parseJsonPath } from "./json-path.ts";

/** The paths of a CRD's scale subresource, which are plain names with dots between. */
export function scalePathsOf(scale: CustomResourceSubresourceScale): ScalePaths {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  return {
    specReplicas: namesOf(specReplicasPath),
    statusReplicas: namesOf(statusReplicasPath),
    selector: labelSelectorPath === "" ? undefined : namesOf(labelSelectorPath),
  };
}

const namesOf = (path: string) => path.split(".").filter((name) => name !== "");

function readPath(object: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);
}

const MAX_INT32 = 2_147_483_647;

/** The problems of the numbers of replicas, beside those that the schema finds. */
export function validateReplicas(object: KubeObject, paths: readonly (readonly string[])[]): FieldError[] {
  return paths.flatMap((names) => {
    const count = readPath(object, names);
    if (typeof count !== "number") return [];
    const path = `.${names.join(".")}`;
    if (count < 0) return [invalid(path, count, "should be a non-negative integer")];
    return count > MAX_INT32 ? [invalid(path, count, `should be less than or equal to ${MAX_INT32}`)] : [];
  });
}

/** The text that field selectors compare with; `""` where there is no value. */
export function selectableField(jsonPath: string): (object: KubeObject) => string {
  const path = parseJsonPath(jsonPath) ?? [];
  return (object) => {
    const value = evaluateJsonPath(path, object)[0];
    return value === undefined || value === null || typeof value === "object" ? "" : String(value);
  };
}
