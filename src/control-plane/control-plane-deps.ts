import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ResolveHost } from "../host/resolve-host.ts";
import type { CallUpgrade } from "../host/upgrade-call.ts";
import type { CallWeb } from "../host/web-call.ts";
import type { TokenIssuer } from "./access/service-account-tokens.ts";
import type { RequestedSubject } from "./admission/certificates.ts";
import type { ApiEndpoint } from "./bootstrap.ts";
import type { ControllerOptions } from "./controller-options.ts";
import type { ReadCertificateRequest } from "./controllers/certificate-requests.ts";
import type { SigningOrder } from "./controllers/certificate-signer.ts";
import type { ObjectStore } from "./ports/object-store.ts";

/** Everything outside that the control plane is made of. */
export interface ControlPlaneDeps {
  store: ObjectStore;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  random: Randomness;
  tokens: TokenIssuer;
  certificates: ClusterAuthority;
  nodes: NodeAccess;
}

/** How nodes, and what runs on them, are called. */
interface NodeAccess {
  callWeb: CallWeb;
  callUpgrade: CallUpgrade;
  resolveHost: ResolveHost;
  /** Who the API server is to a node, in PEM: its client certificate. */
  identity: { readonly certificatePem: string; readonly keyPem: string };
}

/** Where chance comes from. */
export interface Randomness {
  /** 0…1, exclusive. */
  number(): number;
  uuid(): string;
}

/** The cluster's own certificate authority, as pods and certificate requests need it. */
export interface ClusterAuthority {
  readonly certificatePem: string;
  sign(order: SigningOrder): Promise<string>;
  readRequest: ReadCertificateRequest;
  /** How admission reads a request, which cannot wait: loaded when the first one comes. */
  loadSubjectReader(): Promise<(requestPem: string) => RequestedSubject>;
}

export interface ControlPlaneOptions extends ControllerOptions {
  /** `10.96.0.0/16`: where services get their addresses from. */
  serviceCidr: string;
  endpoint: ApiEndpoint;
  /** For `/version`. */
  version: string;
  localNode?: LocalNode | undefined;
}

/** A node of this machine that serves its API elsewhere than at the addresses that it tells: on loopback. */
export interface LocalNode {
  readonly name: string;
  readonly address: string;
}

/** One moment that others wait for. */
export interface Readiness {
  readonly isReached: boolean;
  readonly reached: Promise<void>;
  reach(): void;
}
