import { isRecord } from "../../../api/object.ts";
import { SECOND } from "../../../base/clock.ts";
import { tryParseJson } from "../../../base/parse-json.ts";

/** What a token must be for. */
interface WantedToken {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Default: any UID. */
  readonly serviceAccountUid?: string | undefined;
  /** Empty: the API server's own. */
  readonly audiences: readonly string[];
  readonly pod: { readonly uid: string };
}

/** When a token was given and when it ends, in milliseconds since the epoch, by the server's clock. */
interface TokenLease {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Reads a token that a pod is shown. Undefined where it is not what would be asked for now: for this pod, this account
 * and these audiences. Who signed it is not looked at: whoever could write it there is root on this node.
 */
export function readShownToken(token: string, wanted: WantedToken): TokenLease | undefined {
  const claims = readClaims(token);
  const bound = recordOf(claims["kubernetes.io"]);
  const { uid: accountUid, name: account } = recordOf(bound["serviceaccount"]);
  const { uid: podUid } = recordOf(bound["pod"]);
  const isWanted =
    bound["namespace"] === wanted.namespace &&
    account === wanted.serviceAccount &&
    podUid === wanted.pod.uid &&
    (wanted.serviceAccountUid === undefined || accountUid === wanted.serviceAccountUid) &&
    isFor(claims["aud"], wanted.audiences);
  return isWanted ? readLease(claims, bound) : undefined;
}

/** The server's own audiences are known to itself alone, and a volume's audiences never change. */
function isFor(given: unknown, wanted: readonly string[]): boolean {
  const audiences = new Set([given].flat());
  return wanted.length === 0 || (audiences.size === wanted.length && wanted.every((one) => audiences.has(one)));
}

/** A server may give a token a longer life than it tells of, and says in it when clients should have the next one. */
function readLease({ iat, exp }: Claims, { warnafter: warnAfter = exp }: Claims): TokenLease | undefined {
  if (typeof iat !== "number" || typeof exp !== "number" || typeof warnAfter !== "number") return undefined;
  return { issuedAt: iat * SECOND, expiresAt: Math.min(exp, warnAfter) * SECOND };
}

type Claims = Readonly<Record<string, unknown>>;

function readClaims(token: string): Claims {
  return recordOf(tryParseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()));
}

function recordOf(value: unknown): Claims {
  return isRecord(value) ? value : {};
}
