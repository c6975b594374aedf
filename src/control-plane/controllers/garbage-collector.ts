import { isApiError } from "../../api/api-error.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { OwnerReference } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { isAbort } from "../../base/abort.ts";
import { formatTime, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";
import type { ObjectName } from "../ports/resources.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { collectForeign } from "./foreign-deletions.ts";
import { releaseFromForeign } from "./foreign-dependents.ts";
import { createForeignOwners, type FindForeignOwner } from "./foreign-owners.ts";
import { createOwnerGraph, isHeldBy, type OwnerGraph, resourceKeyOf, splitResourceKey } from "./owner-graph.ts";
import {
  blocks,
  type ClassifiedOwners,
  classifyOwners,
  type OwnerStanding,
  type Policy,
  policyOf,
  type ResolveKind,
  withoutBlocking,
  withoutFinalizer,
  withoutOwners,
} from "./owner-references.ts";

/** A kind that is not served now may be served later, and no event tells when. */
const UNRESOLVABLE_RETRY_MS = 30 * SECOND;
const WORKERS = 16;
const COMPONENT = "garbage-collector-controller";
/** Events own nothing, are owned by nothing, and are many. */
const IGNORED = new Set(["events", "events.events.k8s.io"]);

/** The key of all that API servers of others have. No object has it. */
const FOREIGN_SWEEP = "foreign";
/** An owner that an API server of others has may be gone by now, and no event tells. */
const FOREIGN_RETRY_MS = 30 * SECOND;
/** Dependents that an API server of others has may be gone by now. */
const FOREIGN_DEPENDENTS_RETRY_MS = 5 * SECOND;

interface GarbageCollectorDeps extends ControllerDeps, Partial<ForeignServers> {
  /** Resolves all kinds that are served, custom kinds and all versions included. */
  resolveKind: ResolveKind;
}

interface Collector extends GarbageCollectorDeps {
  graph: OwnerGraph;
  queue: Pick<WorkQueue, "add">;
  findForeignOwner: FindForeignOwner | undefined;
}

/**
 * Deletes objects whose owners are all gone, and carries out propagation policies: with foreground deletion dependents
 * go first, with orphaning they forget their owner (`pkg/controller/garbagecollector`). Every decision is made on the
 * objects that are stored at that moment; the graph only says which objects to look at.
 */
export function createGarbageCollector(deps: GarbageCollectorDeps): Controller {
  const graph = createOwnerGraph();
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "garbage_collector_attempt_to_delete",
    workers: WORKERS,
    reconcile: (key, signal) => reconcile(collector, key, signal),
  });
  const { readForeign, foreignResources, clock } = deps;
  const isAlone = readForeign === undefined || foreignResources === undefined;
  const findForeignOwner = isAlone ? undefined : createForeignOwners({ readForeign, foreignResources, clock });
  const collector: Collector = { ...deps, graph, queue, findForeignOwner };
  const follow = () => [
    deps.feed.followAll((resource, event) => {
      if (IGNORED.has(resource)) return;
      for (const key of graph.apply(resource, event)) queue.add(key);
    }),
  ];
  const run = async (signal: AbortSignal) => {
    if (!isAlone) queue.add(FOREIGN_SWEEP);
    await runFollowing(queue, follow, signal);
  };
  return { run };
}

async function reconcile(collector: Collector, key: string, signal: AbortSignal): Promise<number | undefined> {
  if (key === FOREIGN_SWEEP) return await sweepForeign(collector, signal);
  const target = splitResourceKey(key);
  const object = collector.reader.get(target);
  if (object === undefined) return undefined;
  if (isHeldBy(ORPHAN_FINALIZER, object)) await orphanDependents(collector, target, object);
  else if (isHeldBy(FOREGROUND_FINALIZER, object)) return releaseForeground(collector, object, { target, signal });
  else if (object.metadata.deletionTimestamp === undefined) return collect(collector, object, { target, signal });
  return undefined;
}

/**
 * Removes the dependents' references first and the finalizer afterwards. In the other order the dependents would be
 * collected.
 */
async function orphanDependents(collector: Collector, target: ObjectName, owner: KubeObject): Promise<void> {
  const { reader, writer, graph } = collector;
  const { uid = "" } = owner.metadata;
  for (const dependent of graph.dependentsOf(uid).map(splitResourceKey)) {
    const object = reader.get(dependent);
    if (object === undefined) continue;
    await unlessOvertaken(writer.update(dependent.resource, withoutOwners(object, [uid])));
  }
  await unlessOvertaken(writer.update(target.resource, withoutFinalizer(owner, ORPHAN_FINALIZER)));
}

