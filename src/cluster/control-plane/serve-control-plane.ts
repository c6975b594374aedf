import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { splitServiceRanges } from "../../api/service-addresses.ts";
import { addressAt } from "../../api/validation/ip-address.ts";
import { isAbort } from "../../base/abort.ts";
import { CodedError, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics, type Metrics } from "../../base/metrics.ts";
import { startStallMeter } from "../../base/stall-meter.ts";
import { createTokenIssuer } from "../../control-plane/access/service-account-tokens.ts";
import { type AuditSink, createAuditLog } from "../../control-plane/audit/audit-log.ts";
import { createAuditTrail } from "../../control-plane/audit/request-audit.ts";
import type { ClusterDnsAddresses } from "../../control-plane/bootstrap/cluster-dns-objects.ts";
import { type ControlPlane, createControlPlane } from "../../control-plane/compose/control-plane.ts";
import type {
  ControllerOptions,
  ControlPlaneDeps,
  LocalNode,
} from "../../control-plane/compose/control-plane-ports.ts";
import type { ManifestsOptions } from "../../control-plane/manifests/manifests.ts";
import type { LocalDirectories } from "../../control-plane/ports/local-directories.ts";
import type { ObjectStore } from "../../control-plane/ports/object-store.ts";
import { createObjectStore } from "../../control-plane/store/create-object-store.ts";
import { tellSlowDisk } from "../../control-plane/store/tell-slow-disk.ts";
import type { HistoryOptions } from "../../history/pod-history.ts";
import type { HttpServer, ServedRequest, ServingIdentity } from "../../host/http-server.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { acceptWebSocket } from "../../host/linux/network/accept-web-socket.ts";
import { callUpgrade } from "../../host/linux/network/call-upgrade.ts";
import { callWeb } from "../../host/linux/network/call-web.ts";
import { listenHttp } from "../../host/linux/network/listen-http.ts";
import { createPostCall } from "../../host/linux/network/post-kept.ts";
import { resolveHost } from "../../host/linux/network/resolve-host.ts";
import { systemEventLoop } from "../../host/linux/system/event-loop.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import type { Journal } from "../../journal/port.ts";
import type { CertificateRenewals } from "../../pki/certificate-renewals.ts";
import { loadSubjectReader, readCertificateRequest } from "../../pki/certificate-request.ts";
import type { ClusterCertificates } from "../../pki/cluster-certificates.ts";
import { signCertificateRequest } from "../../pki/issue-certificate.ts";
import { formatKubeconfig } from "../../pki/kubeconfig.ts";
import type { OpenedAudit } from "./open-audit.ts";
import { createPodDoor } from "./pod-door.ts";

export interface ServedControlPlaneOptions extends ControllerOptions {
  /** The address on which the API server listens. No other part of the control plane listens. */
  readonly address: string;
  /** The port 0 means any free one. */
  readonly port: number;
  /**
   * Another address of this machine, at which pods reach the API server. It is listened on as well from when the machine
   * has it on, unless `address` is all addresses. Default: pods are sent to `address`.
   */
  readonly podAddress?: string | undefined;
  /** The range of the services' addresses, such as `10.96.0.0/16`. */
  readonly serviceCidr: string;
  /** The addresses of a DNS server of ours for the cluster's names. Default: there is none. */
  readonly clusterDns?: ClusterDnsAddresses | undefined;
  /** True: the node's proxy keeps to network policies. Default false: their authors are told that nobody does. */
  readonly networkPolicies?: boolean | undefined;
  /** nodelet's own version, for `/version`. */
  readonly version: string;
  /** A node that serves its API for this API server alone, and the node's address. */
  readonly localNode?: LocalNode | undefined;
}

interface ControlPlaneParts {
  /** The journal is already open. It is closed with the control plane. */
  readonly journal: Journal;
  readonly certificates: ClusterCertificates;
  /** Renews those certificates. Default: they stay as they are. */
  readonly renewals?: CertificateRenewals;
  /** Where volumes of the default storage class lie. Default: there is no such class. */
  readonly localDirectories?: LocalDirectories | undefined;
  /** Applies the manifests of a directory of this machine. Default: none. */
  readonly manifests?: ManifestsOptions | undefined;
  /** Where the decisions about pods are kept. Default: they go with the process. */
  readonly history?: HistoryOptions | undefined;
  /** By what policy requests are recorded, and where. Default: none is. */
  readonly audit?: OpenedAudit | undefined;
  readonly log: Log;
}

