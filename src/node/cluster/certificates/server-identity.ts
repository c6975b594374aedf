import type { Part } from "../../../base/run-parts.ts";
import type { ServingIdentity } from "../../../host/http-server.ts";
import type { ClientAuthority } from "./client-authority.ts";
import type { ServingCertificate } from "./serving-certificate.ts";

/**
 * The certificate that the node's server shows to its clients, and the authorities whose client certificates it
 * believes.
 */
export interface ServerIdentity {
  /** True when clients are asked for a certificate as they connect. */
  readonly asksForCertificate: boolean;
  identity(): ServingIdentity;
  /** The listener is called after each change of the identity. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
  readonly parts: readonly Part[];
}

/** `authority` is undefined where no client certificate counts. */
export function createServerIdentity(
  certificate: ServingCertificate,
  authority: ClientAuthority | undefined,
): ServerIdentity {
  const sources = authority === undefined ? [certificate] : [certificate, authority];
  const own = { name: "serving certificate", run: certificate.run };
  return {
    asksForCertificate: authority !== undefined,
    identity: () => ({ pair: certificate.current(), clientAuthorityPem: authority?.current() }),
    subscribe(listener) {
      const stops = sources.map((source) => source.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    parts: authority === undefined ? [own] : [own, { name: "client authorities", run: authority.run }],
  };
}