async function releaseForeground(
  collector: Collector,
  owner: KubeObject,
  { target, signal }: Collected,
): Promise<number | undefined> {
  const { reader, writer, graph, queue } = collector;
  const { uid = "" } = owner.metadata;
  // An object that owns itself cannot wait for itself.
  const others = graph.dependentsOf(uid).filter((key) => key !== resourceKeyOf(target));
  const blocking = others.flatMap((key) => {
    const object = reader.get(splitResourceKey(key));
    return object !== undefined && blocks(object, owner) ? [{ key, object }] : [];
  });
  if (blocking.length === 0) {
    if (await isHeldElsewhere(collector, owner, signal)) return FOREIGN_DEPENDENTS_RETRY_MS;
    await unlessOvertaken(writer.update(target.resource, withoutFinalizer(owner, FOREGROUND_FINALIZER)));
    return undefined;
  }
  // Dependents that wait themselves are being deleted already. If they were asked again, two owners could ask each
  // other forever.
  for (const { key, object } of blocking) {
    if (object.metadata.deletionTimestamp === undefined) queue.add(key);
  }
  return undefined;
}

/** Looks at all that API servers of others have, because no event of theirs comes here. */
async function sweepForeign(collector: Collector, signal: AbortSignal): Promise<number | undefined> {
  const { reader, writer, graph, queue, readForeign, foreignResources } = collector;
  if (readForeign === undefined || foreignResources === undefined) return undefined;
  const classify = async (object: KubeObject) => await classifyAll(collector, object, signal);
  try {
    await collectForeign({
      ...{ readForeign, foreignResources, signal, classify },
      dependentsOf: ({ metadata: { uid = "" } }) =>
        graph.dependentsOf(uid).flatMap((key) => {
          const object = reader.get(splitResourceKey(key));
          return object === undefined ? [] : [{ key, object }];
        }),
      lookAt: ({ key, object }) => {
        if (object.metadata.deletionTimestamp === undefined) queue.add(key);
      },
      async forgetOwner({ key, object }, { metadata: { uid = "" } }) {
        const { resource } = splitResourceKey(key);
        await unlessOvertaken(writer.update(resource, withoutOwners(object, [uid])));
      },
    });
  } catch (error) {
    // The control plane stops.
    if (isAbort(error)) return undefined;
    throw error;
  }
  return FOREIGN_RETRY_MS;
}

/** Whether dependents that API servers of others have hold the owner up; they are asked to delete them. */
async function isHeldElsewhere(collector: Collector, owner: KubeObject, signal: AbortSignal): Promise<boolean> {
  const { readForeign, foreignResources } = collector;
  if (readForeign === undefined || foreignResources === undefined || foreignResources().length === 0) return false;
  const classify = async (object: KubeObject) => await classifyAll(collector, object, signal);
  try {
    return !(await releaseFromForeign({ readForeign, foreignResources, classify }, owner, signal));
  } catch (error) {
    // The control plane stops.
    if (isAbort(error)) return true;
    throw error;
  }
}

/** The owners of an object that an API server of others has. */
async function classifyAll(collector: Collector, object: KubeObject, signal: AbortSignal) {
  const { namespace = "" } = object.metadata;
  return await withForeignOwners(collector, classifyOwners(object, collector), { namespace, signal });
}

interface Collected {
  readonly target: ObjectName;
  readonly signal: AbortSignal;
}

async function collect(
  collector: Collector,
  object: KubeObject,
  { target, signal }: Collected,
): Promise<number | undefined> {
  const own = classifyOwners(object, collector);
  const owners = await withForeignOwners(collector, own, { namespace: target.namespace, signal });
  // The control plane stops.
  if (owners === undefined) return undefined;
  const isForeignSolid = owners.solid.length > own.solid.length;
  const { solid, absent, waiting, unresolvable } = owners;
  if (solid.length > 0) {
    await reportOwnersElsewhere(collector, object, absent);
    const uids = [...absent, ...waiting].map(({ uid }) => uid);
    if (uids.length > 0) {
      await unlessOvertaken(collector.writer.update(target.resource, withoutOwners(object, uids)));
    }
    return isForeignSolid ? FOREIGN_RETRY_MS : undefined;
  }
  // An owner that cannot be looked up may exist.
  if (unresolvable.length > 0) return UNRESOLVABLE_RETRY_MS;
  await reportOwnersElsewhere(collector, object, absent);
  if (waiting.length > 0) await collectInForeground(collector, target, object);
  else if (absent.length > 0) await deleteAsItIs(collector, target, { object, policy: policyOf(object) });
  return undefined;
}

