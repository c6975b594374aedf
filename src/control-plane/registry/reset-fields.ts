import { type FieldSet, fieldSetOf } from "../../api/apply/field-set.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

const STATUS = fieldSetOf(["status"]);
const SPEC = fieldSetOf(["spec"]);

/** The fields that an endpoint never changes, so that no manager comes to own them there. */
export function resetFieldsOf(kind: ResourceKind, subresource: string): { resetFields?: FieldSet } {
  if (subresource === "status") return { resetFields: SPEC };
  const hasStatus = kind.subresources.some(({ name }) => name === "status");
  return hasStatus ? { resetFields: STATUS } : {};
}
