import { ApiError } from "../../api/api-error.ts";
import type { AccessAttributes } from "../ports/request.ts";

/** The 403 that says which user may not do what and where, followed by the authorizer's reason if it has one. */
export function accessDeniedError(attributes: AccessAttributes, reason: string): ApiError {
  const who = `User ${JSON.stringify(attributes.user.username)}`;
  const why = reason === "" ? "" : `: ${reason}`;
  if ("path" in attributes) {
    return new ApiError("Forbidden", `forbidden: ${who} cannot ${attributes.verb} path "${attributes.path}"${why}`);
  }
  const { verb, group, resource, subresource, namespace, name } = attributes;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const subject = name === "" ? qualified : `${qualified} "${name}"`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const detail = `${who} cannot ${verb} resource "${what}" in API group "${group}" ${where}${why}`;
  const details = { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource };
  return new ApiError("Forbidden", `${subject} is forbidden: ${detail}`, details);
}
