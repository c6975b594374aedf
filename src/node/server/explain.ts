import { parseTime } from "../../base/clock.ts";
import type { NodeExplanation } from "../../explain/explain-node.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import type { Page, PageHandler, PageRequest } from "../../host/http-server.ts";

/** Says why the node and its pods are as they are. */
export interface Explainer {
  /** `since` is in milliseconds since the epoch; without it all is told that is known. */
  pod(query: { namespace: string; name: string; since?: number | undefined }): Promise<PodExplanation>;
  node(): NodeExplanation;
}

/** The root of the pages that say why: `/explain` is about the node, `/explain/pods/NAMESPACE/NAME` about a pod. */
export const EXPLAIN_ROOT = "/explain";

const POD = /^\/explain\/pods\/([^/]+)\/([^/]+)$/;

/**
 * Creates the handler of `/explain`. It tells what hooks and probes put out and how pods of other tenants rank, so that
 * it is served to who may look at everything of the node only, and not by the read-only server.
 */
export function createExplainHandler(explainer: Explainer): PageHandler {
  return async ({ method, path, query }: PageRequest) => {
    const [, namespace, name] = POD.exec(path) ?? [];
    if (namespace === undefined && path !== EXPLAIN_ROOT) return { status: 404, body: "404 page not found\n" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, body: "405: Method Not Allowed" };
    if (namespace === undefined || name === undefined) return json(explainer.node());
    const text = query.get("since") ?? undefined;
    const since = parseTime(text);
    if (text !== undefined && since === undefined) {
      return { status: 400, body: "since: it must be a time such as 2026-01-02T15:04:05Z\n" };
    }
    return json(await explainer.pod({ namespace, name, since }));
  };
}

function json(value: unknown): Page {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}
