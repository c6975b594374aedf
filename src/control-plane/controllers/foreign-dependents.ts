import type { APIResource } from "../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import type { ForeignQuestion, ForeignResources } from "../ports/foreign-reads.ts";
import { COLLECTOR_USER } from "./collector-user.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { blocks, type ClassifiedOwners, policyOf, withoutOwners } from "./owner-references.ts";

/** The objects of other API servers that hold an owner up, and what is done about them. */
interface ForeignDependentsDeps extends ForeignServers {
  classify(object: KubeObject): ClassifiedOwners;
}

const PAGE = 500;
/** A kind with more objects than on so many pages is taken to hold the owner up. */
const MAX_PAGES = 100;

/**
 * Asks the API servers of others to delete what an owner's deletion in the foreground waits for. Returns true when there
 * is nothing left of it, and false also where a server does not say. Rejects with `AbortedError` only.
 */
export async function releaseFromForeign(
  deps: ForeignDependentsDeps,
  owner: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  const seen = new Set<string>();
  let isReleased = true;
  for (const served of deps.foreignResources()) {
    for (const resource of (served.resources ?? []).filter((one) => mayDepend(one, owner))) {
      const name = `${resource.name}.${served.group}`;
      // Several versions have the same objects.
      if (seen.has(name)) continue;
      seen.add(name);
      const blocking = await listBlocking({ ...deps, signal }, { served, resource, owner });
      if (blocking === undefined || blocking.length > 0) isReleased = false;
      for (const object of blocking ?? []) await letGo({ ...deps, signal }, { served, resource, owner, object });
    }
  }
  return isReleased;
}

/** What nobody can list or delete is collected by nobody. What has an owner in a namespace is in the same one. */
function mayDepend({ name, verbs, namespaced }: APIResource, { metadata: { namespace = "" } }: KubeObject): boolean {
  const isCollected = !name.includes("/") && verbs.includes("list") && verbs.includes("delete");
  return isCollected && (namespaced || namespace === "");
}

interface Asked {
  readonly served: ForeignResources;
  readonly resource: APIResource;
  readonly owner: KubeObject;
}

type Asking = ForeignDependentsDeps & { readonly signal: AbortSignal };

/** Undefined where the server does not say, or has too many to tell. */
async function listBlocking(
  { readForeign, signal }: Asking,
  { served: { group, version }, resource: { name, kind }, owner }: Asked,
): Promise<KubeObject[] | undefined> {
  const { namespace = "" } = owner.metadata;
  const path = `${namespace === "" ? "" : `namespaces/${namespace}/`}${name}?limit=${PAGE}`;
  const blocking: KubeObject[] = [];
  let from = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await readForeign({ group, version, path: path + from, user: COLLECTOR_USER }, signal);
    // A server that is not there has nothing that could be waited for, as for upstream's discovery.
    if (answer.kind === "unserved" || (answer.kind === "answered" && NOTHING.has(answer.status))) return blocking;
    const list = answer.kind === "answered" && answer.status === 200 ? tryParseJson(answer.text) : undefined;
    if (!isRecord(list) || !Array.isArray(list["items"])) return undefined;
    // Items of a list need not repeat what they are.
    const whole = list["items"]
      .filter(hasMetadata)
      .map((item) => ({ apiVersion: `${group}/${version}`, kind, ...item }));
    blocking.push(...whole.filter((item) => blocks(item, owner)));
    const next = isRecord(list["metadata"]) ? list["metadata"]["continue"] : undefined;
    if (typeof next !== "string" || next === "") return blocking;
    from = `&continue=${encodeURIComponent(next)}`;
  }
  return undefined;
}

/** There is no such resource, or it cannot be listed. */
const NOTHING = new Set([404, 405]);

const hasMetadata = (item: unknown): item is Pick<KubeObject, "metadata"> =>
  isRecord(item) && isRecord(item["metadata"]);

/** Deletes the dependent, or takes its reference away where another owner keeps it. What fails is done again later. */
async function letGo(
  { readForeign, classify, signal }: Asking,
  { served: { group, version }, resource, owner, object }: Asked & { object: KubeObject },
): Promise<void> {
  const { namespace = "", name = "", uid, resourceVersion, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  const path = `${namespace === "" ? "" : `namespaces/${namespace}/`}${resource.name}/${encodeURIComponent(name)}`;
  const question = { group, version, path, user: COLLECTOR_USER };
  const { solid, unresolvable } = classify(object);
  const preconditions = { uid, resourceVersion };
  if (solid.length + unresolvable.length === 0) {
    const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: policyOf(object), preconditions };
    await readForeign({ ...question, method: "DELETE", body: options }, signal);
    return;
  }
  const { ownerReferences = null } = withoutOwners(object, [owner.metadata.uid ?? ""]).metadata;
  const change: ForeignQuestion = {
    ...question,
    method: "PATCH",
    body: { metadata: { ...preconditions, ownerReferences } },
  };
  await readForeign(change, signal);
}
