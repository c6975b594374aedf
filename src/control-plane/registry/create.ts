import { ApiError, alreadyExistsError, forbiddenError } from "../../api/api-error.ts";
import { recordUpdate } from "../../api/apply/managed-fields.ts";
import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { mutateAdmitted, validateAdmitted } from "./admit.ts";
import { decideDurably } from "./decide-durably.ts";
import { decodeBody } from "./decode-body.ts";
import { keysOf } from "./keys.ts";
import { checkCreated, placeInNamespace, stampCreated } from "./metadata.ts";
import { apiVersion, storedForm, unstored } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import type { RequestContext } from "./request-context.ts";
import { resetFieldsOf } from "./reset-fields.ts";

/** A generated name that is taken is generated anew this often, as upstream. */
const MAX_NAME_ATTEMPTS = 8;

export interface CreateRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly body: unknown;
  readonly context: RequestContext;
  /** The object's own managed fields are kept: server-side apply has computed them. Default false. */
  readonly isApply?: boolean;
}

/**
 * Stores a new object, and resolves with it when that is durable. Rejects with an ApiError: BadRequest, Forbidden,
 * AlreadyExists, Invalid, NotFound (of its namespace).
 */
export async function createObject(deps: RegistryDeps, request: CreateRequest): Promise<StoredObject> {
  return await decideDurably(deps.store, async () => create(deps, request));
}

async function create(deps: RegistryDeps, request: CreateRequest): Promise<StoredObject> {
  const { kind, context } = request;
  const object = prepareObject(deps, request);
  for (const warning of kind.strategy.warnings?.(object) ?? []) context.warn(warning);
  if (context.dryRun) return unstored(kind, object);
  const { namespace = "", name = "" } = object.metadata;
  return await deps.store.put(keysOf(kind).of(namespace, name), storedForm(kind, object));
}

function prepareObject(deps: RegistryDeps, request: CreateRequest): KubeObject {
  const { kind, namespace, body, context } = request;
  const { strategy } = kind;
  const sent = placeInNamespace(kind, decodeBody(kind, body, context), namespace);
  if (strategy.refusal !== undefined) {
    throw forbiddenError({ group: kind.group, resource: kind.plural }, sent.metadata.name ?? "", strategy.refusal);
  }
  const defaulted = strategy.default?.(sent) ?? sent;
  const stamped = nameObject(deps, kind, defaulted);
  // Before admission: what that adds belongs to nobody.
  const named = request.isApply ? stamped : recordCreation(deps, request, stamped);
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
    warn: context.warn,
  };
  const admitted = mutateAdmitted(deps.admission, admission) ?? named;
  const complete = admitted === named ? named : (strategy.default?.(admitted) ?? admitted);
  const object = strategy.prepareCreate?.(complete) ?? complete;
  checkCreated(kind, object);
  const allocated = deps.allocate(object, undefined);
  validateAdmitted(deps.admission, { ...admission, object: allocated });
  return allocated;
}

function recordCreation(deps: RegistryDeps, { kind, context }: CreateRequest, after: KubeObject): KubeObject {
  return recordUpdate({
    before: undefined,
    after,
    node: kind.schema.node,
    manager: context.fieldManager,
    apiVersion: apiVersion(kind),
    now: deps.now(),
    ...resetFieldsOf(kind, ""),
  });
}

/** With a name that nobody has, and all else that the server sets. */
function nameObject(deps: RegistryDeps, kind: ResourceKind, object: KubeObject): KubeObject {
  const keys = keysOf(kind);
  const isGenerated = (object.metadata.name ?? "") === "";
  for (let attempt = 1; ; attempt++) {
    const stamp = { now: deps.now(), uid: deps.newUid(), suffix: deps.randomSuffix() };
    const named = stampCreated(kind, object, stamp);
    const { namespace = "", name = "" } = named.metadata;
    const existing = name === "" ? undefined : deps.store.headOf(keys.of(namespace, name));
    if (existing === undefined) return named;
    if (!isGenerated || attempt === MAX_NAME_ATTEMPTS) throw nameTaken(kind, existing.object);
  }
}

function nameTaken(kind: ResourceKind, { metadata }: KubeObject): ApiError {
  const taken = alreadyExistsError({ group: kind.group, resource: kind.plural }, metadata.name ?? "");
  if (metadata.deletionTimestamp === undefined) return taken;
  return new ApiError("AlreadyExists", `object is being deleted: ${taken.message}`, taken.details);
}
