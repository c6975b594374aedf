const PREFIX = "system:serviceaccount:";

/** The username of a service account, `system:serviceaccount:default:builder`. */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`;
}

/** The groups of a namespace's service accounts, without `system:authenticated`. */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** The way back from `serviceAccountUsername`; undefined for a user who is no service account. */
export function parseServiceAccount(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(PREFIX)) return undefined;
  const [namespace = "", name = "", ...rest] = username.slice(PREFIX.length).split(":");
  return rest.length > 0 || namespace === "" || name === "" ? undefined : { namespace, name };
}
