import type { KubeObject } from "../../api/object.ts";
import { assert } from "../../base/assert.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { accompanyAdmitted } from "./admit.ts";
import { companionWrites } from "./companion-writes.ts";
import { keysOf } from "./keys.ts";
import { storedForm } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/**
 * Stores the object of an admitted request as one with its companions, and in the same step what admission changes with
 * it, so that the next decision sees all. Resolves and rejects as the store does for the object. What admission changes is
 * nothing that the request stands or falls by: whoever keeps it finds out what is missing when it is lost.
 */
export async function storeAdmitted(
  deps: RegistryDeps,
  key: string,
  admitted: AdmissionRequest & { readonly object: KubeObject },
): Promise<StoredObject> {
  const { store } = deps;
  const { kind, object, current } = admitted;
  const companions = companionWrites(deps, kind, { next: object, current });
  const accompanying = accompanyAdmitted(deps.admission, admitted);
  const before = store.headRevision;
  const written = store.write([{ type: "put", key, object: storedForm(kind, object) }, ...companions]);
  const stored = written.then(([first]) => {
    assert(first !== undefined, "what is written is an object");
    return first;
  });
  // The store refuses an object that is too large at once, and then nothing else must change.
  if (store.headRevision === before) return await stored;
  const others = accompanying.flatMap(({ resource, object: other }) => {
    const ofOther = deps.kinds.stored(resource);
    const { namespace = "", name = "" } = other.metadata;
    return ofOther === undefined ? [] : [store.put(keysOf(ofOther).of(namespace, name), storedForm(ofOther, other))];
  });
  await Promise.allSettled([stored, ...others]);
  return await stored;
}

/** Removes an object as one with its companions. Resolves with its last state, `object`. */
export async function removeStored(
  deps: RegistryDeps,
  key: string,
  { kind, object, current }: { kind: ResourceKind; object: KubeObject; current: KubeObject },
): Promise<StoredObject> {
  const companions = companionWrites(deps, kind, { next: undefined, current });
  const [removed] = await deps.store.write([{ type: "remove", key, object: storedForm(kind, object) }, ...companions]);
  assert(removed !== undefined, "what is removed is an object");
  return removed;
}
