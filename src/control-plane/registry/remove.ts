import { conflictError, notFoundError } from "../../api/api-error.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import type { StoredObject } from "../ports/object-store.ts";
import { groupResource, type ResourceKind } from "../ports/resource-kind.ts";
import { validateAdmitted } from "./admit.ts";
import { decideAdmitted } from "./decide-admitted.ts";
import { keysOf } from "./keys.ts";
import type { Preconditions } from "./metadata.ts";
import { storedForm, unstored, viewOf, withMetadata } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { optionsOf, type RequestContext } from "./request-context.ts";
import { removeStored } from "./store-admitted.ts";

/** `metav1.DeleteOptions`, decoded. */
export interface DeleteOptions {
  /** In seconds; 0 deletes at once. Default: as the object says. */
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly preconditions?: Preconditions | undefined;
}

/** The object to delete, and how to delete it. */
interface DeleteRequest {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly context: RequestContext;
}

interface Deleted {
  /** The object as it is now, or its last state. */
  readonly stored: StoredObject;
  /** False while a grace period or a finalizer keeps the object. */
  readonly isGone: boolean;
}

/**
 * Deletes an object, or marks it as deleted while a grace period or a finalizer keeps it. Resolves when that is durable.
 * Rejects with an ApiError: NotFound, Conflict (preconditions), Forbidden.
 */
export async function deleteObject(deps: RegistryDeps, request: DeleteRequest): Promise<Deleted> {
  return await decideAdmitted(deps, request.kind, async (own) => remove(own, request));
}

async function remove(deps: RegistryDeps, request: DeleteRequest): Promise<Deleted> {
  const { kind, namespace, name, options, context } = request;
  const key = keysOf(kind).of(namespace, name);
  const stored = deps.store.headOf(key);
  if (stored === undefined) throw notFoundError({ group: kind.group, resource: kind.plural }, name);
  const current = viewOf(kind, stored);
  checkExpected(kind, current, options.preconditions ?? {});
  validateAdmitted(deps.admission, {
    operation: "DELETE",
    kind,
    subresource: "",
    namespace,
    name,
    user: context.user,
    object: undefined,
    current,
    dryRun: context.dryRun,
    options: { ...optionsOf("DeleteOptions", context), ...options },
    warn: context.warn,
    annotate: context.annotate,
  });
  const plan = planDeletion(kind, current, { options, now: deps.now() });
  if (context.dryRun) return dryRun({ kind, stored }, plan);
  const deleted = await execute(deps, { kind, key, stored }, plan);
  if (plan.kind !== "wait") tell(deps, request, { current, marked: plan.object, isGone: deleted.isGone });
  return deleted;
}

function tell(
  deps: RegistryDeps,
  { kind, context }: DeleteRequest,
  { current, marked, isGone }: { current: KubeObject; marked: KubeObject; isGone: boolean },
): void {
  const { user, userAgent, cause } = context;
  const gracePeriodSeconds = marked.metadata.deletionGracePeriodSeconds ?? 0;
  const resource = groupResource(kind);
  deps.noteDeletion?.({ resource, object: current, user, userAgent, cause, gracePeriodSeconds, isGone });
}

/** Throws Conflict when the object is not the expected one. The message differs from that of an update. */
function checkExpected(kind: ResourceKind, { metadata }: KubeObject, { uid, resourceVersion }: Preconditions): void {
  const conflict = (field: string, [expected, actual]: readonly [string, string], may: string) => {
    const detail = `the ${field} in the precondition (${expected}) does not match the ${field} in record (${actual})`;
    const subject = { group: kind.group, resource: kind.kind };
    return conflictError(subject, metadata.name ?? "", `${detail}. The object might have been ${may}`);
  };
  const current = { uid: metadata.uid ?? "", resourceVersion: metadata.resourceVersion ?? "" };
  if (uid !== undefined && uid !== current.uid) throw conflict("UID", [uid, current.uid], "deleted and then recreated");
  if (resourceVersion !== undefined && resourceVersion !== current.resourceVersion) {
    throw conflict("ResourceVersion", [resourceVersion, current.resourceVersion], "modified");
  }
}

