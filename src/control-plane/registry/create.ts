import { ApiError, alreadyExistsError, badRequestError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { mutateAdmitted, settleAdmission, validateAdmitted } from "./admit.ts";
import { allocate } from "./allocate.ts";
import { decideAdmitted } from "./decide-admitted.ts";
import { decodeBody } from "./decode-body.ts";
import { keysOf } from "./keys.ts";
import { checkCreated, placeInNamespace, stampCreated } from "./metadata.ts";
import { unstored } from "./object-view.ts";
import { recordCreation } from "./record-creation.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { optionsOf, type RequestContext } from "./request-context.ts";
import { storeAdmitted } from "./store-admitted.ts";

/** How often a generated name is tried when it is taken, as upstream. */
const MAX_NAME_ATTEMPTS = 8;

interface CreateRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly body: unknown;
  readonly context: RequestContext;
  /** Keeps the object's own managed fields, because server-side apply has computed them. Default false. */
  readonly isApply?: boolean;
}

/**
 * Stores a new object, and resolves with it when it is durable. Rejects with an ApiError: BadRequest, Forbidden,
 * AlreadyExists, Invalid, NotFound (for its namespace).
 */
export async function createObject(deps: RegistryDeps, request: CreateRequest): Promise<StoredObject> {
  const settled = settleAdmission(deps.admission, request);
  if (settled !== undefined) await settled;
  return await decideAdmitted(deps, request.kind, async (own) => create(own, request));
}

async function create(deps: RegistryDeps, request: CreateRequest): Promise<StoredObject> {
  const { kind, context } = request;
  const admitted = prepareObject(deps, request);
  const { object } = admitted;
  for (const warning of kind.strategy.warnings?.(object) ?? []) context.warn(warning);
  const { namespace = "", name = "", resourceVersion = "" } = object.metadata;
  const key = keysOf(kind).of(namespace, name);
  // The store's rule about versions comes last, as upstream. A dry run never reaches it, and keeps the version that was
  // sent.
  if (resourceVersion !== "" && !context.dryRun) {
    throw badRequestError("resourceVersion should not be set on objects to be created");
  }
  const existing = deps.store.headOf(key);
  if (existing !== undefined) throw nameTaken(kind, existing.object);
  if (context.dryRun) return unstored(kind, object);
  return await storeAdmitted(deps, key, admitted);
}

function prepareObject(deps: RegistryDeps, request: CreateRequest): AdmissionRequest & { object: KubeObject } {
  const { kind, namespace, body, context } = request;
  const { strategy } = kind;
  const sent = placeInNamespace(kind, decodeBody(kind, body, context), namespace);
  const defaulted = strategy.default?.(sent) ?? sent;
  const stamped = nameObject(deps, kind, defaulted);
  // The managed fields are recorded before admission: fields that admission adds belong to no manager.
  const named = request.isApply
    ? stamped
    : recordCreation(kind, stamped, { manager: context.fieldManager, now: deps.now() });
  const admission: AdmissionRequest = {
    operation: "CREATE",
    kind,
    subresource: "",
    namespace: namespace,
    name: named.metadata.name ?? "",
    user: context.user,
    object: named,
    current: undefined,
    dryRun: context.dryRun,
    options: optionsOf("CreateOptions", context),
    warn: context.warn,
    annotate: context.annotate,
  };
  // Admission may change whatever it likes, but for where the object is stored.
  const admitted = placeInNamespace(kind, mutateAdmitted(deps.admission, admission) ?? named, namespace);
  const complete = admitted === named ? named : (strategy.default?.(admitted) ?? admitted);
  const object = strategy.prepareCreate?.(complete) ?? complete;
  checkCreated(kind, object);
  const allocated = allocate(deps, kind, { next: object, current: undefined });
  const judged = { ...admission, object: allocated };
  validateAdmitted(deps.admission, judged);
  return judged;
}

/**
 * The object with everything that the server sets. A generated name is one that is free, unless all names that were
 * tried are taken.
 */
function nameObject(deps: RegistryDeps, kind: ResourceKind, object: KubeObject): KubeObject {
  const keys = keysOf(kind);
  const isGenerated = (object.metadata.name ?? "") === "";
  for (let attempt = 1; ; attempt++) {
    const stamp = { now: deps.now(), uid: deps.newUid(), suffix: deps.randomSuffix() };
    const named = stampCreated(kind, object, stamp);
    const { namespace = "", name = "" } = named.metadata;
    if (!isGenerated || name === "" || attempt === MAX_NAME_ATTEMPTS) return named;
    if (deps.store.headOf(keys.of(namespace, name)) === undefined) return named;
  }
}

function nameTaken(kind: ResourceKind, { metadata }: KubeObject): ApiError {
  const taken = alreadyExistsError({ group: kind.group, resource: kind.plural }, metadata.name ?? "");
  if (metadata.deletionTimestamp === undefined) return taken;
  return new ApiError("AlreadyExists", `object is being deleted: ${taken.message}`, taken.details);
}
