import type { Part } from "../../../base/run-parts.ts";
import type { ServingIdentity } from "../../../host/http-server.ts";
import type { ClientAuthority } from "./client-authority.ts";
import type { ServingCertificate } from "./serving-certificate.ts";

/** What the node's server shows to those who connect, and whose certificates it believes. */
export interface ServerIdentity {
  /** Those who connect are asked for a certificate. */
  readonly asksForCertificate: boolean;
  identity(): ServingIdentity;
  /** Called after each change of the identity. Returns how to stop that. */
  subscribe(listener: () => void): () => void;
  readonly parts: readonly Part[];
}

/** `authority`: undefined where no client certificate counts. */
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
