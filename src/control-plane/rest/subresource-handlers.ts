import { badRequestError, isApiError, notFoundError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { applyJsonPatch } from "../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge.ts";
import { formatTime } from "../../base/clock.ts";
import { defineKind } from "../kinds/define-kind.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { admitAction } from "../registry/admit.ts";
import { decodeBody, decodeChange } from "../registry/decode-body.ts";
import { placeInNamespace } from "../registry/metadata.ts";
import { viewOf } from "../registry/object-view.ts";
import { requireFieldOwner } from "../registry/patch.ts";
import { getObject } from "../registry/read.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { type DeleteOptions, deleteObject } from "../registry/remove.ts";
import { showOne } from "../registry/shown.ts";
import { bindPod } from "../registry/subresources/bind-pod.ts";
import { disruptedBudget, evictedPod, planDisruption, unseenError } from "../registry/subresources/eviction.ts";
import { freeSubresource } from "../registry/subresources/free-subresource.ts";
import { scaleOf, scalePathsOfKind } from "../registry/subresources/scale.ts";
import { updateScale } from "../registry/subresources/update-scale.ts";
import { updateObject } from "../registry/update.ts";
import { deleteOptionsOf } from "./query-options.ts";
import type { SubresourceCall, SubresourceHandler } from "./serve-resource.ts";

const SCALE = defineKind({ group: "autoscaling", kind: "Scale", plural: "scales" });
const BINDING = defineKind({ kind: "Binding", plural: "bindings" });
const EVICTION = defineKind({ group: "policy", kind: "Eviction", plural: "evictions" });

/** What is posted to an object, as an object of the action's kind in the object's namespace. */
function actionOf(expected: ResourceKind, { body, context, target }: SubresourceCall): KubeObject {
  return placeInNamespace(expected, decodeBody(expected, body, context), target.namespace);
}

/** Throws BadRequest unless the action names the object to which it was posted. */
function checkActionName({ kind, metadata }: KubeObject, name: string): void {
  const { name: sent = "" } = metadata;
  if (sent === name) return;
  throw badRequestError(
    `name in URL does not match name in ${kind} object: ${name} is not ${sent === "" ? "given there" : sent}`,
  );
}

/** `pods/binding`, and the old `bindings`: puts a pod on a node. */
export function bindingHandler(deps: RegistryDeps): SubresourceHandler {
  return async (call) => {
    const { kind, target, context } = call;
    const { namespace } = target;
    const binding = actionOf(BINDING, call);
    // A binding that is posted as such has the pod's name by itself.
    const name = target.name === "" ? (binding.metadata.name ?? "") : target.name;
    checkActionName(binding, name);
    await bindPod(deps, { kind, namespace, name, binding, context });
    return { status: 201, value: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
  };
}

/** `pods/eviction`: a deletion that disruption budgets may refuse. */
export function evictionHandler(deps: RegistryDeps, reader: ResourceReader): SubresourceHandler {
  return async (call) => {
    const { kind, target, context } = call;
    const { namespace, name } = target;
    const eviction = actionOf(EVICTION, call);
    checkActionName(eviction, name);
    const pod = getObject(deps.store, kind, target);
    await admitEviction(deps, call, eviction);
    const { dryRun, ...options } = deleteOptionsOf(eviction["deleteOptions"], new URLSearchParams());
    const isDry = dryRun || context.dryRun;
    const plan = planDisruption(viewOf(kind, pod), reader.list("poddisruptionbudgets.policy", namespace));
    if (plan.kind === "disrupt" && !isDry) await disrupt(deps, plan.budget, { name, context });
    const asked = options.preconditions;
    const { resourceVersion } = viewOf(kind, pod).metadata;
    const exact =
      plan.kind === "evict-unready" && resourceVersion !== undefined ? { resourceVersion, ...asked } : asked;
    const preconditions = isDry ? exact : await markEvicted(deps, call, exact);
    const deletion = { ...options, ...(preconditions && { preconditions }) };
    const cause = "an eviction through the API";
    try {
      const asEviction = { ...context, dryRun: isDry, cause };
      await deleteObject(deps, { kind, namespace, name, options: deletion, context: asEviction });
    } catch (error) {
      // The pod may have become ready meanwhile, and then the budget counts it.
      const isOwn = plan.kind === "evict-unready" && asked?.resourceVersion === undefined;
      throw isOwn && isApiError(error, "Conflict") ? unseenError(plan.budget) : error;
    }
    return { status: 201, value: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
  };
}

async function admitEviction(
  deps: RegistryDeps,
  { kind, target, context }: SubresourceCall,
  object: KubeObject,
): Promise<void> {
  const { namespace, name } = target;
  const { user, dryRun, warn, annotate } = context;
  const asked = { kind, subresource: "eviction", namespace, name, user, current: undefined, dryRun, warn, annotate };
  await admitAction(deps, { operation: "CREATE", ...asked, object });
}

/**
 * Writes into the pod's status why it is evicted. A pod that is not the one meant stays as it is: the deletion
 * refuses it. Returns the preconditions by which the deletion finds the pod in its new version.
 */
async function markEvicted(
  deps: RegistryDeps,
  { kind, target, context }: SubresourceCall,
  expected: DeleteOptions["preconditions"] = {},
): Promise<DeleteOptions["preconditions"]> {
  const { namespace, name } = target;
  const { uid, resourceVersion } = expected;
  const isMeant = ({ metadata }: KubeObject) =>
    (uid === undefined || uid === metadata.uid) &&
    (resourceVersion === undefined || resourceVersion === metadata.resourceVersion);
  let marked = false;
  const { stored } = await updateObject(deps, {
    kind,
    namespace,
    name,
    subresource: freeSubresource("eviction", kind),
    context,
    change(current) {
      if (current === undefined || !isMeant(current)) return current;
      marked = true;
      return evictedPod(current, formatTime(deps.now()));
    },
  });
  if (!marked || resourceVersion === undefined) return expected;
  const { resourceVersion: next } = viewOf(kind, stored).metadata;
  return { ...expected, ...(next !== undefined && { resourceVersion: next }) };
}

async function disrupt(
  deps: RegistryDeps,
  budget: KubeObject,
  { name, context }: { name: string; context: SubresourceCall["context"] },
): Promise<void> {
  const kind = deps.kinds.stored("poddisruptionbudgets.policy");
  if (kind === undefined) return;
  const { namespace = "", name: budgetName = "" } = budget.metadata;
  const now = formatTime(deps.now());
  await updateObject(deps, {
    kind,
    namespace,
    name: budgetName,
    subresource: freeSubresource("status", kind),
    context,
    change: (current) => current && disruptedBudget(current, name, now),
  });
}

/** `…/scale` of any kind with replicas. */
export function scaleHandler(deps: RegistryDeps): SubresourceHandler {
  return async (call) => {
    const { kind, target, context } = call;
    const { namespace, name } = target;
    const paths = scalePathsOfKind(kind);
    if (paths === undefined) throw notFoundError({ group: kind.group, resource: `${kind.plural}/scale` }, name);
    if (target.verb === "get") {
      return { status: 200, value: scaleOf(await showOne(kind, getObject(deps.store, kind, target)), paths) };
    }
    const isPatch = call.patchType !== undefined;
    const change = (current: KubeObject) => decodeChange(SCALE, changedScale(call, current), { context, isPatch });
    const apply = call.patchType === "apply" ? { force: call.force } : undefined;
    if (apply) requireFieldOwner(context);
    const updated = await updateScale(deps, { kind, paths, namespace, name, context, change, isPatch, apply });
    return { status: 200, value: scaleOf(await showOne(kind, updated.stored), paths) };
  };
}

function changedScale({ body, patchType }: SubresourceCall, current: KubeObject): unknown {
  switch (patchType) {
    case undefined:
    case "apply":
      return body;
    case "json":
      return applyJsonPatch(current, body);
    case "strategic":
      return applyStrategicMergePatch(current, body, SCALE.schema.node);
    case "merge":
      return applyMergePatch(current, body);
  }
}
