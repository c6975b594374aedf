import { ApiError, isApiError } from "../../api/api-error.ts";
import type { Namespace } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import { createLimiter } from "../../base/limiter.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { isGoneAlready } from "../control-loop/gone-already.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceReader, ResourceWriter } from "../ports/resources.ts";
import { emptyForeign, type ForeignServers } from "./foreign-content.ts";
import { type RemainingContent, updateConditions } from "./namespace-conditions.ts";

/** The finalizer in a namespace's spec that stands for the objects in it. */
const FINALIZER = "kubernetes";
/**
 * Every change in a namespace that is being deleted leads to another look. This interval is for changes that no event
 * announces.
 */
const LOOK_AGAIN_MS = 30_000;
const DELETIONS_AT_ONCE = 16;

interface NamespaceControllerDeps extends ControllerDeps, Partial<ForeignServers> {
  /** The resources of namespaced objects that can be deleted (`pods`, `deployments.apps`). Asked anew each time. */
  namespacedResources: () => readonly string[];
}

/**
 * Empties namespaces that are being deleted, pods first, and finalizes them when nothing is left
 * (`pkg/controller/namespace`). Pods get their grace period. Objects with finalizers are waited for, and the
 * namespace's conditions say so.
 */
export function createNamespaceController(deps: NamespaceControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const terminating = new Set<string>();
  const queue = createWorkQueue(deps, {
    name: "namespace",
    async reconcile(name, signal) {
      const found = reader.get({ resource: "namespaces", namespace: "", name });
      if (found === undefined || found.metadata.deletionTimestamp === undefined) return undefined;
      const namespace = await markTerminating(writer, typed("Namespace", found));
      if (!namespace.spec?.finalizers?.length) return undefined;
      const remaining = await empty(deps, name, signal).catch(unlessAborted);
      if (remaining === undefined) return undefined;
      const next = await writeConditions(writer, { namespace, remaining, now: clock.now() });
      const problems = [
        ...remaining.failures,
        ...remaining.undiscovered.map((version) => `${version} is not discovered`),
      ];
      if (problems.length > 0) throw new ApiError("InternalError", problems.join("; "));
      if (remaining.resources.size > 0) return LOOK_AGAIN_MS;
      await finalize(writer, next);
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("namespaces", ({ type, object }) => {
      const { name = "", deletionTimestamp } = object.metadata;
      if (type === "DELETED" || deletionTimestamp === undefined) terminating.delete(name);
      else {
        terminating.add(name);
        queue.add(name);
      }
    }),
    feed.followAll((_resource, { object }) => {
      const { namespace } = object.metadata;
      if (namespace !== undefined && terminating.has(namespace)) queue.add(namespace);
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

async function markTerminating(writer: ResourceWriter, namespace: Namespace): Promise<Namespace> {
  if (namespace.status?.phase === "Terminating") return namespace;
  const marked = { ...namespace, status: { ...namespace.status, phase: "Terminating" } };
  return typed("Namespace", await writer.update("namespaces", untyped(marked), "status"));
}

/** The control plane stops: the next one goes on. */
function unlessAborted(error: unknown): undefined {
  if (!isAbort(error)) throw error;
}

/**
 * Deletes the content and returns what is left. Pods are deleted before the objects that they may still need, and what
 * API servers of others have comes last, because they may be slow. Rejects with `AbortedError` only.
 */
async function empty(deps: NamespaceControllerDeps, namespace: string, signal: AbortSignal): Promise<RemainingContent> {
  const resources = deps.namespacedResources();
  const others = resources.filter((resource) => resource !== "pods");
  const failures: string[] = [];
  if (resources.includes("pods")) {
    failures.push(...(await deleteAll(deps, "pods", namespace)));
    const remaining = countRemaining(deps.reader, ["pods"], namespace);
    if (remaining.resources.size > 0) return { ...remaining, failures, undiscovered: [] };
  }
  for (const resource of others) failures.push(...(await deleteAll(deps, resource, namespace)));
  const remaining = countRemaining(deps.reader, resources, namespace);
  const { readForeign, foreignResources } = deps;
  if (readForeign === undefined || foreignResources === undefined) return { ...remaining, failures, undiscovered: [] };
  const foreign = await emptyForeign({ readForeign, foreignResources, namespace, signal });
  return {
    resources: new Map([...remaining.resources, ...foreign.resources]),
    finalizers: addCounts(remaining.finalizers, foreign.finalizers),
    failures: [...failures, ...foreign.failures],
    undiscovered: foreign.undiscovered,
  };
}

function addCounts(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sums = new Map(one);
  for (const [name, count] of other) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}

/** Returns the failures. All other objects are deleted or being deleted. */
async function deleteAll({ reader, writer }: ControllerDeps, resource: string, namespace: string): Promise<string[]> {
  const limiter = createLimiter(DELETIONS_AT_ONCE);
  const cause = `the namespace controller, because the namespace ${namespace} is deleted`;
  const failures: string[] = [];
  const deleteOne = async ({ metadata }: KubeObject) => {
    if (metadata.deletionTimestamp !== undefined) return;
    const { name = "", uid } = metadata;
    const preconditions = uid === undefined ? {} : { uid };
    const target = { resource, namespace, name };
    try {
      await writer.remove(target, { propagationPolicy: "Background", preconditions, cause });
    } catch (error) {
      if (!isApiError(error)) throw error;
      // What has its name now is seen by the next look.
      if (!isGoneAlready(error, reader, { ...target, uid })) failures.push(messageOf(error));
    }
  };
  await Promise.all(reader.list(resource, namespace).map((object) => limiter.run(() => deleteOne(object))));
  return failures;
}

function countRemaining(
  reader: ResourceReader,
  names: readonly string[],
  namespace: string,
): Pick<RemainingContent, "resources" | "finalizers"> {
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  for (const resource of names) {
    const objects = reader.list(resource, namespace);
    if (objects.length > 0) resources.set(resource, objects.length);
    for (const finalizer of objects.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    }
  }
  return { resources, finalizers };
}

async function writeConditions(
  writer: ResourceWriter,
  { namespace, remaining, now }: { namespace: Namespace; remaining: RemainingContent; now: number },
): Promise<Namespace> {
  const current = namespace.status?.conditions ?? [];
  const conditions = updateConditions(current, remaining, now);
  if (conditions === current) return namespace;
  const updated = { ...namespace, status: { ...namespace.status, conditions: [...conditions] } };
  return typed("Namespace", await writer.update("namespaces", untyped(updated), "status"));
}

/** Removes our finalizer. The removal of the last finalizer deletes the namespace; finalizers of others keep it. */
async function finalize(writer: ResourceWriter, namespace: Namespace): Promise<void> {
  const finalizers = namespace.spec?.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? [];
  const finalized = { ...namespace, spec: { ...namespace.spec, finalizers } };
  await unlessOvertaken(writer.update("namespaces", untyped(finalized), "finalize"));
}
