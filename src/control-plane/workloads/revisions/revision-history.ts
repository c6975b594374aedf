import { ApiError, isApiError } from "../../../api/api-error.ts";
import type { PodTemplateSpec } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { parseTime } from "../../../base/clock.ts";
import { unlessOvertaken } from "../../control-loop/controller.ts";
import type { ResourceReader, ResourceWriter } from "../../ports/resources.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { buildRevision, keepsTemplate, type NewRevision, revisionNumberOf } from "./revision-data.ts";

export const REVISIONS = "controllerrevisions.apps";
/** So many names of one template may be taken before the owner waits for somebody to look. */
const MAX_COLLISIONS = 10;

type HistoryDeps = { readonly reader: ResourceReader; readonly writer: ResourceWriter };

interface HistoryOwner {
  readonly object: KubeObject;
  /** `statefulsets.apps`. */
  readonly resource: string;
  readonly template: PodTemplateSpec;
  readonly selects: (object: KubeObject) => boolean;
  /** The label that tells the hash of a revision's template. */
  readonly hashLabel: string;
  readonly collisionCount: number;
}

/** The revisions of an owner, oldest first; the newest keeps its present template. */
interface RevisionHistory {
  readonly revisions: readonly KubeObject[];
  readonly newest: KubeObject;
  readonly collisionCount: number;
}

/**
 * Makes sure that the newest revision keeps the owner's template: by the one that does, by an older one that is given
 * the next number, or by a new one (`pkg/controller/history`). Adopts and releases revisions as pods are.
 */
export async function ensureNewestRevision(deps: HistoryDeps, owner: HistoryOwner): Promise<RevisionHistory> {
  const { reader, writer } = deps;
  const { object, resource, template, selects } = owner;
  const candidates = reader.list(REVISIONS, object.metadata.namespace ?? "");
  await claimDependents(deps, { owner: object, ownerResource: resource, resource: REVISIONS, candidates, selects });
  const revisions = readRevisions(deps, object);
  const equal = revisions.filter((revision) => keepsTemplate(revision, template)).at(-1);
  const last = revisions.at(-1);
  if (equal !== undefined && equal === last) return { revisions, newest: equal, collisionCount: owner.collisionCount };
  const number = (last === undefined ? 0 : revisionNumberOf(last)) + 1;
  if (equal !== undefined) {
    const newest = await writer.update(REVISIONS, { ...equal, revision: number });
    return { revisions: readRevisions(deps, object), newest, collisionCount: owner.collisionCount };
  }
  const created = await createRevision(deps, { ...owner, owner: object, number });
  return { revisions: readRevisions(deps, object), ...created };
}

function readRevisions({ reader }: HistoryDeps, owner: KubeObject): KubeObject[] {
  const own = reader.list(REVISIONS, owner.metadata.namespace ?? "").filter((object) => isControlledBy(object, owner));
  const ageOf = ({ metadata }: KubeObject) => parseTime(metadata.creationTimestamp) ?? 0;
  return own.sort((a, b) => revisionNumberOf(a) - revisionNumberOf(b) || ageOf(a) - ageOf(b));
}

/** A name that is taken by another template, or by another owner, is passed over for the next one. */
async function createRevision(
  { reader, writer }: HistoryDeps,
  wanted: NewRevision,
): Promise<{ newest: KubeObject; collisionCount: number }> {
  const first = wanted.collisionCount;
  for (let collisionCount = first; collisionCount <= first + MAX_COLLISIONS; collisionCount++) {
    const revision = buildRevision({ ...wanted, collisionCount });
    try {
      return { newest: await writer.create(REVISIONS, revision), collisionCount };
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
    }
    const { namespace = "", name = "" } = revision.metadata;
    const found = reader.get({ resource: REVISIONS, namespace, name });
    const isOurs = found && keepsTemplate(found, wanted.template) && isControlledBy(found, wanted.owner);
    if (found !== undefined && isOurs) return { newest: found, collisionCount };
  }
  const { name } = wanted.owner.metadata;
  throw new ApiError("AlreadyExists", `${MAX_COLLISIONS} names of revisions of ${name} are taken by other templates`);
}

interface Truncation {
  readonly revisions: readonly KubeObject[];
  /** How many of those that no pod needs are kept. Default 10. */
  readonly limit: number | undefined;
  readonly isLive: (revision: KubeObject) => boolean;
}

/** Deletes the oldest revisions that nobody needs beyond the limit. */
export async function truncateHistory({ writer }: HistoryDeps, truncation: Truncation): Promise<void> {
  const { revisions, limit = 10, isLive } = truncation;
  const idle = revisions.filter((revision) => !isLive(revision));
  for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
    const { namespace = "", name = "", uid } = metadata;
    const preconditions = { ...(uid !== undefined && { uid }) };
    await unlessOvertaken(writer.remove({ resource: REVISIONS, namespace, name }, { preconditions }));
  }
}
