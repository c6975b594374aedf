import type { KubeObject } from "../../api/object.ts";
import type { ForeignQuestion } from "../ports/foreign-reads.ts";
import { COLLECTOR_USER } from "./collector-user.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { type ForeignKind, foreignKinds, foreignPath, listForeign } from "./list-foreign.ts";
import { blocks, type ClassifiedOwners, policyOf, withoutOwners } from "./owner-references.ts";

/** The objects of other API servers that refer to an owner, and what is done about them. */
interface ForeignDependentsDeps extends ForeignServers {
  /** With the owners that API servers of others have; undefined when the control plane stops. */
  classify(object: KubeObject): Promise<ClassifiedOwners | undefined>;
}

type Asking = ForeignDependentsDeps & { readonly signal: AbortSignal };

/** What nobody can list or delete is collected by nobody. */
const COLLECTED = ["list", "delete"];

/**
 * Asks the API servers of others to delete what an owner's deletion in the foreground waits for. Returns true when there
 * is nothing left of it, and false also where a server does not say. Rejects with `AbortedError` only.
 */
export async function releaseFromForeign(
  deps: ForeignDependentsDeps,
  owner: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  let isReleased = true;
  for (const kind of kindsThatDepend(deps, owner)) {
    const found = await listForeign({ ...deps, signal }, kind, owner.metadata.namespace ?? "");
    // An object that owns itself cannot wait for itself.
    const blocking = found?.filter((item) => blocks(item, owner) && item.metadata.uid !== owner.metadata.uid);
    if (blocking === undefined || blocking.length > 0) isReleased = false;
    for (const object of blocking ?? []) await letGo({ ...deps, signal }, { kind, owner, object });
  }
  return isReleased;
}

/**
 * Has the objects of other API servers forget an owner whose dependents are to stay. Returns true when none refers to it
 * any more, and false also where a server does not say. Rejects with `AbortedError` only.
 */
export async function orphanInForeign(
  deps: ForeignDependentsDeps,
  owner: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  let isForgotten = true;
  for (const kind of kindsThatDepend(deps, owner)) {
    const found = await listForeign({ ...deps, signal }, kind, owner.metadata.namespace ?? "");
    const dependents = found?.filter(({ metadata: { ownerReferences = [] } }) => {
      return ownerReferences.some(({ uid }) => uid === owner.metadata.uid);
    });
    if (dependents === undefined || dependents.length > 0) isForgotten = false;
    for (const object of dependents ?? []) await forgetOwner({ ...deps, signal }, { kind, owner, object });
  }
  return isForgotten;
}

/** What has an owner in a namespace is in the same one. */
function kindsThatDepend(deps: ForeignServers, { metadata: { namespace = "" } }: KubeObject): readonly ForeignKind[] {
  return foreignKinds(deps, COLLECTED).filter(({ resource }) => resource.namespaced || namespace === "");
}

interface Dependent {
  readonly kind: ForeignKind;
  readonly owner: KubeObject;
  readonly object: KubeObject;
}

/** Deletes the dependent, or takes its reference away where another owner keeps it. What fails is done again later. */
async function letGo(asking: Asking, { kind, owner, object }: Dependent): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const owners = await asking.classify(object);
  if (owners === undefined) return;
  const { solid, unresolvable } = owners;
  if (solid.length + unresolvable.length === 0) await deleteForeign(asking, kind, object);
  else await forgetOwner(asking, { kind, owner, object });
}

/** Has the object's server delete it, in the version that was seen. */
export async function deleteForeign(
  { readForeign, signal }: Pick<Asking, "readForeign" | "signal">,
  kind: ForeignKind,
  object: KubeObject,
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: policyOf(object), preconditions };
  await readForeign({ ...questionOf(kind, object), method: "DELETE", body }, signal);
}

async function forgetOwner(asking: Asking, { kind, owner, object }: Dependent): Promise<void> {
  const { ownerReferences = null } = withoutOwners(object, [owner.metadata.uid ?? ""]).metadata;
  await patchForeign(asking, { kind, object, change: { ownerReferences } });
}

/** Has the object's server change its metadata, in the version that was seen. */
export async function patchForeign(
  { readForeign, signal }: Pick<Asking, "readForeign" | "signal">,
  { kind, object, change }: { kind: ForeignKind; object: KubeObject; change: object },
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, ...change } };
  await readForeign({ ...questionOf(kind, object), method: "PATCH", body }, signal);
}

function questionOf(kind: ForeignKind, object: KubeObject): ForeignQuestion {
  const { group, version } = kind.served;
  return { group, version, path: foreignPath(kind, object), user: COLLECTOR_USER };
}
