import { createHash } from "node:crypto";
import type { TokenReview } from "../../api/gen/types.ts";
import { TOKEN_REVIEWS } from "../../api/kube-resource.ts";
import type { Clock } from "../../base/clock.ts";
import type { ServedPeer, ServedRequest } from "../../host/http-server.ts";
import type { KubeClient } from "../../kube/port.ts";
import { createReviewCache } from "./review-cache.ts";
import type { Asker } from "./review-places.ts";

/** The user who sends a request, as authorization sees the user. */
export interface RequestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * The result of authentication. `refused` has a reason if the request showed credentials, and none if it showed none.
 */
type Authentication =
  | { readonly kind: "user"; readonly user: RequestUser }
  | { readonly kind: "refused"; readonly reason: string | undefined };

/** Authenticates a request. Rejects with AbortedError only, when the client has gone. */
export type Authenticate = (credentials: Credentials) => Promise<Authentication>;

/** The credentials that a request shows. */
interface Credentials extends Asker, Pick<ServedRequest, "peer"> {
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
}

/**
 * Finds the user that a token stands for. The result is undefined if the token stands for no user. Rejects if the user
 * cannot be determined, or if the server gives a reason for refusing the token.
 */
export type ReviewToken = (token: string, asker: Asker) => Promise<RequestUser | undefined>;

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
const ANONYMOUS: RequestUser = { name: "system:anonymous", groups: [UNAUTHENTICATED], extra: {} };

/** True for a user who has shown credentials that were accepted. */
export function isProven({ groups }: RequestUser): boolean {
  return groups.includes(AUTHENTICATED);
}

/**
 * Authenticates by a client certificate first, then by a bearer token. A client that shows neither may be anonymous,
 * but a client whose credentials are not accepted is refused (authenticatorfactory/delegating.go of k8s.io/apiserver,
 * `BuildAuthn` of cmd/kubelet/app/auth.go).
 */
export function createNodeAuthenticator(
  {
    clock,
    reviewToken,
  }: {
    readonly clock: Pick<Clock, "now">;
    /** Undefined means that tokens are not accepted. */
    readonly reviewToken: ReviewToken | undefined;
  },
  { anonymous }: { readonly anonymous: boolean },
): Authenticate {
  return async ({ authorization, peer, ...asker }) => {
    const reasons: string[] = [];
    if (peer !== undefined) {
      const judged = judgePeer(peer, clock.now());
      if (judged.kind === "user") return judged;
      if (judged.reason !== undefined) reasons.push(judged.reason);
    }
    const token = reviewToken && readBearerToken(authorization);
    if (reviewToken !== undefined && token !== undefined) {
      try {
        const user = await reviewToken(token, asker);
        if (user !== undefined) return { kind: "user", user: withGroup(user) };
        reasons.push("invalid bearer token");
      } catch (error) {
        if (asker.signal.aborted) throw error;
        reasons.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (reasons.length > 0) return { kind: "refused", reason: reasons.join(", ") };
    return anonymous ? { kind: "user", user: ANONYMOUS } : { kind: "refused", reason: undefined };
  };
}

function judgePeer(peer: ServedPeer, now: number): Authentication {
  if (peer.kind === "unverified") return refused(`client certificate: ${peer.reason}`);
  if (peer.notAfter <= now) return refused("client certificate has expired");
  const { commonName, organizations, fingerprint } = peer;
  // A certificate without a common name is valid but names no user.
  if (commonName === "") return refused(undefined);
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] };
  return { kind: "user", user: withGroup({ name: commonName, groups: organizations, extra }) };
}

const refused = (reason: string | undefined): Authentication => ({ kind: "refused", reason });

function withGroup(user: RequestUser): RequestUser {
  const hasOne = user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED);
  return hasOne || user.name === ANONYMOUS.name ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** Reads a bearer token. The result is undefined if the header is missing, has another scheme, or is empty. */
function readBearerToken(authorization: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (authorization ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** The client believes no answer whose fields are of other types: of a text in place of a list each character would be a group. */
function readUser(user: NonNullable<NonNullable<TokenReview["status"]>["user"]>): RequestUser {
  const { username: name = "", uid = "", groups = [], extra = {} } = user;
  return { name, ...(uid !== "" && { uid }), groups, extra };
}

/** A user who takes more than this is not kept, so that thousands of them do not fill the memory. */
const MAX_USER_CHARACTERS = 10_000;

const isShort = (user: RequestUser) => JSON.stringify(user).length <= MAX_USER_CHARACTERS;

/**
 * Asks the API server about tokens. Its answer about a token, also a plain no, is kept for `cacheTtlMs` milliseconds.
 * An error is not kept.
 */
export function createTokenReviews(
  { client, clock }: { readonly client: Pick<KubeClient, "create">; readonly clock: Clock },
  { cacheTtlMs }: { readonly cacheTtlMs: number },
): ReviewToken {
  const reviews = createReviewCache<RequestUser | undefined>(clock);
  return async (token, asker) => {
    // The key is a hash, so that a token stays in memory no longer than its request.
    const key = createHash("sha256").update(token).digest("base64");
    return await reviews.ask(key, asker, async (shared) => {
      const review: TokenReview = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: {},
        spec: { token },
      };
      const { status = {} } = await client.create(TOKEN_REVIEWS, review, { signal: shared });
      if (status.authenticated !== true) {
        if (status.error !== undefined && status.error !== "") throw new Error(status.error);
        return { answer: undefined, keepMs: cacheTtlMs };
      }
      const answer = readUser(status.user ?? {});
      return { answer, keepMs: isShort(answer) ? cacheTtlMs : 0 };
    });
  };
}
