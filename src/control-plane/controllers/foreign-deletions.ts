import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { deleteForeign, orphanInForeign, patchForeign, releaseFromForeign } from "./foreign-dependents.ts";
import { type ForeignKind, foreignKinds, listForeign } from "./list-foreign.ts";
import { isHeldBy } from "./owner-graph.ts";
import { blocks, type ClassifiedOwners, withoutFinalizer } from "./owner-references.ts";

interface ForeignDeletionDeps extends ForeignServers {
  readonly signal: AbortSignal;
  /** Our own objects that refer to the owner. */
  dependentsOf(owner: KubeObject): readonly OwnDependent[];
  /** Looks whether one of ours is to be collected. */
  lookAt(dependent: OwnDependent): void;
  /** Has one of ours forget the owner. */
  forgetOwner(dependent: OwnDependent, owner: KubeObject): Promise<void>;
  /** With the owners that API servers of others have; undefined when the signal fires. */
  classify(object: KubeObject): Promise<ClassifiedOwners | undefined>;
}

/** One of our objects, by its key in the graph of owners. */
interface OwnDependent {
  readonly key: string;
  readonly object: KubeObject;
}

/** What can be followed in other clusters, and is therefore collected there. */
const VERBS = ["list", "watch", "delete"];

/**
 * Looks once at all objects that API servers of others have: whatever they delete in the foreground, or so that its
 * dependents stay, is let go when that is done; and what has lost all its owners is deleted. What fails is done the next
 * time. Rejects with `AbortedError`, or as `forgetOwner` does.
 */
export async function collectForeign(deps: ForeignDeletionDeps): Promise<void> {
  for (const kind of foreignKinds(deps, VERBS)) {
    for (const object of (await listForeign(deps, kind, "")) ?? []) {
      if (isHeldBy(ORPHAN_FINALIZER, object)) await orphanAll(deps, kind, object);
      else if (isHeldBy(FOREGROUND_FINALIZER, object)) await release(deps, kind, object);
      else if (object.metadata.deletionTimestamp === undefined) await collect(deps, kind, object);
    }
  }
}

/** The references go first: in the other order, the dependents would be collected. */
async function orphanAll(deps: ForeignDeletionDeps, kind: ForeignKind, owner: KubeObject): Promise<void> {
  for (const dependent of deps.dependentsOf(owner)) await deps.forgetOwner(dependent, owner);
  if (await orphanInForeign(deps, owner, deps.signal)) await letGo(deps, { kind, owner, finalizer: ORPHAN_FINALIZER });
}

async function release(deps: ForeignDeletionDeps, kind: ForeignKind, owner: KubeObject): Promise<void> {
  const blocking = deps.dependentsOf(owner).filter(({ object }) => blocks(object, owner));
  for (const dependent of blocking) deps.lookAt(dependent);
  if (blocking.length > 0) return;
  const isReleased = await releaseFromForeign(deps, owner, deps.signal);
  if (isReleased) await letGo(deps, { kind, owner, finalizer: FOREGROUND_FINALIZER });
}

interface HeldOwner {
  readonly kind: ForeignKind;
  readonly owner: KubeObject;
  readonly finalizer: string;
}

async function letGo(deps: ForeignDeletionDeps, { kind, owner, finalizer }: HeldOwner): Promise<void> {
  const { finalizers } = withoutFinalizer(owner, finalizer).metadata;
  await patchForeign(deps, { kind, object: owner, change: { finalizers } });
}

async function collect(deps: ForeignDeletionDeps, kind: ForeignKind, object: KubeObject): Promise<void> {
  if ((object.metadata.ownerReferences ?? []).length === 0) return;
  const { solid, unresolvable, waiting, absent } = (await deps.classify(object)) ?? KEPT;
  // Whoever waits for it has it deleted by itself.
  const isLost = solid.length + unresolvable.length + waiting.length === 0 && absent.length > 0;
  if (isLost) await deleteForeign(deps, kind, object);
}

const KEPT: ClassifiedOwners = { solid: [], absent: [], waiting: [], unresolvable: [] };
