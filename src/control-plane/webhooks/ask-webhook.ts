import { type ApiError, badRequestError, internalError, isApiError } from "../../api/api-error.ts";
import { findJsonExcess } from "../../api/json-excess.ts";
import type { KubeObject } from "../../api/object.ts";
import { applyJsonPatch } from "../../api/patch/json-patch.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { decodeChanged, type ViewedRequest } from "../admission/matching/viewed-request.ts";
import { type ReviewAnswer, readReviewAnswer, reviewedRequest, reviewOf } from "./admission-review.ts";
import { refusalBy } from "./refusal-status.ts";
import type { CallWebhook } from "./webhook-client.ts";
import type { Webhook } from "./webhook-configurations.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";

export interface AskDeps {
  readonly call: CallWebhook;
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: WebhookMetrics;
  newUid(): string;
}

/** The question to a webhook: a request, with its objects in the version that the webhook wants. */
export interface Question {
  readonly request: ViewedRequest;
  /** The `request` of the AdmissionReview, but for its uid. */
  readonly reviewed: object;
}

/** The question about a request. */
export const questionOf = (request: ViewedRequest): Question => ({ request, reviewed: reviewedRequest(request) });

/** What becomes of the request after one webhook. */
export type WebhookVerdict = {
  readonly warnings: readonly string[];
} & (
  | { readonly kind: "passed" }
  /** The object as the webhook wants it, in its version, with defaults. */
  | { readonly kind: "changed"; readonly object: KubeObject }
  | { readonly kind: "refused"; readonly error: ApiError }
);

const PASSED: WebhookVerdict = { kind: "passed", warnings: [] };

/**
 * Asks a webhook. A call that fails becomes a refusal, or is passed over, as the webhook's policy says. Rejects only with
 * `AbortedError`.
 */
export async function askWebhook(deps: AskDeps, webhook: Webhook, question: Question): Promise<WebhookVerdict> {
  const { operation, dryRun } = question.request;
  if (dryRun && !webhook.supportsDryRun) {
    return refused(badRequestError(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`));
  }
  const startMs = deps.clock.monotonic();
  const call = () => ({ webhook, operation, seconds: (deps.clock.monotonic() - startMs) / 1000 });
  try {
    const answer = await readAnswer(deps, webhook, question.reviewed);
    const verdict = judge(webhook, question, answer);
    const code = verdict.kind === "refused" ? verdict.error.code : 200;
    deps.metrics.observe({ ...call(), code, ...(verdict.kind === "refused" && { rejection: "no_error" }) });
    return verdict;
  } catch (error) {
    if (codeOf(error) === "webhook-failed") return failed(deps, call(), messageOf(error));
    // What the webhook wants of the object cannot be done, and no policy passes over that.
    if (!isApiError(error) && codeOf(error) !== "unfit-change") throw error;
    deps.metrics.observe({ ...call(), code: 0, rejection: "apiserver_internal_error" });
    return refused(isApiError(error, "InternalError") ? error : internalError(detailOf(error)));
  }
}

/** Patches of clients are refused in general words, with the cause beside them. */
function detailOf(error: unknown): string {
  const [cause] = isApiError(error) ? (error.details.causes ?? []) : [];
  return cause?.message ?? messageOf(error);
}

const refused = (error: ApiError, warnings: readonly string[] = []): WebhookVerdict => ({
  kind: "refused",
  error,
  warnings,
});

function failed(
  { metrics }: AskDeps,
  call: Pick<Parameters<WebhookMetrics["observe"]>[0], "webhook" | "operation" | "seconds">,
  why: string,
): WebhookVerdict {
  const { webhook } = call;
  const code = 503;
  if (webhook.ignoresFailures) {
    metrics.observe({ ...call, code });
    metrics.countFailOpen(webhook);
    return PASSED;
  }
  metrics.observe({ ...call, code, rejection: "calling_webhook_error" });
  return refused(internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`));
}

async function readAnswer({ call, newUid }: AskDeps, webhook: Webhook, reviewed: object): Promise<ReviewAnswer> {
  const uid = newUid();
  const { type, reviewVersion } = webhook;
  const review = reviewOf(reviewed, { uid, reviewVersion });
  const body = await call(webhook.place, review, webhook.timeoutMs).catch((error: unknown) => {
    if (codeOf(error) !== "webhook-failed") throw error;
    throw new CodedError("webhook-failed", `failed to call webhook: ${messageOf(error)}`, { cause: error });
  });
  return readReviewAnswer(body, { uid, type, reviewVersion });
}

function judge(
  webhook: Webhook,
  { request }: Question,
  { allowed, status, warnings, patch }: ReviewAnswer,
): WebhookVerdict {
  if (!allowed) return refused(refusalBy(webhook.name, status), warnings);
  const operations = patch === undefined ? [] : readOperations(patch);
  if (operations.length === 0) return { kind: "passed", warnings };
  const { object } = request;
  if (object === undefined) {
    const detail = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${detail}`);
  }
  const changed = applyJsonPatch(object, operations);
  return { kind: "changed", object: decodeChanged(request, { object, changed }), warnings };
}

/** As many as a patch of a client may have. */
const MAX_PATCH_VALUES = 100_000;

function readOperations(patch: Buffer): readonly unknown[] {
  const undecodable = (why: string) =>
    new CodedError("webhook-failed", `received undecodable patch in webhook response: ${why}`);
  const text = patch.toString();
  const excess = findJsonExcess(text, { maxValues: MAX_PATCH_VALUES });
  if (excess !== undefined) throw undecodable(`it holds ${excess}`);
  try {
    // A Go program that never made its list encodes it as null.
    const operations: unknown = JSON.parse(text) ?? [];
    if (Array.isArray(operations)) return operations;
  } catch (error) {
    throw undecodable(messageOf(error));
  }
  throw undecodable("it is no list of operations");
}
