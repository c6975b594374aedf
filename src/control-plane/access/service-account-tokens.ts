import { LRUCache } from "lru-cache";
import { formatTime, SECOND } from "../../base/clock.ts";
import { readSigningKey, type SigningKey, signClaims, type TokenClaims, verifySignature } from "./json-web-token.ts";
import { serviceAccountUsername } from "./service-account-names.ts";

/**
 * The number of verified tokens that are kept; the oldest are dropped. Verifying costs up to a tenth of a millisecond,
 * and clients send the same token with each request.
 */
const MAX_CACHED_TOKENS = 1_000;
/**
 * The lifetime that the ServiceAccount admission plugin asks for in a pod's projected token. Such tokens are valid for
 * a year in truth, because older clients read the file only once. After this time they are reported as stale.
 */
const EXTENDABLE_SECONDS = 3_607;
const EXTENDED_SECONDS = 365 * 24 * 3_600;
const LEGACY_ISSUER = "kubernetes/serviceaccount";
const LEGACY_CLAIMS = "kubernetes.io/serviceaccount";

/** An object by name and UID. A new object of the same name is another one. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** A token that is to be issued, as `planTokenRequest` plans it. */
export interface TokenPlan {
  readonly serviceAccount: NamedObject & { readonly namespace: string };
  /** The object with which the token becomes invalid. */
  readonly bound?: NamedObject & { readonly kind: "Node" | "Pod" | "Secret" };
  /** The node of the bound pod; its UID is "" when the node is not registered. */
  readonly node?: NamedObject;
  /** The audiences; the API server's own when empty. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

interface IssuedToken {
  readonly token: string;
  /** When the client should have got another token, as RFC 3339. */
  readonly expirationTimestamp: string;
}

/** Makes and recognizes the tokens of service accounts. */
export interface TokenIssuer {
  readonly issuer: string;
  /** The API server's own audiences. */
  readonly audiences: readonly string[];
  issue(plan: TokenPlan): IssuedToken;
  /**
   * Issues the token of a secret of type `kubernetes.io/service-account-token`, which is valid as long as the secret
   * exists.
   */
  issueLegacy(serviceAccount: TokenPlan["serviceAccount"], secretName: string): string;
  /** Returns the claims of a token that our key signed, without checking them; undefined for any other token. */
  verify(token: string): TokenClaims | undefined;
  /** The answer of `/openid/v1/jwks`. */
  jwks(): Readonly<Record<string, unknown>>;
  /** The answer of `/.well-known/openid-configuration`. */
  openIdConfiguration(): Readonly<Record<string, unknown>>;
}

interface TokenIssuerOptions {
  readonly privatePem: string;
  readonly publicPem: string;
  readonly keyId: string;
  /** A URL. */
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Milliseconds since the epoch. */
  now(): number;
  /** Returns a UUID, the token's identity in audit logs. */
  randomId(): string;
}

/** An issuer with one key, RSA or ECDSA. Throws for a key that cannot be read. */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { issuer, audiences } = options;
  const key = readSigningKey(options);
  const verified = new LRUCache<string, TokenClaims>({ max: MAX_CACHED_TOKENS });
  return {
    issuer,
    audiences,
    issue(plan) {
      const nowMs = options.now();
      const claims = { ...claimsOf(plan, { nowMs, issuer, apiAudiences: audiences }), jti: options.randomId() };
      const expirationTimestamp = formatTime(nowMs + plan.expirationSeconds * SECOND);
      return { token: signClaims(key, claims), expirationTimestamp };
    },
    issueLegacy({ namespace, name, uid }, secretName) {
      return signClaims(key, {
        iss: LEGACY_ISSUER,
        [`${LEGACY_CLAIMS}/namespace`]: namespace,
        [`${LEGACY_CLAIMS}/secret.name`]: secretName,
        [`${LEGACY_CLAIMS}/service-account.name`]: name,
        [`${LEGACY_CLAIMS}/service-account.uid`]: uid,
        sub: serviceAccountUsername(namespace, name),
      });
    },
    verify(token) {
      const known = verified.get(token);
      if (known !== undefined) return known;
      const claims = verifySignature(key, token);
      if (claims !== undefined) verified.set(token, claims);
      return claims;
    },
    jwks: () => ({ keys: [publicJwk(key)] }),
    openIdConfiguration: () => ({
      issuer,
      jwks_uri: `${issuer}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [key.algorithm],
    }),
  };
}

/** The claims of a legacy token; undefined for any other token. */
export function legacyClaims(
  claims: TokenClaims,
): { namespace: string; secretName: string; serviceAccount: NamedObject } | undefined {
  if (claims["iss"] !== LEGACY_ISSUER) return undefined;
  const text = (name: string) => String(claims[`${LEGACY_CLAIMS}/${name}`] ?? "");
  const serviceAccount = { name: text("service-account.name"), uid: text("service-account.uid") };
  return { namespace: text("namespace"), secretName: text("secret.name"), serviceAccount };
}

function claimsOf(
  { serviceAccount, bound, node, audiences, expirationSeconds }: TokenPlan,
  { nowMs, issuer, apiAudiences }: { nowMs: number; issuer: string; apiAudiences: readonly string[] },
): TokenClaims {
  const { namespace, name, uid } = serviceAccount;
  const issuedAt = Math.floor(nowMs / SECOND);
  const aud = audiences.length === 0 ? apiAudiences : audiences;
  const isForApi = aud.every((audience) => apiAudiences.includes(audience));
  const isExtended = bound?.kind === "Pod" && expirationSeconds === EXTENDABLE_SECONDS && isForApi;
  return {
    aud,
    exp: issuedAt + (isExtended ? EXTENDED_SECONDS : expirationSeconds),
    iat: issuedAt,
    iss: issuer,
    "kubernetes.io": {
      namespace,
      ...(node && { node: reference(node) }),
      ...(bound && { [bound.kind.toLowerCase()]: reference(bound) }),
      serviceaccount: { name, uid },
      ...(isExtended && { warnafter: issuedAt + expirationSeconds }),
    },
    nbf: issuedAt,
    sub: serviceAccountUsername(namespace, name),
  };
}

const reference = ({ name, uid }: NamedObject) => (uid === "" ? { name } : { name, uid });

function publicJwk({ publicKey, keyId, algorithm }: SigningKey): Readonly<Record<string, unknown>> {
  return { use: "sig", kid: keyId, alg: algorithm, ...publicKey.export({ format: "jwk" }) };
}