/** The owners with those that API servers of others have, each at its place; undefined when the signal fires. */
async function withForeignOwners(
  { findForeignOwner }: Collector,
  owners: ClassifiedOwners,
  { namespace, signal }: { namespace: string; signal: AbortSignal },
): Promise<ClassifiedOwners | undefined> {
  if (findForeignOwner === undefined || owners.unresolvable.length === 0) return owners;
  const found: Record<OwnerStanding, OwnerReference[]> = {
    solid: [...owners.solid],
    absent: [...owners.absent],
    waiting: [...owners.waiting],
    unresolvable: [],
  };
  try {
    for (const reference of owners.unresolvable) {
      found[await findForeignOwner(reference, namespace, signal)].push(reference);
    }
  } catch (error) {
    if (isAbort(error)) return undefined;
    throw error;
  }
  return found;
}

/**
 * An owner waits for this object, so the object's own dependents go before it too. If such a dependent waits in turn,
 * the references may form a circle. The object then no longer holds up its owners, or all of them would wait forever.
 */
async function collectInForeground(collector: Collector, target: ObjectName, object: KubeObject): Promise<void> {
  const { reader, writer, graph } = collector;
  const dependents = graph
    .dependentsOf(object.metadata.uid ?? "")
    .flatMap((key) => reader.get(splitResourceKey(key)) ?? []);
  if (dependents.length === 0) {
    await deleteAsItIs(collector, target, { object, policy: policyOf(object) });
    return;
  }
  const isCircle = dependents.some((dependent) => isHeldBy(FOREGROUND_FINALIZER, dependent));
  const unblocked = isCircle ? await writer.update(target.resource, withoutBlocking(object)) : object;
  await deleteAsItIs(collector, target, { object: unblocked, policy: "Foreground" });
}

/**
 * Deletes the object only in the version on which the decision was made, because somebody may give it an owner at this
 * moment.
 */
async function deleteAsItIs(
  { writer, log }: Collector,
  target: ObjectName,
  { object, policy }: { object: KubeObject; policy: Policy },
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  log.debug("deleting an object whose owners are gone", { object: resourceKeyOf(target), uid, policy }, 2);
  const cause = `the garbage collector, because ${describeOwners(object)}`;
  await unlessOvertaken(writer.remove(target, { propagationPolicy: policy, preconditions, cause }));
}

/** At most so many owners are named: an object may have thousands. */
const MAX_NAMED_OWNERS = 3;

function describeOwners({ metadata: { ownerReferences = [] } }: KubeObject): string {
  const names = ownerReferences.slice(0, MAX_NAMED_OWNERS).map(({ kind, name }) => `${kind} ${name}`);
  const more = ownerReferences.length - names.length;
  return `of its owners none is left, or they are being deleted: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Tells the author that owners in another namespace are none, some of them, before the object or the references are gone. */
async function reportOwnersElsewhere(
  { writer, graph, clock, log }: Collector,
  object: KubeObject,
  absent: readonly OwnerReference[],
): Promise<void> {
  const { namespace = "", name = "", uid } = object.metadata;
  const isElsewhere = (owner: OwnerReference) => {
    const elsewhere = graph.namespaceOf(owner.uid);
    return elsewhere !== undefined && elsewhere !== "" && elsewhere !== namespace;
  };
  for (const owner of absent.filter(isElsewhere).slice(0, MAX_NAMED_OWNERS)) {
    const reference = `${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}`;
    const at = formatTime(clock.now());
    const { apiVersion, kind } = object;
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: { apiVersion, kind, namespace, name, ...(uid !== undefined && { uid }) },
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      message: `ownerRef [${reference}] does not exist in namespace "${namespace}"`,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    };
    try {
      await writer.create("events", event);
    } catch (error) {
      if (!isApiError(error)) throw error;
      log.debug("could not tell of an owner in another namespace", { object: name, error: messageOf(error) });
    }
  }
}
