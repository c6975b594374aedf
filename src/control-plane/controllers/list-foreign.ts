import type { APIResource } from "../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import type { ForeignResources } from "../ports/foreign-reads.ts";
import { COLLECTOR_USER } from "./collector-user.ts";
import type { ForeignServers } from "./foreign-content.ts";

/** A kind of an API server of others. */
export interface ForeignKind {
  readonly served: ForeignResources;
  readonly resource: APIResource;
}

const PAGE = 500;
/** A kind with more objects than on so many pages is taken not to tell them. */
const MAX_PAGES = 100;

/** There is no such resource, or it cannot be listed. */
const NOTHING = new Set([404, 405]);

/** The kinds of other API servers of which all verbs are served, each once: several versions have the same objects. */
export function foreignKinds({ foreignResources }: ForeignServers, verbs: readonly string[]): readonly ForeignKind[] {
  const kinds = new Map<string, ForeignKind>();
  for (const served of foreignResources()) {
    for (const resource of served.resources ?? []) {
      const isMeant = !resource.name.includes("/") && verbs.every((verb) => resource.verbs.includes(verb));
      const name = `${resource.name}.${served.group}`;
      if (isMeant && !kinds.has(name)) kinds.set(name, { served, resource });
    }
  }
  return [...kinds.values()];
}

/**
 * All objects of the kind, in the namespace or, with "", everywhere. Undefined where the server does not say, or has too
 * many to tell. Rejects with `AbortedError` only.
 */
export async function listForeign(
  { readForeign, signal }: Pick<ForeignServers, "readForeign"> & { readonly signal: AbortSignal },
  { served: { group, version }, resource: { name, kind } }: ForeignKind,
  namespace: string,
): Promise<KubeObject[] | undefined> {
  const path = `${namespace === "" ? "" : `namespaces/${namespace}/`}${name}?limit=${PAGE}`;
  const objects: KubeObject[] = [];
  let from = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await readForeign({ group, version, path: path + from, user: COLLECTOR_USER }, signal);
    // A server that is not there has nothing that could be waited for, as for upstream's discovery.
    if (answer.kind === "unserved" || (answer.kind === "answered" && NOTHING.has(answer.status))) return objects;
    const list = answer.kind === "answered" && answer.status === 200 ? tryParseJson(answer.text) : undefined;
    if (!isRecord(list) || !Array.isArray(list["items"])) return undefined;
    // Items of a list need not repeat what they are.
    const whole = list["items"]
      .filter(hasMetadata)
      .map((item) => ({ apiVersion: `${group}/${version}`, kind, ...item }));
    objects.push(...whole);
    const next = isRecord(list["metadata"]) ? list["metadata"]["continue"] : undefined;
    if (typeof next !== "string" || next === "") return objects;
    from = `&continue=${encodeURIComponent(next)}`;
  }
  return undefined;
}

const hasMetadata = (item: unknown): item is Pick<KubeObject, "metadata"> =>
  isRecord(item) && isRecord(item["metadata"]);

/** Where the object is, below the path of its group and version. */
export function foreignPath(
  { resource }: ForeignKind,
  { metadata: { namespace = "", name = "" } }: KubeObject,
): string {
  return `${namespace === "" ? "" : `namespaces/${namespace}/`}${resource.name}/${encodeURIComponent(name)}`;
}
