import { FOREGROUND_FINALIZER } from "../../api/finalizers.ts";
import type { OwnerReference } from "../../api/gen/types.ts";
import { isKubeObject } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import { SECOND } from "../../base/clock.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import { COLLECTOR_USER } from "./collector-user.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { isHeldBy } from "./owner-graph.ts";
import type { OwnerStanding } from "./owner-references.ts";

/** Looks an owner up with the API server of others that has it. Rejects with `AbortedError` only. */
export type FindForeignOwner = (
  reference: OwnerReference,
  namespace: string,
  signal: AbortSignal,
) => Promise<OwnerStanding>;

interface OwnerDeps extends ForeignServers {
  readonly clock: Pick<Clock, "monotonic">;
}

/** An owner of many is asked about once in this time. */
const KEPT_MS = 20 * SECOND;
/** The oldest answers are forgotten first. */
const MAX_KEPT = 1_000;

/** The owners of all objects, each remembered for a while. */
export function createForeignOwners({ readForeign, foreignResources, clock }: OwnerDeps): FindForeignOwner {
  const known = new Map<string, { readonly standing: Promise<OwnerStanding>; readonly at: number }>();
  const ask = async (reference: OwnerReference, namespace: string, signal: AbortSignal): Promise<OwnerStanding> => {
    const { apiVersion, kind, name, uid } = reference;
    const served = foreignResources().find(({ group, version }) => `${group}/${version}` === apiVersion);
    const resource = served?.resources?.find((one) => one.kind === kind && !one.name.includes("/"));
    if (served === undefined || resource === undefined || (resource.namespaced && namespace === "")) {
      return "unresolvable";
    }
    const { group, version } = served;
    const place = resource.namespaced ? `namespaces/${namespace}/` : "";
    const path = `${place}${resource.name}/${encodeURIComponent(name)}`;
    const answer = await readForeign({ group, version, path, user: COLLECTOR_USER }, signal);
    if (answer.kind !== "answered") return "unresolvable";
    if (answer.status === 404) return "absent";
    const owner = tryParseJson(answer.text);
    if (answer.status !== 200 || !isKubeObject(owner)) return "unresolvable";
    if (owner.metadata.uid !== uid) return "absent";
    return isHeldBy(FOREGROUND_FINALIZER, owner) ? "waiting" : "solid";
  };
  return async (reference, namespace, signal) => {
    const key = JSON.stringify([reference.apiVersion, reference.kind, namespace, reference.name, reference.uid]);
    const before = known.get(key);
    if (before !== undefined && clock.monotonic() - before.at < KEPT_MS) return await before.standing;
    const standing = ask(reference, namespace, signal);
    known.delete(key);
    known.set(key, { standing, at: clock.monotonic() });
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KEPT) break;
      known.delete(oldest);
    }
    return await standing;
  };
}
