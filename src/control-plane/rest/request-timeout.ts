import { badRequestError } from "../../api/api-error.ts";
import { parseDuration } from "../../config/duration.ts";
import type { ServedRequest } from "../../host/http-server.ts";
import type { RequestTarget } from "./request-path.ts";

/** What may take as long as it likes, and is not asked how long that is. */
const ENDLESS_VERBS = new Set(["watch", "proxy"]);
const ENDLESS_SUBRESOURCES = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Refuses a `timeout` that is no duration of Go, as upstream (`pkg/endpoints/filters/request_deadline.go`). Throws
 * BadRequest. The value itself is of no use here: no request waits for long.
 */
export function checkTimeout({ query }: Pick<ServedRequest, "query">, target: RequestTarget): void {
  const timeout = query.get("timeout") ?? "";
  if (timeout === "" || parseDuration(timeout) !== undefined || isEndless(target)) return;
  const problem = `time: invalid duration ${JSON.stringify(timeout)}`;
  throw badRequestError(`invalid timeout specified in the request URL - ${problem}`);
}

function isEndless(target: RequestTarget): boolean {
  return target.isResource && (ENDLESS_VERBS.has(target.verb) || ENDLESS_SUBRESOURCES.has(target.subresource));
}
