import { ApiError } from "../../api/api-error.ts";
import { accessDeniedMessage } from "../ports/access-denied.ts";
import type { AccessAttributes } from "../ports/request.ts";

/** The 403 that says which user may not do what and where, followed by the authorizer's reason if it has one. */
export function accessDeniedError(attributes: AccessAttributes, reason: string): ApiError {
  if ("path" in attributes) {
    const who = `User ${JSON.stringify(attributes.user.username)}`;
    const why = reason === "" ? "" : `: ${reason}`;
    return new ApiError("Forbidden", `forbidden: ${who} cannot ${attributes.verb} path "${attributes.path}"${why}`);
  }
  const { group, resource, name } = attributes;
  const details = { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource };
  return new ApiError("Forbidden", accessDeniedMessage(attributes, reason), details);
}
