import { isDeepStrictEqual } from "node:util";
import {
  type ApiError,
  badRequestError,
  conflictError,
  invalidError,
  isApiError,
  notFoundError,
} from "../../api/api-error.ts";
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
import { decideDurably } from "./decide-durably.ts";
import { decodeBody } from "./decode-body.ts";
import { keysOf } from "./keys.ts";
import { carryMetadata, checkPreconditions, checkUpdated, placeInNamespace } from "./metadata.ts";
import {
  apiVersion,
  isSpecChanged,
  storedForm,
  unstored,
  viewOf,
  withMetadata,
  withMetadataOf,
  withStatusAlone,
  withStatusOf,
} from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import type { RequestContext } from "./request-context.ts";

export interface UpdateRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for the object itself. */
  readonly subresource?: Subresource | undefined;
  readonly context: RequestContext;
  /**
   * The new object as it was sent, or as a patch makes it of the current one (undefined: there is none). Called once,
   * and nothing changes between that and the write.
   */
  change(current: KubeObject | undefined): unknown;
  /** The change is a patch of the current object, and not what was sent. Default false. */
  readonly isPatch?: boolean;
  /** The change has set the managed fields itself: server-side apply. Default false. */
  readonly isApply?: boolean;
  /** Creates the object where there is none. Default: as the kind's strategy says. */
  readonly createsMissing?: boolean;
  /** Called before an object is created; throws Forbidden for who may change objects and not create them. */
  readonly authorizeCreation?: (() => void) | undefined;
}

/** The object as it is now. */
export interface Updated {
  readonly stored: StoredObject;
  readonly isCreated: boolean;
}

/**
 * Stores a new version of an object, and resolves with it when that is durable. A change that changes nothing writes
 * nothing. Rejects with an ApiError: BadRequest, NotFound, Conflict, Invalid, Forbidden.
 */
export async function updateObject(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  return await decideDurably(deps.store, async () => update(deps, request));
}

async function update(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  const { kind, namespace, name, context } = request;
  const key = keysOf(kind).of(namespace, name);
  const stored = deps.store.headOf(key);
  if (stored === undefined) return createMissing(deps, request);
  const current = viewOf(kind, stored);
  const next = prepareUpdate(deps, request, current);
  for (const warning of kind.strategy.warnings?.(next) ?? []) context.warn(warning);
  if (context.dryRun) return { stored: unstored(kind, next), isCreated: false };
  if (isRemovable(kind, next)) {
    return { stored: await deps.store.remove(key, storedForm(kind, next)), isCreated: false };
  }
  if (isDeepStrictEqual(settleTimes(next, current), current)) return { stored, isCreated: false };
  return { stored: await deps.store.put(key, storedForm(kind, next)), isCreated: false };
}

async function createMissing(deps: RegistryDeps, request: UpdateRequest): Promise<Updated> {
  const { kind, namespace, name, context, isApply = false } = request;
  const missing = notFoundError({ group: kind.group, resource: kind.plural }, name);
  const isAllowed = request.createsMissing ?? kind.strategy.createsOnUpdate ?? false;
  if (!isAllowed || request.subresource !== undefined) throw missing;
  request.authorizeCreation?.();
  const body = request.change(undefined);
  const sent = placeInNamespace(kind, decodeBody(kind, body, { fieldValidation: "Ignore", warn() {} }), namespace);
  checkName(sent, name);
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

function prepareUpdate(deps: RegistryDeps, request: UpdateRequest, current: KubeObject): KubeObject {
  const { kind, namespace, name, subresource, context } = request;
  const { strategy } = kind;
  const sent = placeInNamespace(kind, decodeNext(request, request.change(current)), namespace);
  checkIdentity(request, sent, current);
  const defaulted = strategy.default?.(sent) ?? sent;
  const carried = carryMetadata(defaulted, current);
  const allowed = takeAllowed(kind, subresource, { next: carried, current });
  // Before admission: what that changes belongs to nobody.
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
    warn: context.warn,
  };
  const admitted = mutateAdmitted(deps.admission, admission) ?? taken;
  const next = countGeneration(kind, { next: admitted, current });
  checkUpdated(request, next, current);
  const allocated = allocate(deps, kind, { next, current });
  validateAdmitted(deps.admission, { ...admission, object: allocated });
  return allocated;
}

function decodeNext({ kind, context, isPatch }: UpdateRequest, body: unknown): KubeObject {
  try {
    return decodeBody(kind, body, context);
  } catch (error) {
    if (isPatch && isApiError(error, "BadRequest")) throw unfitPatch(body, error);
    throw error;
  }
}

/** The patch could be applied, and what came out is no object of the kind. */
function unfitPatch(body: unknown, { message }: ApiError): ApiError {
  return invalidError({ group: "", kind: "" }, "", [invalid("patch", JSON.stringify(body), message)]);
}

/** A patch names no object besides the one that it is of: another uid in it is a change that the object cannot have. */
function checkIdentity(
  { kind, name, isPatch = false, isApply = false }: UpdateRequest,
  sent: KubeObject,
  current: KubeObject,
): void {
  checkName(sent, name);
  const { uid, resourceVersion = "" } = sent.metadata;
  if (kind.strategy.needsResourceVersion && resourceVersion === "") {
    throw invalidError(kind, name, [invalid("metadata.resourceVersion", 0, "must be specified for an update")]);
  }
  checkPreconditions(kind, current, { uid: isPatch || isApply ? undefined : uid, resourceVersion });
}

/** Throws BadRequest: whoever wants another name wants another object. */
function checkName({ metadata }: KubeObject, name: string): void {
  const { name: sent = "" } = metadata;
  if (sent === name) return;
  throw badRequestError(
    sent === ""
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${sent}) does not match the name on the URL (${name})`,
  );
}

/** What the request may change: a subresource changes its part, and the object itself everything but its status. */
function takeAllowed(
  kind: ResourceKind,
  subresource: Subresource | undefined,
  { next, current }: { next: KubeObject; current: KubeObject },
): KubeObject {
  if (subresource?.take) return subresource.take(next, current);
  if (subresource?.name === "status") {
    // Who tells the status of a custom object changes none of its metadata; built-in kinds are not as strict.
    return withStatusAlone(kind.schema.strategicMerge ? next : withMetadataOf(next, current), current);
  }
  const kept = hasStatus(kind) ? withStatusOf(next, current) : next;
  return kind.strategy.prepareUpdate?.(kept, current) ?? kept;
}

const hasStatus = ({ subresources }: ResourceKind) => subresources.some(({ name }) => name === "status");

function countGeneration(kind: ResourceKind, { next, current }: { next: KubeObject; current: KubeObject }): KubeObject {
  if (!kind.strategy.generation || !isSpecChanged(next, current, { hasStatus: hasStatus(kind) })) return next;
  return withMetadata(next, { generation: (current.metadata.generation ?? 0) + 1 });
}

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
    now: deps.now(),
    ...(subresource && { subresource: subresource.name }),
  });
}

/** Marked as deleted, and nobody wants it any longer: the last finalizer went with this update. */
function isRemovable({ strategy }: ResourceKind, { metadata, ...rest }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if (strategy.isHeld?.({ metadata, ...rest })) return false;
  return strategy.gracePeriodSeconds === undefined || (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
