import { recordUpdate } from "../../api/apply/managed-fields.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { apiVersion } from "./object-view.ts";
import { resetFieldsOf } from "./reset-fields.ts";

/** The new object with the fields that its creator manages. */
export function recordCreation(
  kind: ResourceKind,
  after: KubeObject,
  { manager, now }: { manager: string; now: number },
): KubeObject {
  return recordUpdate({
    before: undefined,
    after,
    node: kind.schema.node,
    manager,
    apiVersion: apiVersion(kind),
    now,
    ...resetFieldsOf(kind, ""),
  });
}
