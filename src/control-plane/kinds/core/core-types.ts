import type * as types from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";

/** Kinds that only the control plane looks into. */
interface CoreTypes {
  Binding: types.Binding;
  Endpoints: types.Endpoints;
  Event: types.Event;
  PodTemplate: types.PodTemplate;
  ReplicationController: types.ReplicationController;
}

/** As `typed` of `api/object.ts`, for the kinds that are missing there. */
export function coreTyped<Kind extends keyof CoreTypes>(kind: Kind, object: KubeObject): KubeObject & CoreTypes[Kind] {
  if (!isOfKind(kind, object)) throw new TypeError(`expected an object of kind ${kind}, got ${object.kind}`);
  return object;
}

/** The schema has established the shape; the kind says which. */
function isOfKind<Kind extends keyof CoreTypes>(
  kind: Kind,
  object: KubeObject,
): object is KubeObject & CoreTypes[Kind] {
  return object.kind === kind;
}

/** Not stored yet: the store gives every version that it keeps a revision. Some rules hold for creation only. */
export function isNew({ metadata }: KubeObject): boolean {
  return (metadata.resourceVersion ?? "") === "";
}
