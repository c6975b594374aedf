import { ApiError } from "../../api/api-error.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ServedPeer } from "../../host/http-server.ts";
import type { User } from "../ports/user.ts";
import { loginByBootstrapToken } from "./bootstrap-tokens.ts";
import { loginByServiceAccountToken } from "./service-account-login.ts";
import type { LoginDeps, TokenLogin } from "./token-login.ts";

/** The group of all users who proved who they are. */
export const AUTHENTICATED = "system:authenticated";
/** The group of all other users. */
export const UNAUTHENTICATED = "system:unauthenticated";
/** The user of requests without credentials. */
export const ANONYMOUS: User = { username: "system:anonymous", groups: [UNAUTHENTICATED] };

/** The credentials of a request. */
interface Credentials {
  readonly peer?: ServedPeer | undefined;
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
}

/** Finds out who makes a request. */
export interface Authenticator {
  /**
   * Returns the user of the credentials; without credentials it is `system:anonymous`. Throws an ApiError Unauthorized
   * for a client certificate or a token that does not hold, unless another credential of the request does.
   */
  authenticate(credentials: Credentials): User;
  /** Returns whose the token is, if it is for one of the audiences (default: the API server's own). */
  authenticateToken(token: string, audiences?: readonly string[]): TokenLogin;
}

interface AuthenticatorDeps extends LoginDeps {
  readonly metrics: Metrics;
  readonly log: Log;
}

const DAY = 86_400;
/** In seconds, as upstream has them. */
const EXPIRATION_BUCKETS = [
  ...[0, 1800, 3600, 7200, 21_600, 43_200, DAY, 2 * DAY, 4 * DAY, 7 * DAY],
  ...[30 * DAY, 90 * DAY, 180 * DAY, 360 * DAY],
];

/**
 * Client certificates first, then bearer tokens: those of service accounts, then those for bootstrapping. A certificate
 * that is not believed leaves the token to decide, and without one nobody falls back to being anonymous (the union of
 * authenticators in k8s.io/apiserver).
 */
export function createApiAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { now, log } = deps;
  const lifetimes = deps.metrics.histogram(
    "apiserver_client_certificate_expiration_seconds",
    "Distribution of the remaining lifetime on the certificate used to authenticate a request.",
    { buckets: EXPIRATION_BUCKETS },
  );
  const authenticateToken = (token: string, audiences: readonly string[] = deps.tokens.audiences): TokenLogin => {
    const login = findLogin(deps, token, audiences);
    return login.kind === "user" ? { ...login, user: asAuthenticated(login.user) } : login;
  };
  return {
    authenticate({ peer, authorization }) {
      if (peer?.kind === "verified") lifetimes.observe((peer.notAfter - now()) / 1000);
      const judged = judgePeer(peer, now());
      if (judged.kind === "user") return asAuthenticated(judged.user);
      const token = bearerToken(authorization);
      if (token === undefined && judged.kind === "none") return ANONYMOUS;
      const login = token === undefined ? judged : authenticateToken(token);
      if (login.kind === "user") return login.user;
      const reason = judged.kind === "refused" ? judged.problem : "the token is not valid";
      log.debug("a request could not be authenticated", { reason });
      throw new ApiError("Unauthorized", "Unauthorized");
    },
    authenticateToken,
  };
}

type PeerLogin =
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "none" };

/** Each request is judged anew, because a connection may outlive the certificate that it began with. */
function judgePeer(peer: ServedPeer | undefined, now: number): PeerLogin {
  if (peer === undefined) return { kind: "none" };
  if (peer.kind === "unverified") return { kind: "refused", problem: `client certificate: ${peer.reason}` };
  if (peer.notAfter <= now) return { kind: "refused", problem: "the client certificate has expired" };
  // A certificate without a common name is valid but names no user.
  return peer.commonName === "" ? { kind: "none" } : { kind: "user", user: userOf(peer) };
}

/** The key under which a user carries the fingerprint of the certificate, for "who am I" and audit logs. */
const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

function userOf({ commonName, organizations, fingerprint }: Extract<ServedPeer, { kind: "verified" }>): User {
  const extra = { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] };
  return { username: commonName, groups: organizations, extra };
}

function findLogin(deps: LoginDeps, token: string, audiences: readonly string[]): TokenLogin {
  const byAccount = loginByServiceAccountToken(deps, token, audiences);
  if (byAccount.kind !== "none") return byAccount;
  const other = loginByBootstrapToken(deps, token);
  if (other.kind !== "user") return other;
  // A token that names no audience is for the API server.
  const fitting = audiences.filter((audience) => other.audiences.includes(audience));
  return fitting.length > 0 ? { ...other, audiences: fitting } : { kind: "none" };
}

/**
 * The token of a bearer; undefined also for other schemes. Upstream too treats a client that sends a password as
 * anonymous.
 */
function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (authorization ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

function asAuthenticated(user: User): User {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
