import type { ResourceAccess } from "./request.ts";

/** Says which user may not do what and where, followed by the authorizer's reason if it has one. */
export function accessDeniedMessage(access: ResourceAccess, reason: string): string {
  const { user, verb, group, resource, subresource, namespace, name } = access;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const subject = name === "" ? qualified : `${qualified} "${name}"`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const who = `User ${JSON.stringify(user.username)}`;
  const why = reason === "" ? "" : `: ${reason}`;
  return `${subject} is forbidden: ${who} cannot ${verb} resource "${what}" in API group "${group}" ${where}${why}`;
}