export interface RunningControlPlane {
  /** The URL of the API, such as `https://127.0.0.1:6443`. */
  readonly url: string;
  /** The text of an administrator's kubeconfig, with embedded credentials, as they are at present. */
  readonly kubeconfig: string;
  /** Rejects when a part of the control plane ends by a bug; resolves after `close`. */
  readonly ended: Promise<void>;
  /** Resolves when the API answers and the cluster's first objects are there. */
  readonly ready: Promise<void>;
  /** Stops listening, waits until everything is written, and releases the disk. Idempotent. */
  close(): Promise<void>;
}

/** The token issuer of every cluster that kubeadm makes, and of ours. */
const ISSUER = "https://kubernetes.default.svc.cluster.local";
/** The certificates begin this much in the past, so that they are valid for a clock that is a little behind ours. */
const BACKDATE_MS = 300_000;

/**
 * Runs a control plane in this process. Rejects with the cause when the port or the store prevents it, and leaves
 * nothing behind then.
 */
export async function serveControlPlane(
  options: ServedControlPlaneOptions,
  parts: ControlPlaneParts,
): Promise<RunningControlPlane> {
  const { journal, certificates, log } = parts;
  const stop = new AbortController();
  // One signal stops everything. The limit is set for this signal only, because this process may be a user's test, to
  // which the default belongs.
  setMaxListeners(0, stop.signal);
  let store: ObjectStore | undefined;
  let server: HttpServer | undefined;
  try {
    const told = tellSlowDisk(journal, { clock: systemClock, log });
    store = await createObjectStore({ journal: told, clock: systemClock, log });
    const serving: { handle: ReturnType<typeof createControlPlane>["handle"] | undefined } = { handle: undefined };
    const listen = async (at: { address: string; port: number }) => {
      const identity = servingIdentity(parts.renewals?.current() ?? certificates);
      return await listenHttp({ at, http2: true, tls: { identity, asksForCertificate: true } }, async (request) => {
        if (serving.handle === undefined) return { status: 503, headers: { "retry-after": "1" }, body: "starting\n" };
        return await serving.handle(request);
      });
    };
    server = await listen(options);
    const { use, port } = server;
    const podDoor = planPodDoor(options, { listen: async (address) => await listen({ address, port }), log });
    parts.renewals?.subscribe((renewed) => {
      use(servingIdentity(renewed));
      podDoor?.server?.use(servingIdentity(renewed));
    });
    const metrics = createMetrics();
    const { noteRequest, ...meter } = measureStalls(metrics, log);
    stop.signal.addEventListener("abort", meter.stop);
    const sink = parts.audit && createAuditLog({ ...parts.audit, clock: systemClock, log, metrics });
    const audit = parts.audit && sink && createAuditTrail({ sink, clock: systemClock }, parts.audit.policy);
    const world = { store, metrics, noteRequest, audit, stop: stop.signal };
    const controlPlane = compose(world, server.port, options, parts);
    serving.handle = controlPlane.handle;
    return describe({ controlPlane, server, store, stop, podDoor, sink }, options, parts);
  } catch (error) {
    const failed = () => {
      throw error;
    };
    const closeDisk = async () => await (store ?? journal).close();
    stop.abort();
    await runAll([failed, async () => await server?.close(), closeDisk], "starting the control plane");
    throw error;
  }
}

/** Plans the door for pods; none where they reach the server anyway. */
function planPodDoor(
  { address, podAddress }: ServedControlPlaneOptions,
  { listen, log }: { listen: (address: string) => Promise<HttpServer>; log: Log },
) {
  if (podAddress === undefined || address === "0.0.0.0" || address === "::") return undefined;
  return createPodDoor({ listen: async () => await listen(podAddress), clock: systemClock, log });
}

function servingIdentity({ serving, trustedPem }: ClusterCertificates): ServingIdentity {
  return { pair: serving, clientAuthorityPem: trustedPem };
}

/** Measures how long single requests keep all others waiting, and tells which one it was. */
function measureStalls(metrics: Metrics, log: Log) {
  let last: Pick<ServedRequest, "method" | "path"> | undefined;
  const meter = startStallMeter({
    loop: systemEventLoop,
    metrics,
    log,
    monotonic: systemClock.monotonic,
    lastWork: () => last && `${last.method} ${last.path}`,
  });
  return {
    noteRequest(request: Pick<ServedRequest, "method" | "path">) {
      last = request;
      meter.expectWork();
    },
    stop: () => meter.stop(),
  };
}

