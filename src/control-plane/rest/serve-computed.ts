import { notFoundError } from "../../api/api-error.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { unstored } from "../registry/object-view.ts";
import { selectionOf } from "../registry/selection.ts";
import { type AnswerForm, encodeList, encodeObject } from "./encode.ts";
import { listQueryOf } from "./query-options.ts";
import type { ResourceTarget } from "./request-path.ts";

interface ComputedCall {
  readonly kind: ResourceKind;
  readonly request: Pick<ServedRequest, "query" | "signal">;
  readonly target: ResourceTarget;
  readonly wanted: AnswerForm;
  pause(): Promise<void>;
}

/**
 * Answers a read of objects that are not stored: one by its name, or all that the selectors match, on one page and
 * without a revision. Throws NotFound, and BadRequest for selectors that cannot be read.
 */
export async function serveComputed(computed: ComputedObjects, call: ComputedCall): Promise<ServedAnswer> {
  const { kind, request, target, wanted } = call;
  const { namespace, name } = target;
  if (target.verb === "get") {
    const [object] = await computed.read({ namespace, name }, request.signal);
    if (object === undefined) throw absentError(kind, target);
    return encodeObject(200, kind, object, wanted);
  }
  const query = listQueryOf(request.query, { isWatch: false });
  const selection = selectionOf(kind, { label: query.labelSelector, field: query.fieldSelector });
  const objects = await computed.read({ namespace, name: selection.name }, request.signal);
  const items = objects.map((object) => unstored(kind, object)).filter((item) => selection.matches(item));
  return await encodeList(kind, { items, metadata: { resourceVersion: "" } }, wanted, call.pause);
}

/** In the words of metrics-server: `podmetrics.metrics.k8s.io "default/web" not found`. */
function absentError({ group, singular }: ResourceKind, { namespace, name }: ResourceTarget) {
  return notFoundError({ group, resource: singular }, namespace === "" ? name : `${namespace}/${name}`);
}
