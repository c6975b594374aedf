import { timingSafeEqual } from "node:crypto";
import { isRecord, type KubeObject, typed } from "../../api/object.ts";
import { parseTime, SECOND } from "../../base/clock.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import type { TokenClaims } from "./json-web-token.ts";
import { serviceAccountGroups, serviceAccountUsername } from "./service-account-names.ts";
import { legacyClaims, type NamedObject } from "./service-account-tokens.ts";
import type { LoginDeps, TokenLogin } from "./token-login.ts";

/** The tolerance for differing clocks: times in a token, and deletions, count this much later or earlier. */
const LEEWAY_MS = 60 * SECOND;
const EXTRA = "authentication.kubernetes.io";
const INVALID_SINCE_LABEL = "kubernetes.io/legacy-token-invalid-since";
const INVALIDATED = "service account token has been invalidated";

/**
 * Finds the user of a service account token. A token that our key signed is refused when it is for other audiences, is
 * not valid at this time, or is bound to an object that is gone.
 */
export function loginByServiceAccountToken(deps: LoginDeps, token: string, audiences: readonly string[]): TokenLogin {
  const claims = deps.tokens.verify(token);
  if (claims === undefined) return { kind: "none" };
  const problemOfTime = checkTimes(claims, deps.now());
  if (problemOfTime !== undefined) return { kind: "refused", problem: problemOfTime };
  const fitting = fittingAudiences(deps, claims, audiences);
  if (fitting.length === 0) {
    const [given, wanted] = [listOf(claims["aud"]), audiences].map((list) => `[${list.join(" ")}]`);
    return { kind: "refused", problem: `token audiences ${given} is invalid for the target audiences ${wanted}` };
  }
  const found = legacyClaims(claims) === undefined ? loginBound(deps, claims) : loginLegacy(deps, claims, token);
  return typeof found === "string"
    ? { kind: "refused", problem: found }
    : { kind: "user", user: found, audiences: fitting };
}

function fittingAudiences({ tokens }: LoginDeps, claims: TokenClaims, wanted: readonly string[]): string[] {
  // Legacy tokens are older than audiences, and count as tokens for the API server.
  const given = legacyClaims(claims) === undefined ? listOf(claims["aud"]) : tokens.audiences;
  const known = new Set(given);
  return wanted.filter((audience) => known.has(audience));
}

/** The value as a list. An audience may stand alone. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function checkTimes(claims: TokenClaims, nowMs: number): string | undefined {
  const { exp, nbf } = claims;
  if (typeof exp === "number" && nowMs - LEEWAY_MS > exp * SECOND) return "service account token has expired";
  if (typeof nbf === "number" && nowMs + LEEWAY_MS < nbf * SECOND) return "service account token is not valid yet";
  return undefined;
}

/** The user of a bound token, or why it is refused. */
function loginBound(deps: LoginDeps, claims: TokenClaims): User | string {
  if (claims["iss"] !== deps.tokens.issuer || typeof claims["exp"] !== "number") return "token is not of this cluster";
  const own = claims["kubernetes.io"];
  if (!isRecord(own) || typeof own["namespace"] !== "string") return "token has no service account";
  const namespace = own["namespace"];
  const [account, pod, secret, node] = ["serviceaccount", "pod", "secret", "node"].map((field) => namedIn(own[field]));
  if (account === undefined) return "token has no service account";
  const problem =
    checkServiceAccount(deps, namespace, account) ??
    (secret && checkBound(deps, secret, { resource: "secrets", what: "secret", namespace })) ??
    (pod && checkBound(deps, pod, { resource: "pods", what: "pod", namespace })) ??
    // The node in a pod's token is information only. A token that is bound to a node alone becomes invalid with the
    // node.
    (node && !pod && !secret ? checkBound(deps, node, { resource: "nodes", what: "node", namespace: "" }) : undefined);
  if (problem !== undefined) return problem;
  return serviceAccountUser(namespace, account, extraOf({ pod, node, tokenId: claims["jti"] }));
}

