import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { HistoryOptions } from "../../history/pod-history.ts";
import type { ServedRequest } from "../../host/http-server.ts";
import type { Files } from "../../host/port.ts";
import type { PostCall } from "../../host/post-call.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb } from "../../host/web-call.ts";
import type { AcceptWebSocket } from "../../host/web-socket.ts";
import type { TokenIssuer } from "../access/service-account-tokens.ts";
import type { LoadSubjectReader } from "../admission/certificate-subjects.ts";
import type { AuditTrail } from "../audit/request-audit.ts";
import type { ClusterDnsAddresses } from "../bootstrap/cluster-dns-objects.ts";
import type { ApiEndpoint } from "../bootstrap/first-objects.ts";
import type { ReadCertificateRequest } from "../controllers/certificate-requests.ts";
import type { SigningOrder } from "../controllers/certificate-signer.ts";
import type { ManifestFiles, ManifestsOptions } from "../manifests/manifests.ts";
import type { NodeMonitorSettings } from "../node-lifecycle/monitor-settings.ts";
import type { LocalDirectories } from "../ports/local-directories.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { AutoscalerSettings } from "../workloads/autoscaler/autoscaler-settings.ts";

/** The parts outside of the control plane that it is built on. */
export interface ControlPlaneDeps {
  store: ObjectStore;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  random: Randomness;
  tokens: TokenIssuer;
  certificates: ClusterAuthority;
  nodes: NodeAccess;
  webhooks: WebhookAccess;
  /**
   * By what the API servers of others know this one, in PEM. Default: it stands alone, registers nothing and passes no
   * requests on.
   */
  frontProxy?: { readonly certificatePem: string; readonly keyPem: string; readonly authorityPem: string };
  /** A node's directories for volumes of the default storage class. Default: the cluster has no such class. */
  localDirectories?: LocalDirectories | undefined;
  /** A directory of manifests that are applied. Default: none. */
  manifests?: (ManifestsOptions & { readonly files: ManifestFiles }) | undefined;
  /** Where the decisions about pods are kept. Default: they go with the process. */
  history?: PodHistoryPlace | undefined;
  /** Records requests. Default: nobody asks for a record. */
  audit?: AuditTrail | undefined;
  /** Called when work on a request begins, and again when its body is there. Default: nobody wants to know. */
  noteRequest?: ((request: Pick<ServedRequest, "method" | "path">) => void) | undefined;
}

/** The files of the decisions about pods, and their bounds. */
export interface PodHistoryPlace extends HistoryOptions {
  readonly files: Files;
}

/** The ways to call nodes and the programs that run on them. */
interface NodeAccess {
  callWeb: CallWeb;
  callUpgrade: CallUpgrade;
  acceptWebSocket: AcceptWebSocket;
  resolveHost: ResolveHost;
  /** The API server's client certificate for nodes, in PEM. */
  identity: { readonly certificatePem: string; readonly keyPem: string };
}

/** The way to webhooks. */
interface WebhookAccess {
  post: PostCall;
  /** Fires when the control plane stops: no webhook is waited for then. */
  signal: AbortSignal;
}

/** The sources of randomness. */
interface Randomness {
  /** At least 0, less than 1. */
  number(): number;
  uuid(): string;
}

/** The cluster's own certificate authority, as pods and certificate requests need it. */
interface ClusterAuthority {
  /** The certificates of all authorities that are believed, several while one takes the place of another. */
  readonly certificatePem: string;
  sign(order: SigningOrder): Promise<string>;
  readRequest: ReadCertificateRequest;
  /**
   * Loads the code by which admission reads requests. Admission cannot wait, so this is called when the first request
   * comes.
   */
  loadSubjectReader: LoadSubjectReader;
}

export interface ControlPlaneConfig extends ControllerOptions {
  /**
   * The range of the services' addresses, `10.96.0.0/16`. Two of different families, with a comma, make services of both;
   * the first is of the default family.
   */
  serviceCidr: string;
  endpoint: ApiEndpoint;
  /** The addresses of a DNS server of ours for the cluster's names. Default: there is none. */
  clusterDns?: ClusterDnsAddresses | undefined;
  /** True: the node's proxy keeps to network policies. Default false: their authors are told that nobody does. */
  networkPolicies?: boolean | undefined;
  /** For `/version`. */
  version: string;
  localNode?: LocalNode | undefined;
}

/** A node of this machine that serves its API on loopback, and not at the addresses in its status. */
export interface LocalNode {
  readonly name: string;
  readonly address: string;
}

/** Which of the programs that accompany an API server run within it. */
export interface ControllerOptions {
  /** Runs the scheduler. Default true; false leaves the work to a kube-scheduler. */
  scheduler?: boolean | undefined;
  /**
   * Runs the controllers of a kube-controller-manager. Default true; false leaves all of that work to such a program.
   */
  controllers?: boolean | undefined;
  /**
   * The range of pod addresses, `10.64.0.0/16`, of which each node gets a part (`spec.podCIDR`); two of different families
   * with a comma. Default: nodes get none.
   */
  clusterCidr?: string | undefined;
  /** The prefix length of each node's part of IPv4. Default 24. */
  nodeMaskSize?: number | undefined;
  /** The same of IPv6. Default 64. */
  nodeMaskSizeIpv6?: number | undefined;
  /** How nodes are watched over. Default: as by kube-controller-manager's own defaults. */
  nodeMonitor?: Partial<NodeMonitorSettings> | undefined;
  /** How autoscalers are looked after. Default: as by kube-controller-manager's own defaults. */
  autoscaler?: Partial<AutoscalerSettings> | undefined;
}
