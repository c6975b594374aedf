import { X509Certificate } from "node:crypto";
import { checkServerIdentity, type TLSSocket } from "node:tls";
import { CodedError } from "../../../base/errors.ts";

/** What Node.js says of a chain that does not end in an authority that signs itself. */
const NO_ROOT: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const WRONG_NAME = "ERR_TLS_CERT_ALTNAME_INVALID";

/**
 * Why the server at the other end of a new connection is not believed; undefined for one that is. It must be asked before
 * anything is sent, of a connection that Node.js was told not to judge.
 *
 * Besides what Node.js believes it is a certificate that one of the authorities has signed itself. Go takes every certificate
 * of a bundle for a root; OpenSSL wants one that signs itself, and takes a certificate without any name for such a one. Pepr
 * makes both kinds.
 */
export function distrustOf(
  socket: TLSSocket,
  { name, ca }: { name: string; ca: string | undefined },
): Error | undefined {
  if (socket.authorized) return undefined;
  const problem: unknown = socket.authorizationError;
  const refusal = new CodedError(String(problem), String(problem));
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return refusal;
  // Node.js looks at names last, and its error lists them.
  if (problem === WRONG_NAME) return namesProblem(leaf, name) ?? refusal;
  const isTrusted = NO_ROOT.has(problem) && authoritiesIn(ca ?? "").some((authority) => isIssuedBy(leaf, authority));
  return isTrusted ? namesProblem(leaf, name) : refusal;
}

const namesProblem = (leaf: X509Certificate, name: string) => checkServerIdentity(name, leaf.toLegacyObject());

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** The purpose of a server's certificate, and any. A certificate without purposes has all. */
const PURPOSES: ReadonlySet<string> = new Set(["1.3.6.1.5.5.7.3.1", "2.5.29.37.0"]);

function authoritiesIn(pem: string): X509Certificate[] {
  return [...pem.matchAll(PEM)].map(([text]) => new X509Certificate(text));
}

function isIssuedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  const isForServers = leaf.keyUsage === undefined || leaf.keyUsage.some((purpose) => PURPOSES.has(purpose));
  if (!authority.ca || !isForServers || !isValidNow(leaf) || !isValidNow(authority)) return false;
  return leaf.checkIssued(authority) && isSignedBy(leaf, authority);
}

function isSignedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  try {
    return leaf.verify(authority.publicKey);
  } catch {
    // A key of another kind than the signature's has not made it.
    return false;
  }
}

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now();
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}
