import { isDeepStrictEqual } from "node:util";
import { conflictError, invalidError, notFoundError } from "../../api/api-error.ts";
import { recordUpdate } from "../../api/apply/managed-fields.ts";
import { settleTimes } from "../../api/apply/settle-times.ts";
import type { KubeObject } from "../../api/object.ts";
import { invalid } from "../../api/validation/problems.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind, Subresource } from "../ports/resource-kind.ts";
import { mutateAdmitted, validateAdmitted } from "./admit.ts";
import { allocate } from "./allocate.ts";
import { createObject } from "./create.ts";
import { decideAdmitted } from "./decide-admitted.ts";
import { decodeBody, decodeChange } from "./decode-body.ts";
import { keysOf } from "./keys.ts";
import { carryMetadata, checkNameInPath, checkPreconditions, checkUpdated, placeInNamespace } from "./metadata.ts";
import {
  apiVersion,
  isSpecChanged,
  unstored,
  viewOf,
  withMetadata,
  withMetadataOf,
  withStatusAlone,
  withStatusOf,
} from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { optionsOf, type RequestContext } from "./request-context.ts";
import { removeStored, storeAdmitted } from "./store-admitted.ts";
import { versionViews } from "./version-views.ts";

export interface UpdateRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for the object itself. */
  readonly subresource?: Subresource | undefined;
  readonly context: RequestContext;
  /**
   * Returns the new object as it was sent, or as a patch makes it of the current one (undefined when there is none).
   * Nothing changes between the call and the write; it is called again for each further attempt.
   */
  change(current: KubeObject | undefined): unknown;
  /** True when the change is a patch of the current object. Default false: the whole object was sent. */
  readonly isPatch?: boolean;
  /** True when the change has set the managed fields itself, as server-side apply does. Default false. */
  readonly isApply?: boolean;
  /** Creates the object when it does not exist. Default: as the kind's strategy says. */
  readonly createsMissing?: boolean;
  /** Called before an object is created. Throws Forbidden for a user who may change objects but not create them. */
  readonly authorizeCreation?: (() => void) | undefined;
}

/** The object after the update. */
export interface Updated {
  readonly stored: StoredObject;
  readonly isCreated: boolean;
}

/**
 * Stores a new version of an object, and resolves with it when it is durable. A change that changes nothing writes
 * nothing. Rejects with an ApiError: BadRequest, NotFound, Conflict, Invalid, Forbidden.
 */
export async function updateObject(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  return await decideAdmitted(deps, request.kind, async (own) => update(own, request));
}

async function update(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  const { kind, namespace, name, context } = request;
  const key = keysOf(kind).of(namespace, name);
  const stored = deps.store.headOf(key);
  if (stored === undefined) return createMissing(deps, request);
  const current = viewOf(kind, stored);
  const admitted = prepareUpdate(deps, request, current);
  const { object: next } = admitted;
  for (const warning of kind.strategy.warnings?.(next, current) ?? []) context.warn(warning);
  if (context.dryRun) return { stored: unstored(kind, next), isCreated: false };
  if (isRemovable(kind, next)) {
    return { stored: await removeStored(deps, key, { kind, object: next, current }), isCreated: false };
  }
  const isSame = !isOutdated(kind, stored) && isDeepStrictEqual(settleTimes(next, current), current);
  if (isSame) return { stored, isCreated: false };
  return { stored: await storeAdmitted(deps, key, admitted), isCreated: false };
}

/** True for an object that lies in a former version: any write brings it to the one of today, as upstream. */
function isOutdated({ storedAs }: ResourceKind, { object }: StoredObject): boolean {
  return storedAs?.conversion !== undefined && storedAs.conversion.storage !== object.apiVersion;
}

async function createMissing(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  const { kind, namespace, name, context, isApply = false } = request;
  const missing = notFoundError({ group: kind.group, resource: kind.plural }, name);
  const isAllowed = request.createsMissing ?? kind.strategy.createsOnUpdate ?? false;
  if (!isAllowed || request.subresource !== undefined) throw missing;
  request.authorizeCreation?.();
  const body = request.change(undefined);
  const sent = placeInNamespace(kind, decodeBody(kind, body, { fieldValidation: "Ignore", warn() {} }), namespace);
  checkNameInPath(sent, name);
  if ((sent.metadata.uid ?? "") !== "" || (sent.metadata.resourceVersion ?? "") !== "") {
    if (!isApply) throw missing;
    throw conflictError({ group: kind.group, resource: kind.plural }, name, absentDetail(sent));
  }
  const stored = await createObject(deps, { kind, namespace, body, context, isApply });
  return { stored, isCreated: true };
}

