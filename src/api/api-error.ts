import { type FieldError, formatFieldError } from "./field-error.ts";
import type { Status, StatusCause } from "./gen/types.ts";

/**
 * The reasons of a failure that `metav1.Status` names, each with its HTTP code. Where several reasons have one code,
 * the last is the one to assume.
 */
export const REASON_CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type ApiErrorReason = keyof typeof REASON_CODES;

interface ApiErrorDetails {
  group?: string;
  /** The plural for most reasons, the kind for Invalid: as upstream. */
  kind?: string;
  name?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** What another server chose to answer with, where that is none of the reasons above or has another code. */
interface ForeignStatus {
  /** From 400 on. */
  readonly code: number;
  readonly reason?: string | undefined;
}

/** What few failures tell beside. */
interface MoreOfStatus {
  readonly foreign?: ForeignStatus;
  readonly continueToken?: string | undefined;
}

/**
 * A failed API call: what a server answers with, and what a client throws. Its `status` is the answer's body.
 * Expected by callers that act on `reason` (a Conflict is tried again, a NotFound means gone).
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly reason: ApiErrorReason;
  readonly code: number;
  readonly details: Readonly<ApiErrorDetails>;
  /** With `Expired`: the token for the rest of the list as it is now. */
  readonly continueToken: string | undefined;
  readonly #foreign: ForeignStatus | undefined;

  constructor(reason: ApiErrorReason, message: string, details: ApiErrorDetails = {}, more: MoreOfStatus = {}) {
    super(message);
    this.continueToken = more.continueToken;
    this.reason = reason;
    this.code = more.foreign?.code ?? REASON_CODES[reason];
    this.details = details;
    this.#foreign = more.foreign;
  }

  get status(): Status {
    const hasDetails = Object.keys(this.details).length > 0;
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: "Failure",
      message: this.message,
      ...reasonField(this.#foreign === undefined ? this.reason : this.#foreign.reason),
      ...(hasDetails && { details: this.details }),
      code: this.code,
    };
  }
}

const reasonField = (reason: string | undefined) => (reason === undefined ? {} : { reason });

/** Narrows the error in a `catch`: true for an ApiError, of the reason if one is given. */
export function isApiError(error: unknown, reason?: ApiErrorReason): error is ApiError {
  return error instanceof ApiError && (reason === undefined || error.reason === reason);
}

/** The subject of an error: `pods` (plural), with its group. */
interface ErrorSubject {
  readonly group: string;
  readonly resource: string;
}

const qualified = ({ group, resource }: ErrorSubject) => (group === "" ? resource : `${resource}.${group}`);
const about = ({ group, resource }: ErrorSubject, name: string): ApiErrorDetails => {
  return { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource };
};

/** `pods "a" not found`. */
export function notFoundError(subject: ErrorSubject, name: string): ApiError {
  return new ApiError("NotFound", `${qualified(subject)} "${name}" not found`, about(subject, name));
}

/** `pods "a" already exists`. */
export function alreadyExistsError(subject: ErrorSubject, name: string): ApiError {
  return new ApiError("AlreadyExists", `${qualified(subject)} "${name}" already exists`, about(subject, name));
}

/** The object changed since the caller read it, or a precondition does not hold. */
export function conflictError(subject: ErrorSubject, name: string, detail: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${detail}`;
  return new ApiError("Conflict", message, about(subject, name));
}

/** Not allowed, by the authorizer or by admission. */
export function forbiddenError(subject: ErrorSubject, name: string, detail: string): ApiError {
  const message = `${qualified(subject)}${name === "" ? "" : ` "${name}"`} is forbidden: ${detail}`;
  return new ApiError("Forbidden", message, about(subject, name));
}

/** The object does not pass validation; every problem is a cause with the field's path. */
export function invalidError(
  { group, kind }: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const subject = group === "" ? kind : `${kind}.${group}`;
  const problems = errors.map(formatFieldError);
  const list = problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`;
  const causes = errors.map(({ path, message, reason }) => {
    return { reason: reason ?? "FieldValueInvalid", message, field: path };
  });
  return new ApiError("Invalid", `${subject} "${name}" is invalid: ${list}`, {
    ...(name !== "" && { name }),
    ...(group !== "" && { group }),
    kind,
    causes,
  });
}

/** The request itself makes no sense. */
export function badRequestError(message: string): ApiError {
  return new ApiError("BadRequest", message);
}

/** The revision that was asked for is no longer kept: list anew, or go on with the token, where there is one. */
export function expiredError(message: string, continueToken?: string): ApiError {
  return new ApiError("Expired", message, {}, { continueToken });
}

/** The failure is the server's own, or that of a server that it depends on. */
export function internalError(message: string): ApiError {
  return new ApiError("InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}
