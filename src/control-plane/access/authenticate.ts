import { ApiError } from "../../api/api-error.ts";
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
  /** The subject of a client certificate whose chain has been verified. */
  readonly peer?:
    | { readonly commonName: string; readonly organizations: readonly string[]; readonly fingerprint?: string }
    | undefined;
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
}

/** Finds out who makes a request. */
export interface Authenticator {
  /**
   * Returns the user of the credentials; without credentials it is `system:anonymous`. Throws an ApiError Unauthorized
   * for an invalid token.
   */
  authenticate(credentials: Credentials): User;
  /** Returns whose the token is, if it is for one of the audiences (default: the API server's own). */
  authenticateToken(token: string, audiences?: readonly string[]): TokenLogin;
}

/** Client certificates first, then bearer tokens: those of service accounts, then those for bootstrapping. */
export function createApiAuthenticator(deps: LoginDeps): Authenticator {
  const authenticateToken = (token: string, audiences: readonly string[] = deps.tokens.audiences): TokenLogin => {
    const login = findLogin(deps, token, audiences);
    return login.kind === "user" ? { ...login, user: asAuthenticated(login.user) } : login;
  };
  return {
    authenticate({ peer, authorization }) {
      if (peer !== undefined) return asAuthenticated(userOf(peer));
      const token = bearerToken(authorization);
      if (token === undefined) return ANONYMOUS;
      const login = authenticateToken(token);
      if (login.kind === "user") return login.user;
      throw new ApiError("Unauthorized", "Unauthorized");
    },
    authenticateToken,
  };
}

/** The key under which a user carries the fingerprint of the certificate, for "who am I" and audit logs. */
const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

function userOf({ commonName, organizations, fingerprint }: NonNullable<Credentials["peer"]>): User {
  const user = { username: commonName, groups: organizations };
  return fingerprint === undefined ? user : { ...user, extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] } };
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