function absentDetail({ metadata: { uid = "" } }: KubeObject): string {
  if (uid === "") return "the object does not exist any more";
  return `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
}

function prepareUpdate(
  deps: RegistryDeps,
  request: UpdateRequest,
  current: KubeObject,
): AdmissionRequest & { object: KubeObject } {
  const { kind, namespace, name, subresource, context } = request;
  const { strategy } = kind;
  const sent = placeInNamespace(kind, decodeChange(kind, request.change(current), request), namespace);
  checkIdentity(request, sent, current);
  const defaulted = strategy.default?.(sent) ?? sent;
  const carried = carryMetadata(defaulted, current);
  const allowed = takeAllowed(kind, subresource, { next: carried, current });
  // The managed fields are recorded before admission: fields that admission changes belong to no manager.
  const taken = request.isApply ? allowed : recordChange(deps, request, { next: allowed, current });
  const admission: AdmissionRequest = {
    operation: "UPDATE",
    kind,
    subresource: subresource?.name ?? "",
    namespace,
    name,
    user: context.user,
    object: taken,
    current,
    dryRun: context.dryRun,
    options: optionsOf(request.isPatch || request.isApply ? "PatchOptions" : "UpdateOptions", context),
    warn: context.warn,
    annotate: context.annotate,
  };
  const admitted = mutateAdmitted(deps.admission, admission) ?? taken;
  const next = subresource?.keepsGeneration
    ? admitted
    : countGeneration(kind, subresource, { next: admitted, current });
  checkUpdated(request, next, current);
  const allocated = allocate(deps, kind, { next, current });
  const judged = { ...admission, object: allocated };
  validateAdmitted(deps.admission, judged);
  return judged;
}

/**
 * Throws an ApiError when the change is meant for another object or version. In a patch, another uid is a change of a
 * field, which is refused elsewhere.
 */
function checkIdentity(
  { kind, name, isPatch = false, isApply = false }: UpdateRequest,
  sent: KubeObject,
  current: KubeObject,
): void {
  checkNameInPath(sent, name);
  const { uid, resourceVersion = "" } = sent.metadata;
  if (kind.strategy.needsResourceVersion && resourceVersion === "") {
    throw invalidError(kind, name, [invalid("metadata.resourceVersion", 0, "must be specified for an update")]);
  }
  checkPreconditions(kind, current, { uid: isPatch || isApply ? undefined : uid, resourceVersion });
}

/**
 * The current object with the changes that the request may make: a subresource changes its part, and a request for the
 * object itself everything but the status.
 */
function takeAllowed(
  kind: ResourceKind,
  subresource: Subresource | undefined,
  { next, current }: { next: KubeObject; current: KubeObject },
): KubeObject {
  if (subresource?.take) return subresource.take(next, current);
  if (subresource?.name === "status") {
    // A write of a custom object's status changes none of its metadata. Built-in kinds are not as strict.
    return withStatusAlone(kind.schema.strategicMerge ? next : withMetadataOf(next, current), current);
  }
  const kept = hasStatus(kind) ? withStatusOf(next, current) : next;
  return kind.strategy.prepareUpdate?.(kept, current) ?? kept;
}

const hasStatus = ({ subresources }: ResourceKind) => subresources.some(({ name }) => name === "status");

function countGeneration(
  kind: ResourceKind,
  subresource: Subresource | undefined,
  { next, current }: { next: KubeObject; current: KubeObject },
): KubeObject {
  const { generation } = kind.strategy;
  if (!generation) return next;
  const countsAnnotations = generation === "with annotations" && subresource === undefined;
  const isAnnotated = countsAnnotations && !isDeepStrictEqual(annotationsOf(next), annotationsOf(current));
  if (!isAnnotated && !isSpecChanged(next, current, { hasStatus: hasStatus(kind) })) return next;
  return withMetadata(next, { generation: (current.metadata.generation ?? 0) + 1 });
}

const annotationsOf = ({ metadata }: KubeObject) => metadata.annotations ?? {};

function recordChange(
  deps: RegistryDeps,
  { kind, subresource, context }: UpdateRequest,
  { next, current }: { next: KubeObject; current: KubeObject },
): KubeObject {
  return recordUpdate({
    before: current,
    after: next,
    node: kind.schema.node,
    manager: context.fieldManager,
    apiVersion: apiVersion(kind),
    versions: versionViews(deps.kinds, kind),
    now: deps.now(),
    ...(subresource && { subresource: subresource.name }),
  });
}

/**
 * True for an object that is marked as deleted and that nothing keeps any more, because this update removed the last
 * finalizer.
 */
function isRemovable({ strategy }: ResourceKind, { metadata, ...rest }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if (strategy.isHeld?.({ metadata, ...rest })) return false;
  return strategy.gracePeriodSeconds === undefined || (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
