import { difference, type FieldSet, fieldSetOf } from "./field-set.ts";

/** The fields that identify the object, and those that the server counts. They have no owner. */
const NEVER_OWNED = fieldSetOf([
  "apiVersion",
  "kind",
  "metadata",
  "metadata.name",
  "metadata.namespace",
  "metadata.creationTimestamp",
  "metadata.selfLink",
  "metadata.uid",
  "metadata.clusterName",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.resourceVersion",
]);

/** Removes the fields that never have an owner. */
export function withoutNeverOwned(set: FieldSet): FieldSet {
  return difference(set, NEVER_OWNED);
}