function loginLegacy(deps: LoginDeps, claims: TokenClaims, token: string): User | string {
  const { namespace, secretName, serviceAccount } = legacyClaims(claims) ?? { namespace: "", secretName: "" };
  if (serviceAccount === undefined) return INVALIDATED;
  const found = deps.reader.get({ resource: "secrets", namespace, name: secretName });
  if (found === undefined || isDeletedFor(found, deps.now())) return INVALIDATED;
  const { data = {} } = typed("Secret", found);
  if (!isSameText(data["token"] ?? "", Buffer.from(token).toString("base64"))) return INVALIDATED;
  if (found.metadata.labels?.[INVALID_SINCE_LABEL] !== undefined) {
    const place = `${namespace}/${secretName} for service account ${namespace}/${serviceAccount.name}`;
    return `the token in secret ${place} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token`;
  }
  const problem = checkServiceAccount(deps, namespace, serviceAccount);
  return problem ?? serviceAccountUser(namespace, serviceAccount, {});
}

function checkServiceAccount(
  { reader, now }: { reader: ResourceReader; now(): number },
  namespace: string,
  { name, uid }: NamedObject,
): string | undefined {
  const found = reader.get({ resource: "serviceaccounts", namespace, name });
  if (found === undefined) return `serviceaccounts "${name}" not found`;
  if (isDeletedFor(found, now())) return `service account ${namespace}/${name} has been deleted`;
  const actual = found.metadata.uid ?? "";
  return actual === uid ? undefined : `service account UID (${actual}) does not match claim (${uid})`;
}

function checkBound(
  { reader, now }: LoginDeps,
  { name, uid }: NamedObject,
  { resource, what, namespace }: { resource: string; what: string; namespace: string },
): string | undefined {
  const found = reader.get({ resource, namespace, name });
  if (found === undefined || isDeletedFor(found, now())) return INVALIDATED;
  const actual = found.metadata.uid ?? "";
  if (actual === uid) return undefined;
  return `${what} UID (${actual}) does not match service account ${what} ref claim (${uid})`;
}

/** True when the object's deletion and its grace period have passed. A pod may use its token while it shuts down. */
function isDeletedFor({ metadata }: KubeObject, nowMs: number): boolean {
  const deletedAt = parseTime(metadata.deletionTimestamp);
  return deletedAt !== undefined && deletedAt < nowMs - LEEWAY_MS;
}

function namedIn(value: unknown): NamedObject | undefined {
  if (!isRecord(value) || typeof value["name"] !== "string") return undefined;
  return { name: value["name"], uid: typeof value["uid"] === "string" ? value["uid"] : "" };
}

interface TokenContext {
  readonly pod: NamedObject | undefined;
  readonly node: NamedObject | undefined;
  readonly tokenId: unknown;
}

function extraOf({ pod, node, tokenId }: TokenContext): Record<string, readonly string[]> {
  return {
    ...(typeof tokenId === "string" && tokenId !== "" && { [`${EXTRA}/credential-id`]: [`JTI=${tokenId}`] }),
    ...(node && { [`${EXTRA}/node-name`]: [node.name] }),
    ...(node && node.uid !== "" && { [`${EXTRA}/node-uid`]: [node.uid] }),
    ...(pod && { [`${EXTRA}/pod-name`]: [pod.name], [`${EXTRA}/pod-uid`]: [pod.uid] }),
  };
}

function serviceAccountUser(
  namespace: string,
  { name, uid }: NamedObject,
  extra: Record<string, readonly string[]>,
): User {
  const username = serviceAccountUsername(namespace, name);
  const user = { username, uid, groups: serviceAccountGroups(namespace) };
  return Object.keys(extra).length > 0 ? { ...user, extra } : user;
}

/** Compares texts in a time that does not reveal how much of a guess was right. */
function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
