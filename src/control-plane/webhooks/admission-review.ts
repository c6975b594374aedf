import { isRecord } from "../../api/object.ts";
import { CodedError } from "../../base/errors.ts";
import { requestFields, type ViewedRequest } from "../admission/matching/viewed-request.ts";
import type { ReviewVersion } from "./review-version.ts";
import type { WebhookType } from "./webhook-configurations.ts";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";

/** The `request` of an AdmissionReview, but for its uid. Equal requests give equal JSON. */
export function reviewedRequest(request: ViewedRequest): object {
  const { object, current } = request;
  return { ...requestFields(request), object: object ?? null, oldObject: current ?? null };
}

interface ReviewForm {
  readonly uid: string;
  readonly reviewVersion: ReviewVersion;
}

/** The whole review that is posted. */
export function reviewOf(request: object, { uid, reviewVersion }: ReviewForm): object {
  return { kind: KIND, apiVersion: `${GROUP}/${reviewVersion}`, request: { uid, ...request } };
}

/** What a webhook answered. */
export interface ReviewAnswer {
  readonly allowed: boolean;
  /** The Status by which it refuses. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  /** A JSON patch, as bytes; undefined when nothing is changed. */
  readonly patch: Buffer | undefined;
}

const MAX_WARNINGS = 20;
const MAX_WARNING_LENGTH = 4_096;

interface PostedReview extends ReviewForm {
  readonly type: WebhookType;
}

/**
 * Reads the answer to a review. Throws a CodedError `webhook-failed` with upstream's words for one that is none. As
 * upstream, an answer in v1beta1 is believed without its uid, its version and the type of its patch.
 */
export function readReviewAnswer(body: unknown, posted: PostedReview): ReviewAnswer {
  const review = isRecord(body) ? body : {};
  const { response } = review;
  if (!isRecord(response)) throw unfit("webhook response was absent");
  const isStrict = posted.reviewVersion === "v1";
  if (isStrict) checkEnvelope(review, response["uid"], posted.uid);
  const { allowed = false, status, warnings = [], auditAnnotations = {} } = response;
  if (typeof allowed !== "boolean") throw unfit("response.allowed must be a boolean");
  if (!isRecord(auditAnnotations ?? {})) throw unfit("response.auditAnnotations must be an object");
  return {
    allowed,
    status: isRecord(status) ? status : {},
    warnings: readWarnings(warnings ?? []),
    patch: isStrict ? readPatch(response, posted.type) : readOldPatch(response, posted.type),
  };
}

function checkEnvelope({ apiVersion, kind }: Readonly<Record<string, unknown>>, answered: unknown, uid: string): void {
  if (answered !== uid) {
    throw unfit(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(answered))}`);
  }
  if (apiVersion === `${GROUP}/v1` && kind === KIND) return;
  const got = `${textOf(apiVersion)}, Kind=${textOf(kind)}`;
  throw unfit(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${got}`);
}

const unfit = (message: string) => new CodedError("webhook-failed", `received invalid webhook response: ${message}`);

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function readWarnings(warnings: unknown): string[] {
  if (!Array.isArray(warnings)) throw unfit("response.warnings must be a list");
  const texts = warnings.filter((warning: unknown) => typeof warning === "string");
  return texts.slice(0, MAX_WARNINGS).map((text) => text.slice(0, MAX_WARNING_LENGTH));
}

/** A patch of v1beta1: of mutating webhooks alone, and always a JSON patch. */
function readOldPatch({ patch = "" }: Readonly<Record<string, unknown>>, type: WebhookType): Buffer | undefined {
  if (typeof patch !== "string" && patch !== null) throw unfit("response.patch must be text in base64");
  return type === "validating" || !patch ? undefined : Buffer.from(patch, "base64");
}

function readPatch(response: Readonly<Record<string, unknown>>, type: WebhookType): Buffer | undefined {
  const patch = response["patch"] ?? "";
  const patchType = response["patchType"] ?? undefined;
  if (typeof patch !== "string") throw unfit("response.patch must be text in base64");
  if (type === "validating") {
    if (patch !== "") throw unfit("validating webhook may not return response.patch");
    if (patchType !== undefined) throw unfit("validating webhook may not return response.patchType");
    return undefined;
  }
  if (patch === "" && patchType === undefined) return undefined;
  if (patchType === undefined) throw unfit("webhook returned response.patch but not response.patchType");
  if (patch === "") throw unfit("webhook returned response.patchType but not response.patch");
  if (patchType === "") throw unfit('webhook returned invalid response.patchType of ""');
  if (patchType !== "JSONPatch")
    throw new CodedError("webhook-failed", `unsupported patch type ${JSON.stringify(patchType)}`);
  return Buffer.from(patch, "base64");
}
