import { estimateWork } from "../flow-control/estimate-work.ts";
import type { AccessAttributes } from "../ports/request.ts";
import { keysOf } from "../registry/keys.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import type { RequestTarget } from "./request-path.ts";

const SMALL = { seats: 1, isLong: false };
const LASTING_SUBRESOURCES = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** True for what lasts as long as its client likes, which no priority level limits. A watch counts until it has begun. */
export function isLasting(asked: AccessAttributes): boolean {
  return "path" in asked ? false : LASTING_SUBRESOURCES.has(asked.subresource) || asked.verb === "proxy";
}

/** How much work a request is, before anything is done for it. */
export function listWorkOf(
  { registry }: { registry: Pick<RegistryDeps, "kinds" | "store"> },
  target: RequestTarget,
  query: URLSearchParams,
): { seats: number; isLong: boolean } {
  // A list of one name is a lookup.
  if (!target.isResource || target.verb !== "list" || target.name !== "") return SMALL;
  const kind = registry.kinds.find(target.group, target.version, target.resource);
  if (kind === undefined) return SMALL;
  const limit = Number(query.get("limit") ?? 0);
  return estimateWork({
    objects: registry.store.count(keysOf(kind).prefix(kind.namespaced ? target.namespace : "")),
    limit: Number.isSafeInteger(limit) ? limit : 0,
    hasSelector: Boolean(query.get("labelSelector") || query.get("fieldSelector")),
  });
}
