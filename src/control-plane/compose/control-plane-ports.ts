import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb } from "../../host/web-call.ts";
import type { TokenIssuer } from "../access/service-account-tokens.ts";
import type { LoadSubjectReader } from "../admission/certificate-subjects.ts";
import type { ApiEndpoint } from "../bootstrap/first-objects.ts";
import type { ReadCertificateRequest } from "../controllers/certificate-requests.ts";
import type { SigningOrder } from "../controllers/certificate-signer.ts";
import type { ObjectStore } from "../ports/object-store.ts";

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
interface Randomness {
  /** 0…1, exclusive. */
  number(): number;
  uuid(): string;
}

/** The cluster's own certificate authority, as pods and certificate requests need it. */
interface ClusterAuthority {
  readonly certificatePem: string;
  sign(order: SigningOrder): Promise<string>;
  readRequest: ReadCertificateRequest;
  /** How admission reads a request, which cannot wait: loaded when the first one comes. */
  loadSubjectReader: LoadSubjectReader;
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

/** Which of the programs beside the API server are within it. */
export interface ControllerOptions {
  /** Places pods. Default true; false leaves that to a kube-scheduler. */
  scheduler?: boolean | undefined;
  /** Does what is a kube-controller-manager's work elsewhere. Default true; false leaves all of it to that program. */
  controllers?: boolean | undefined;
  /** `10.64.0.0/16`: nodes get their pods' addresses of it (`spec.podCIDR`). Default: none are given. */
  clusterCidr?: string | undefined;
  /** How large each node's part is. Default 24 bits. */
  nodeMaskSize?: number | undefined;
}
