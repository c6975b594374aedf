import { ApiError } from "../../api/api-error.ts";
import type { Authorize, ResourceAccess } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { AUTHENTICATED, UNAUTHENTICATED } from "./authenticate.ts";
import { accessDeniedError } from "./denial.ts";
import { parseServiceAccount, serviceAccountGroups } from "./service-account-names.ts";

const EXTRA_PREFIX = "impersonate-extra-";
const AUTHENTICATION_GROUP = "authentication.k8s.io";

/** The values of each header, by its lower-case name. */
export type ImpersonationHeaders = Readonly<Record<string, readonly string[] | undefined>>;

type Target = Pick<ResourceAccess, "group" | "resource" | "subresource" | "namespace" | "name">;

/**
 * Returns the user as whom a request is served: the one that `kubectl --as` asks for, or the user itself. The user must
 * be allowed to impersonate each part (the name, each group, the UID, each extra value), or this throws Forbidden.
 */
export function impersonate(user: User, headers: ImpersonationHeaders, authorize: Authorize): User {
  const wanted = readWanted(headers);
  if (wanted === undefined) return user;
  for (const target of targetsOf(wanted)) {
    const attributes = { user, verb: "impersonate", version: "v1", ...target };
    const { allowed, reason } = authorize(attributes);
    if (!allowed) throw accessDeniedError(attributes, reason);
  }
  const account = parseServiceAccount(wanted.username);
  const given = wanted.groups.length === 0 && account ? serviceAccountGroups(account.namespace) : wanted.groups;
  return {
    username: wanted.username,
    ...(wanted.uid !== "" && { uid: wanted.uid }),
    groups: withStanding(wanted.username, given),
    ...(wanted.extra.length > 0 && { extra: collect(wanted.extra) }),
  };
}

interface Wanted {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: readonly (readonly [key: string, value: string])[];
}

function readWanted(headers: ImpersonationHeaders): Wanted | undefined {
  const username = headers["impersonate-user"]?.[0] ?? "";
  const uid = headers["impersonate-uid"]?.[0] ?? "";
  const groups = headers["impersonate-group"] ?? [];
  const extra = Object.entries(headers)
    .filter(([name]) => name.startsWith(EXTRA_PREFIX))
    .flatMap(([name, values = []]) =>
      values.map((value) => [decodeKey(name.slice(EXTRA_PREFIX.length)), value] as const),
    );
  if (username !== "") return { username, uid, groups, extra };
  if (uid === "" && groups.length === 0 && extra.length === 0) return undefined;
  const asked = [uid, ...groups, ...extra.map(([key]) => key)].filter((text) => text !== "").join(" ");
  throw new ApiError("InternalError", `Internal error occurred: requested [${asked}] without impersonating a user`);
}

/**
 * Decodes a key, in which characters that a header's name cannot have are percent-encoded. A key that is not encoded
 * stays as it is.
 */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function targetsOf({ username, uid, groups, extra }: Wanted): Target[] {
  const account = parseServiceAccount(username);
  const core = { group: "", subresource: "", namespace: "" };
  const authentication = { group: AUTHENTICATION_GROUP, namespace: "" };
  return [
    account ? { ...core, resource: "serviceaccounts", ...account } : { ...core, resource: "users", name: username },
    ...groups.map((name) => ({ ...core, resource: "groups", name })),
    ...extra.map(([subresource, name]) => ({ ...authentication, resource: "userextras", subresource, name })),
    ...(uid === "" ? [] : [{ ...authentication, resource: "uids", subresource: "", name: uid }]),
  ];
}

/** The groups, with `system:authenticated` for every user but the anonymous one, unless the groups say otherwise. */
function withStanding(username: string, groups: readonly string[]): readonly string[] {
  if (groups.includes(UNAUTHENTICATED)) return groups;
  if (username === "system:anonymous") return [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED];
}

function collect(extra: Wanted["extra"]): Record<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [key, value] of extra) values.set(key, [...(values.get(key) ?? []), value]);
  return Object.fromEntries(values);
}