type DeletionPlan =
  /** The object is marked already, with a grace period that is as short: nothing is left to do. */
  { kind: "wait" } | { kind: "mark"; object: KubeObject } | { kind: "remove"; object: KubeObject };

function planDeletion(
  kind: ResourceKind,
  current: KubeObject,
  { options, now }: { options: DeleteOptions; now: number },
): DeletionPlan {
  const finalizers = finalizersFor(current, options.propagationPolicy ?? usualPolicyOf(kind, current));
  const seconds = kind.strategy.gracePeriodSeconds?.(current, options.gracePeriodSeconds) ?? 0;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = current.metadata;
  const isMarked = deletionTimestamp !== undefined;
  if (isMarked && seconds > 0 && seconds >= deletionGracePeriodSeconds) return { kind: "wait" };
  const marked = markDeleted(kind, current, { finalizers, seconds, now });
  if (seconds === 0 && finalizers.length === 0 && !kind.strategy.isHeld?.(current)) {
    // An object that is removed at once was never marked, so watchers see it as it was.
    return { kind: "remove", object: kind.strategy.gracePeriodSeconds ? marked : current };
  }
  const isSame =
    isMarked && seconds >= deletionGracePeriodSeconds && isSameList(finalizers, current.metadata.finalizers);
  return isSame ? { kind: "wait" } : { kind: "mark", object: marked };
}

function markDeleted(
  { strategy }: ResourceKind,
  current: KubeObject,
  { finalizers, seconds, now }: { finalizers: readonly string[]; seconds: number; now: number },
): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = current.metadata;
  const began =
    deletionTimestamp === undefined ? now : Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  const counted = deletionTimestamp === undefined && generation !== undefined ? generation + 1 : generation;
  const marked = withMetadata(current, {
    deletionTimestamp: formatTime(deletionTimestamp === undefined ? now + seconds * 1000 : began + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
    generation: counted,
    finalizers: finalizers.length > 0 ? [...finalizers] : undefined,
  });
  return strategy.markDeleted?.(marked) ?? marked;
}

/** The policy of a deletion that names none, where the kind has one and no earlier deletion has chosen. */
function usualPolicyOf({ strategy }: ResourceKind, { metadata }: KubeObject): DeleteOptions["propagationPolicy"] {
  const { finalizers = [] } = metadata;
  const isChosen = finalizers.includes(FOREGROUND_FINALIZER) || finalizers.includes(ORPHAN_FINALIZER);
  return strategy.orphansByDefault === true && !isChosen ? "Orphan" : undefined;
}

/**
 * The object's finalizers after a deletion with this policy. Those of the garbage collector follow the policy of the
 * last deletion; without a policy they stay.
 */
function finalizersFor({ metadata }: KubeObject, policy: DeleteOptions["propagationPolicy"]): readonly string[] {
  const { finalizers = [] } = metadata;
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== FOREGROUND_FINALIZER && name !== ORPHAN_FINALIZER);
  if (policy === "Background") return others;
  return [...others, policy === "Foreground" ? FOREGROUND_FINALIZER : ORPHAN_FINALIZER];
}

const isSameList = (a: readonly string[], b: readonly string[] = []) => a.join("\n") === b.join("\n");

function dryRun({ kind, stored }: { kind: ResourceKind; stored: StoredObject }, plan: DeletionPlan): Deleted {
  return { stored: plan.kind === "wait" ? stored : unstored(kind, plan.object), isGone: plan.kind === "remove" };
}

async function execute(
  deps: RegistryDeps,
  { kind, key, stored }: { kind: ResourceKind; key: string; stored: StoredObject },
  plan: DeletionPlan,
): Promise<Deleted> {
  switch (plan.kind) {
    case "wait":
      return { stored, isGone: false };
    case "mark":
      return { stored: await deps.store.put(key, storedForm(kind, plan.object)), isGone: false };
    case "remove":
      return {
        stored: await removeStored(deps, key, { kind, object: plan.object, current: viewOf(kind, stored) }),
        isGone: true,
      };
  }
}
