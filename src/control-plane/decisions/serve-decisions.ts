import { ApiError } from "../../api/api-error.ts";
import { DECISIONS_GROUP, DECISIONS_VERSION, toPodDecisions } from "../../explain/pod-decisions.ts";
import type { HistoryAnswer, HistoryQuery } from "../../history/read-history.ts";
import type { ServedAnswer } from "../../host/http-server.ts";
import type { ResourceAccess } from "../ports/request.ts";

/** The part of a request that says what is asked for. */
type DecisionsTarget = { readonly isResource: true } & Omit<ResourceAccess, "user" | "fieldSelector">;

/**
 * Creates what answers `GET /apis/explain.nodelet/v1/namespaces/NAMESPACE/pods/NAME`: what the control plane has decided
 * about the pods of that name, those that are gone included. It is no object of the API, and no discovery names it; a
 * request has been authorized as any other of its group, version and resource. Undefined for requests of other groups.
 */
export function createDecisionsHandler(read: (query: HistoryQuery) => Promise<HistoryAnswer>) {
  return (target: { readonly isResource: false } | DecisionsTarget): Promise<ServedAnswer> | undefined => {
    if (!target.isResource || target.group !== DECISIONS_GROUP) return undefined;
    return answer(read, target);
  };
}

async function answer(
  read: (query: HistoryQuery) => Promise<HistoryAnswer>,
  { verb, version, resource, subresource, namespace, name }: DecisionsTarget,
): Promise<ServedAnswer> {
  const isKnown = version === DECISIONS_VERSION && resource === "pods" && subresource === "";
  if (!isKnown || namespace === "" || name === "") {
    throw new ApiError("NotFound", "the server could not find the requested resource");
  }
  if (verb !== "get") {
    throw new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource");
  }
  const { records, unread } = await read({ namespace, name });
  const body = JSON.stringify(toPodDecisions(records, unread));
  return { status: 200, headers: { "content-type": "application/json" }, body };
}
