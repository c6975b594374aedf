/** The author of a request, as authentication found it. */
export interface User {
  /** `kubernetes-admin`, `system:node:a`, `system:serviceaccount:default:builder`, `system:anonymous`. */
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The user of the control plane's own parts, who is allowed everything and exempt from admission that is for users. */
export const LOOPBACK_USER: User = { username: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

const NODE_PREFIX = "system:node:";

/** The name of the node that the user is; undefined for any other user. */
export function nodeNameOfUser({ username, groups }: User): string | undefined {
  const isNode = groups.includes("system:nodes") && username.startsWith(NODE_PREFIX);
  return isNode ? username.slice(NODE_PREFIX.length) : undefined;
}
