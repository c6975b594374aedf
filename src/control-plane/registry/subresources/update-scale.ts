import { notFoundError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import type { ResourceKind, ScalePaths } from "../../ports/resource-kind.ts";
import { mutateAdmitted, validateAdmitted } from "../admit.ts";
import { decideAdmitted } from "../decide-admitted.ts";
import { keysOf } from "../keys.ts";
import { checkNameInPath, checkPreconditions, placeInNamespace } from "../metadata.ts";
import { withMetadata } from "../object-view.ts";
import type { RegistryDeps } from "../registry-deps.ts";
import { optionsOf, type RequestContext } from "../request-context.ts";
import { type Updated, updateObject } from "../update.ts";
import { applyScale } from "./apply-scale.ts";
import { freeSubresource } from "./free-subresource.ts";
import { scaledObject, scaleOf } from "./scale.ts";

interface ScaleUpdate {
  readonly kind: ResourceKind;
  /** Where objects of the kind have their replicas. */
  readonly paths: ScalePaths;
  readonly namespace: string;
  readonly name: string;
  readonly context: RequestContext;
  /** The Scale as it was sent, or as a patch makes it of the current one. It is called again for each attempt. */
  change(current: KubeObject): KubeObject;
  /** Default false: the whole Scale was sent. */
  readonly isPatch?: boolean;
  /** Given where the Scale is a configuration of server-side apply. */
  readonly apply?: { readonly force: boolean } | undefined;
}

/**
 * Sets the replicas of an object by its Scale, which is what admission is shown and may change. Resolves with the object.
 * Rejects with an ApiError: NotFound, Conflict, Invalid, Forbidden.
 */
export async function updateScale(deps: RegistryDeps, update: ScaleUpdate): Promise<Updated> {
  const { kind, namespace, name, context } = update;
  const subresource = { ...freeSubresource("scale", kind), name: "scale" };
  return await decideAdmitted(deps, kind, async (own) => {
    if (own.store.headOf(keysOf(kind).of(namespace, name)) === undefined) {
      throw notFoundError({ group: kind.group, resource: kind.plural }, name);
    }
    const change = (current: KubeObject | undefined) => current && changeByScale(own, update, current);
    const isApply = update.apply !== undefined;
    return await updateObject(own, { kind, namespace, name, subresource, context, change, isApply });
  });
}

function changeByScale(deps: RegistryDeps, update: ScaleUpdate, current: KubeObject): KubeObject {
  const { admission } = deps;
  const { kind, paths, namespace, name, context, change, apply, isPatch = false } = update;
  const before = scaleOf(current, paths);
  const { apiVersion, kind: scaleKind } = before;
  const given = placeInNamespace(kind, change(before), namespace);
  checkMeant(update, given, current);
  const owned = apply ? applyScale(deps, { ...update, force: apply.force }, { scale: given, current }) : current;
  const { resourceVersion } = given.metadata;
  const sent = apply ? withMetadata(scaleOf(owned, paths), resourceVersion ? { resourceVersion } : {}) : given;
  const request: AdmissionRequest & { readonly object: KubeObject } = {
    operation: "UPDATE",
    kind,
    subresource: "scale",
    namespace,
    name,
    user: context.user,
    object: { ...sent, apiVersion, kind: scaleKind },
    current: before,
    dryRun: context.dryRun,
    options: optionsOf(isPatch ? "PatchOptions" : "UpdateOptions", context),
    warn: context.warn,
    annotate: context.annotate,
  };
  const scaled = scaledObject(kind, owned, mutateAdmitted(admission, request) ?? request.object, paths);
  validateAdmitted(admission, { ...request, object: scaleOf(scaled, paths) });
  return scaled;
}

/** Throws an ApiError when the Scale is that of another object. Its version is compared where the object is written. */
function checkMeant({ kind, name, isPatch = false }: ScaleUpdate, sent: KubeObject, current: KubeObject): void {
  checkNameInPath(sent, name);
  // What is wrong with a patch is found in the Scale, and with a whole Scale in the object's store, as upstream.
  const found = isPatch ? { ...kind, plural: `${kind.plural}/scale` } : kind;
  checkPreconditions(found, current, { uid: sent.metadata.uid });
}
