import { constants as tlsConstants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { CodedError } from "../../../base/errors.ts";
import type { ServerTls, ServingIdentity } from "../../http-server.ts";

/**
 * Computes the options of a server's TLS context. Throws a CodedError "no-authority" when clients are asked for a
 * certificate that nobody could judge.
 */
export function computeContextOptions(
  tls: ServerTls,
  { pair, clientAuthorityPem }: ServingIdentity,
): SecureContextOptions {
  // Without authorities of its own, TLS would believe those of the whole web.
  if (tls.asksForCertificate && clientAuthorityPem === undefined) {
    throw new CodedError("no-authority", "client certificates are asked for, and there is no authority to judge them");
  }
  return {
    ...(pair && { cert: pair.certificatePem, key: pair.keyPem }),
    // Without the list, Node.js would read the authorities of the whole web into memory, which takes longer than all else
    // that a server needs to listen.
    ca: clientAuthorityPem ?? [],
    // As in Go, an intermediate without its root is believed where the file names it.
    allowPartialTrustChain: true,
    ...(tls.minVersion !== undefined && { minVersion: tls.minVersion }),
    ...(tls.ciphers !== undefined && { ciphers: tls.ciphers }),
    ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
    // A session that is resumed keeps the judgement of authorities that may have been replaced.
    ...{ secureOptions: tlsConstants.SSL_OP_NO_TICKET, sessionTimeout: 1 },
  };
}
