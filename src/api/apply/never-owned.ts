import { difference, type FieldSet, fieldSetOf } from "./field-set.ts";

/** What says which object it is, and what the server counts: nobody's. */
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

/** Without the fields that nobody owns. */
export function withoutNeverOwned(set: FieldSet): FieldSet {
  return difference(set, NEVER_OWNED);
}
