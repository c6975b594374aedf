import { isApiError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { unlessOvertaken } from "../../control-loop/controller.ts";
import type { ResourceReader, ResourceWriter } from "../../ports/resources.ts";
import { controllerRefOf, controllerRefTo, isControlledBy } from "./controller-ref.ts";

interface ClaimRequest {
  /** The object that controls dependents, as it was read. */
  readonly owner: KubeObject;
  /** The resource of the owner: `replicasets.apps`. */
  readonly ownerResource: string;
  /** The resource of the dependents: `pods`. */
  readonly resource: string;
  /** The objects of the owner's namespace that may become, stay or have been its dependents. Others are ignored. */
  readonly candidates: readonly KubeObject[];
  /** True for objects that the owner selects. */
  readonly selects: (object: KubeObject) => boolean;
  /** The finalizers that a dependent gets with its owner and loses with it. Default: none. */
  readonly finalizers?: readonly string[];
}

type ClaimDeps = { readonly reader: ResourceReader; readonly writer: ResourceWriter };

/**
 * Returns the candidates that the owner controls, after it has adopted what it selects and nobody controls, and
 * released what it controls and no longer selects (`pkg/controller/controller_ref_manager.go`). An owner that is being
 * deleted, or is gone meanwhile, neither adopts nor releases.
 *
 * Each write carries the version on which it was decided. Rejects with the first ApiError after all candidates were
 * tried: Conflict when somebody changed a candidate meanwhile.
 */
export async function claimDependents(deps: ClaimDeps, request: ClaimRequest): Promise<readonly KubeObject[]> {
  const claimed: KubeObject[] = [];
  const errors: Error[] = [];
  for (const candidate of request.candidates) {
    try {
      if (await claim(deps, request, candidate)) claimed.push(candidate);
    } catch (error) {
      if (!isApiError(error)) throw error;
      errors.push(error);
    }
  }
  if (errors[0] !== undefined) throw errors[0];
  return claimed;
}

/** True when the candidate is the owner's. */
async function claim(deps: ClaimDeps, request: ClaimRequest, candidate: KubeObject): Promise<boolean> {
  const { owner, resource, selects } = request;
  if (isControlledBy(candidate, owner)) {
    if (selects(candidate)) return true;
    if (!isStanding(deps, request)) return false;
    await unlessOvertaken(deps.writer.update(resource, released(request, candidate)));
    return false;
  }
  const isFree = controllerRefOf(candidate) === undefined && candidate.metadata.deletionTimestamp === undefined;
  if (!isFree || !selects(candidate) || !isStanding(deps, request)) return false;
  return await unlessOvertaken(deps.writer.update(resource, adopted(request, candidate)));
}

/** True when the owner still exists and is not being deleted. It is asked in the same turn as the write is decided. */
function isStanding({ reader }: ClaimDeps, { owner, ownerResource }: ClaimRequest): boolean {
  const { namespace = "", name = "", uid } = owner.metadata;
  const stored = reader.get({ resource: ownerResource, namespace, name });
  return stored?.metadata.uid === uid && stored?.metadata.deletionTimestamp === undefined;
}

function adopted({ owner, finalizers = [] }: ClaimRequest, candidate: KubeObject): KubeObject {
  const { ownerReferences = [], finalizers: own = [] } = candidate.metadata;
  const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  return withOwnership(candidate, {
    ownerReferences: [...others, controllerRefTo(owner)],
    finalizers: [...own, ...finalizers.filter((name) => !own.includes(name))],
  });
}

function released({ owner, finalizers = [] }: ClaimRequest, candidate: KubeObject): KubeObject {
  const { ownerReferences = [], finalizers: own = [] } = candidate.metadata;
  return withOwnership(candidate, {
    ownerReferences: ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid),
    finalizers: own.filter((name) => !finalizers.includes(name)),
  });
}

type Ownership = Required<Pick<KubeObject["metadata"], "ownerReferences" | "finalizers">>;

function withOwnership(candidate: KubeObject, { ownerReferences, finalizers }: Ownership): KubeObject {
  const { ownerReferences: _owners, finalizers: _finalizers, ...metadata } = candidate.metadata;
  return {
    ...candidate,
    metadata: {
      ...metadata,
      ...(ownerReferences.length > 0 && { ownerReferences }),
      ...(finalizers.length > 0 && { finalizers }),
    },
  };
}
