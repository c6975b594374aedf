import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import { accompanyAdmitted } from "./admit.ts";
import { keysOf } from "./keys.ts";
import { storedForm } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/**
 * Stores the object of an admitted request, and in the same step what admission changes with it, so that the next
 * decision sees both. Resolves and rejects as the store does for the object. What goes with it is nothing that the
 * request stands or falls by: whoever keeps it finds out what is missing when it is lost.
 */
export async function storeAdmitted(
  deps: RegistryDeps,
  key: string,
  admitted: AdmissionRequest & { readonly object: KubeObject },
): Promise<StoredObject> {
  const { store } = deps;
  const accompanying = accompanyAdmitted(deps.admission, admitted);
  const before = store.headRevision;
  const stored = store.put(key, storedForm(admitted.kind, admitted.object));
  // The store refuses an object that is too large at once, and then nothing else must change.
  if (store.headRevision === before) return await stored;
  const others = accompanying.flatMap(({ resource, object }) => {
    const kind = deps.kinds.stored(resource);
    const { namespace = "", name = "" } = object.metadata;
    return kind === undefined ? [] : [store.put(keysOf(kind).of(namespace, name), storedForm(kind, object))];
  });
  await Promise.allSettled([stored, ...others]);
  return await stored;
}
