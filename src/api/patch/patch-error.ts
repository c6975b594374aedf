import { ApiError, badRequestError } from "../api-error.ts";
import { isRecord } from "../object.ts";
import { isDeeperThan } from "./json-value.ts";

/**
 * A patch nested deeper than this is refused, because merging recurses along it. Objects nest less than a hundred
 * levels.
 */
const MAX_PATCH_DEPTH = 1000;

/** The patch is well-formed but cannot be applied. Upstream says no more than the message; the cause tells what and where. */
export function unprocessablePatchError(detail: string): ApiError {
  return new ApiError("Invalid", "the server rejected our request due to an error in our request", {
    causes: [{ reason: "FieldValueInvalid", message: detail, field: "patch" }],
  });
}

/** The patch as an object. Throws BadRequest for anything else, in upstream's words. */
export function requireObjectPatch(patch: unknown): Readonly<Record<string, unknown>> {
  refuseDeepPatch(patch);
  if (isRecord(patch)) return patch;
  throw undecodablePatchError(patch, "map[string]interface {}");
}

/** Throws BadRequest for a patch that is nested too deeply to walk. */
export function refuseDeepPatch(patch: unknown): void {
  if (isDeeperThan(patch, MAX_PATCH_DEPTH)) {
    throw badRequestError(`error decoding patch: nested more than ${MAX_PATCH_DEPTH} levels deep`);
  }
}

/** A value of the wrong JSON type where the patch, or a part of it, needs another. */
export function undecodablePatchError(value: unknown, expected: string): ApiError {
  return badRequestError(
    `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type ${expected}`,
  );
}

function jsonType(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "bigint" ? "number" : typeof value === "boolean" ? "bool" : typeof value;
}
