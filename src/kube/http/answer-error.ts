import { ApiError, type ApiErrorReason, REASON_CODES } from "../../api/api-error.ts";
import type { StatusCause } from "../../api/gen/types.ts";
import { isRecord } from "../../api/object.ts";
import { KubeUnreachableError } from "../port.ts";
import { parseAnswer } from "./parse-answer.ts";

/** The number of characters that a message quotes of an answer that cannot be read. */
const MAX_EXCERPT = 200;

/** The error that a failed answer stands for. `what`: the request, `GET /api/v1/nodes/a`. */
export function readAnswerError(what: string, status: number, body: Buffer): Error {
  return readStatus(parseAnswer(body)) ?? describeForeign(what, status, body);
}

/** The error of a `Status` object; undefined for anything else, and for a success. */
export function readStatus(value: unknown): ApiError | undefined {
  if (!isRecord(value) || value["kind"] !== "Status" || value["status"] === "Success") return undefined;
  const { code, reason, message, details } = value;
  const known = reasonOf(reason, typeof code === "number" ? code : 0);
  return new ApiError(known, typeof message === "string" ? message : known, readDetails(details));
}

function reasonOf(reason: unknown, code: number): ApiErrorReason {
  const reasons = Object.keys(REASON_CODES).filter(isReason);
  const byName = reasons.find((name) => name === reason);
  const byCode = reasons.findLast((name) => REASON_CODES[name] === code);
  return byName ?? byCode ?? (code >= 400 && code < 500 ? "BadRequest" : "InternalError");
}

function isReason(name: string): name is ApiErrorReason {
  return Object.hasOwn(REASON_CODES, name);
}

function readDetails(details: unknown): ApiError["details"] {
  if (!isRecord(details)) return {};
  const text = (key: string) => (typeof details[key] === "string" && details[key] !== "" ? details[key] : undefined);
  const group = text("group");
  const kind = text("kind");
  const name = text("name");
  const seconds = details["retryAfterSeconds"];
  const causes = Array.isArray(details["causes"]) ? details["causes"].map(readCause) : undefined;
  return {
    ...(group !== undefined && { group }),
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(causes !== undefined && { causes }),
    ...(typeof seconds === "number" && { retryAfterSeconds: seconds }),
  };
}

function readCause(value: unknown): StatusCause {
  if (!isRecord(value)) return {};
  const text = (key: string) => (typeof value[key] === "string" ? { [key]: value[key] } : {});
  return { ...text("reason"), ...text("message"), ...text("field") };
}

/**
 * The error of an answer that did not come from the API itself. A proxy's 404 says nothing about the object that was
 * asked for, so that it must not be taken for NotFound; only codes with one meaning become an ApiError.
 */
function describeForeign(what: string, status: number, body: Buffer): Error {
  const message = `${what} was answered with ${status} and no Status: ${excerptOf(body)}`;
  if (status === 401) return new ApiError("Unauthorized", message);
  // kube-apiserver says so in plain text when too much is under way (its max-in-flight filter).
  if (status === 429) return new ApiError("TooManyRequests", message);
  return new KubeUnreachableError("unreachable", message);
}

/**
 * The beginning of an answer for a message, on one line. JSON is told by its length only: it may be half of a secret, and
 * messages end up in logs and events.
 */
export function excerptOf(body: Buffer): string {
  if (/^\s*[{[]/.test(body.subarray(0, MAX_EXCERPT).toString("utf8"))) return `${body.length} bytes of JSON`;
  const text = body
    .subarray(0, 4 * MAX_EXCERPT)
    .toString("utf8")
    .replace(/[\s\p{C}]+/gu, " ")
    .trim();
  if (text === "") return "an empty body";
  const characters = [...text];
  return JSON.stringify(characters.length > MAX_EXCERPT ? `${characters.slice(0, MAX_EXCERPT).join("")}…` : text);
}