function compose(
  {
    store,
    metrics,
    noteRequest,
    audit,
    stop,
  }: Pick<ControlPlaneDeps, "store" | "metrics" | "noteRequest" | "audit"> & {
    stop: AbortSignal;
  },
  port: number,
  { address: listened, podAddress: address = listened, port: _, ...options }: ServedControlPlaneOptions,
  { certificates, renewals, localDirectories, manifests, history, log }: ControlPlaneParts,
): ControlPlane {
  const { authority, trustedPem, tokenKey } = certificates;
  const current = () => renewals?.current() ?? certificates;
  const now = () => systemClock.now();
  if (renewals !== undefined) declareExpirations(metrics, { renewals, now });
  return createControlPlane(
    {
      store,
      clock: systemClock,
      log,
      metrics,
      noteRequest,
      audit,
      localDirectories,
      history: history && { ...history, files: linuxFiles },
      manifests: manifests && { ...manifests, files: linuxFiles },
      random: { number: Math.random, uuid: randomUUID },
      tokens: createTokenIssuer({ ...tokenKey, issuer: ISSUER, audiences: [ISSUER], now, randomId: randomUUID }),
      webhooks: { post: createPostCall(stop), signal: stop },
      nodes: { callWeb, callUpgrade, acceptWebSocket, resolveHost, identity: nodeIdentity(current) },
      frontProxy: frontProxyIdentity(current),
      certificates: {
        certificatePem: trustedPem,
        readRequest: readCertificateRequest,
        loadSubjectReader,
        async sign({ requestPem, usages, lifetimeMs }) {
          const period = { notBefore: now() - BACKDATE_MS, notAfter: now() + lifetimeMs };
          return signCertificateRequest({ authority, requestPem, usages, ...period });
        },
      },
    },
    {
      ...options,
      endpoint: { address, listenAddress: listened, port, serviceAddress: firstAddressOf(options.serviceCidr) },
    },
  );
}

/** The API server's certificate for the API servers of others, which is read at each call, too. */
function frontProxyIdentity(current: () => ClusterCertificates) {
  return {
    get certificatePem() {
      return current().frontProxy.certificatePem;
    },
    get keyPem() {
      return current().frontProxy.keyPem;
    },
    get authorityPem() {
      return current().frontAuthority.certificatePem;
    },
  };
}

/** The API server's certificate for nodes, which is read at each call, because it is renewed. */
function nodeIdentity(current: () => ClusterCertificates) {
  return {
    get certificatePem() {
      return current().nodeClient.certificatePem;
    },
    get keyPem() {
      return current().nodeClient.keyPem;
    },
  };
}

function declareExpirations(
  metrics: Metrics,
  { renewals, now }: { renewals: CertificateRenewals; now: () => number },
): void {
  const left = metrics.gauge(
    "nodelet_certificate_expiration_seconds",
    "Seconds until the control plane's own certificates end, by their files (negative if one has ended).",
    ["certificate"],
  );
  metrics.beforeRender(() => {
    for (const [certificate, notAfter] of renewals.expirations()) left.set((notAfter - now()) / 1000, { certificate });
  });
}

/** Computes the address of the `kubernetes` service: `10.96.0.0/16` gives `10.96.0.1`. Throws for a range without one. */
export function firstAddressOf(serviceCidr: string): string {
  const [first = ""] = splitServiceRanges(serviceCidr);
  const address = addressAt(first, 1n);
  if (address === undefined) throw new CodedError("range-too-small", `${first} has no address for services`);
  return address;
}

interface Running {
  controlPlane: ControlPlane;
  server: HttpServer;
  store: ObjectStore;
  stop: AbortController;
  podDoor: ReturnType<typeof planPodDoor>;
  sink: AuditSink | undefined;
}

function describe(
  { controlPlane, server, store, stop, podDoor, sink }: Running,
  options: ServedControlPlaneOptions,
  { certificates, renewals }: ControlPlaneParts,
): RunningControlPlane {
  const url = `https://${options.address.includes(":") ? `[${options.address}]` : options.address}:${server.port}`;
  const run = runUntilStopped(stop, [
    () => controlPlane.run(stop),
    async () => await renewals?.run(stop.signal),
    async () => await podDoor?.run(stop.signal),
  ]);
  // A caller of `ended` gets this rejection. Until then it must not end the process by itself.
  run.catch(() => undefined);
  let closed: Promise<void> | undefined;
  const close = async () => {
    stop.abort();
    const closeAudit = async () => await sink?.close();
    await runAll([() => server.close(), () => run, closeAudit, () => store.close()], "closing the control plane");
  };
  return {
    url,
    get kubeconfig() {
      const { trustedPem: caPem, admin } = renewals?.current() ?? certificates;
      const names = { user: "kubernetes-admin", cluster: "nodelet", context: "nodelet" };
      return formatKubeconfig({ server: url, caPem, ...admin, ...names });
    },
    ended: run,
    ready: controlPlane.ready,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Ends when all parts have ended. A bug in one stops the others, and is the result. */
async function runUntilStopped(stop: AbortController, parts: ReadonlyArray<() => Promise<void>>): Promise<void> {
  const outcomes = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part();
      } catch (error) {
        stop.abort();
        throw error;
      }
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !isAbort(outcome.reason)) throw outcome.reason;
  }
}
