import type { PodCertificateRequest } from "../../../api/gen/types.ts";
import { MINUTE, parseTime } from "../../../base/clock.ts";

/**
 * What a `podCertificate` source of a volume has at a moment. Keys and certificates are in memory only, as upstream's
 * (pkg/kubelet/podcertificate): after a restart of the node agent every source asks anew.
 *
 * ```
 *             created          issued           created
 *  initial ───────────► waiting ─────► fresh ◄───────────► renewing
 *     ▲                    │             ▲      issued, or     │
 *     └────────────────────┤ lost        │      lost           │
 *                          └──► denied, failed ◄───────────────┘
 * ```
 */
export type Credential =
  | { readonly state: "initial" }
  | { readonly state: "waiting"; readonly pending: AskedRequest }
  | { readonly state: "fresh"; readonly bundle: IssuedBundle }
  | { readonly state: "renewing"; readonly bundle: IssuedBundle; readonly pending: AskedRequest }
  /** For ever: the pod has to be made again. */
  | { readonly state: "denied" | "failed"; readonly reason: string; readonly message: string };

/** A request that was created, with the key that nobody else has. */
interface AskedRequest {
  readonly name: string;
  readonly keyPem: string;
  /** When a request that cannot be seen counts as deleted; milliseconds since the epoch. */
  readonly lostAt: number;
}

/** What a pod is shown. Times in milliseconds since the epoch. */
export interface IssuedBundle {
  readonly keyPem: string;
  readonly chainPem: string;
  readonly refreshAt: number;
  readonly notAfter: number;
}

/** The values of the label `state` of `kubelet_podcertificate_states`. */
export type CredentialHealth = "denied" | "expired" | "failed" | "fresh" | "not_yet_issued" | "overdue_for_refresh";

/** A certificate that was not renewed so long after its time is overdue. */
const OVERDUE_MS = 10 * MINUTE;

/** How a credential is, as upstream's metric tells it. */
export function healthOf(credential: Credential, now: number): CredentialHealth {
  switch (credential.state) {
    case "initial":
    case "waiting":
      return "not_yet_issued";
    case "denied":
    case "failed":
      return credential.state;
    case "fresh":
    case "renewing": {
      const { notAfter, refreshAt } = credential.bundle;
      if (now > notAfter) return "expired";
      return now > refreshAt + OVERDUE_MS ? "overdue_for_refresh" : "fresh";
    }
  }
}

/** The answer that the API shows to a request; undefined while there is none. `jitterMs` puts the renewal off. */
export function readAnswer(
  { status }: PodCertificateRequest,
  { keyPem, jitterMs }: { keyPem: string; jitterMs: number },
): Extract<Credential, { state: "denied" | "failed" | "fresh" }> | undefined {
  for (const { type, reason, message } of status?.conditions ?? []) {
    if (type === "Denied") return { state: "denied", reason, message };
    if (type === "Failed") return { state: "failed", reason, message };
    if (type !== "Issued") continue;
    const chainPem = cleanChain(status?.certificateChain ?? "");
    const refreshAt = (parseTime(status?.beginRefreshAt) ?? 0) + jitterMs;
    return { state: "fresh", bundle: { keyPem, chainPem, refreshAt, notAfter: parseTime(status?.notAfter) ?? 0 } };
  }
  return undefined;
}

const BLOCK = /-----BEGIN ([^-\n]+)-----\r?\n((?:[^-]|-(?!----))*)-----END \1-----/g;
const HEADERS = /^(?:[^\n:]+:[^\n]*\n)+\r?\n/;

/** The certificates of a chain in their order, without headers and text between them. */
function cleanChain(chain: string): string {
  const clean = [...chain.matchAll(BLOCK)].map(([, , lines = ""]) => {
    const base64 = Buffer.from(lines.replace(HEADERS, ""), "base64").toString("base64");
    return ["-----BEGIN CERTIFICATE-----", ...(base64.match(/.{1,64}/g) ?? []), "-----END CERTIFICATE-----", ""];
  });
  return clean.map((lines) => lines.join("\n")).join("");
}
