import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { isAbort } from "../../base/abort.ts";
import { runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createTokenIssuer } from "../../control-plane/access/service-account-tokens.ts";
import { type ControlPlane, createControlPlane } from "../../control-plane/compose/control-plane.ts";
import type { ControllerOptions, LocalNode } from "../../control-plane/compose/control-plane-ports.ts";
import type { ObjectStore } from "../../control-plane/ports/object-store.ts";
import { createObjectStore } from "../../control-plane/store/create-object-store.ts";
import type { HttpServer } from "../../host/http-server.ts";
import { acceptWebSocket } from "../../host/linux/network/accept-web-socket.ts";
import { callUpgrade } from "../../host/linux/network/call-upgrade.ts";
import { callWeb } from "../../host/linux/network/call-web.ts";
import { listenHttp } from "../../host/linux/network/listen-http.ts";
import { resolveHost } from "../../host/linux/network/resolve-host.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import type { Journal } from "../../journal/port.ts";
import { loadSubjectReader, readCertificateRequest } from "../../pki/certificate-request.ts";
import type { ClusterCertificates } from "../../pki/cluster-certificates.ts";
import { signCertificateRequest } from "../../pki/issue-certificate.ts";
import { formatKubeconfig } from "../../pki/kubeconfig.ts";

export interface ServedControlPlaneOptions extends ControllerOptions {
  /** The address on which the API server listens. No other part of the control plane listens. */
  readonly address: string;
  /** The port 0 means any free one. */
  readonly port: number;
  /** The range of the services' addresses, such as `10.96.0.0/16`. */
  readonly serviceCidr: string;
  /** nodelet's own version, for `/version`. */
  readonly version: string;
  /** A node that serves its API for this API server alone, and the node's address. */
  readonly localNode?: LocalNode | undefined;
}

interface ControlPlaneParts {
  /** The journal is already open. It is closed with the control plane. */
  readonly journal: Journal;
  readonly certificates: ClusterCertificates;
  readonly log: Log;
}

export interface RunningControlPlane {
  /** The URL of the API, such as `https://127.0.0.1:6443`. */
  readonly url: string;
  /** The text of an administrator's kubeconfig, with embedded credentials. */
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
    store = await createObjectStore({ journal, clock: systemClock, log });
    const serving: { handle: ReturnType<typeof createControlPlane>["handle"] | undefined } = { handle: undefined };
    server = await listenHttp(
      {
        at: options,
        http2: true,
        tls: {
          identity: { pair: certificates.serving, clientAuthorityPem: certificates.trustedPem },
          asksForCertificate: true,
        },
      },
      async (request) => {
        if (serving.handle === undefined) return { status: 503, headers: { "retry-after": "1" }, body: "starting\n" };
        return await serving.handle(request);
      },
    );
    const controlPlane = compose(store, server.port, options, parts);
    serving.handle = controlPlane.handle;
    return describe({ controlPlane, server, store, stop }, options, parts);
  } catch (error) {
    const failed = () => {
      throw error;
    };
    const closeDisk = async () => await (store ?? journal).close();
    await runAll([failed, async () => await server?.close(), closeDisk], "starting the control plane");
    throw error;
  }
}

function compose(
  store: ObjectStore,
  port: number,
  { address, port: _, ...options }: ServedControlPlaneOptions,
  { certificates, log }: ControlPlaneParts,
): ControlPlane {
  const { authority, trustedPem, nodeClient, tokenKey } = certificates;
  const now = () => systemClock.now();
  return createControlPlane(
    {
      store,
      clock: systemClock,
      log,
      metrics: createMetrics(),
      random: { number: Math.random, uuid: randomUUID },
      tokens: createTokenIssuer({ ...tokenKey, issuer: ISSUER, audiences: [ISSUER], now, randomId: randomUUID }),
      nodes: { callWeb, callUpgrade, acceptWebSocket, resolveHost, identity: nodeClient },
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
    { ...options, endpoint: { address, port, serviceAddress: firstAddressOf(options.serviceCidr) } },
  );
}

/** Computes the address of the `kubernetes` service: `10.96.0.0/16` gives `10.96.0.1`. */
export function firstAddressOf(cidr: string): string {
  const [network = ""] = cidr.split("/");
  const parts = network.split(".").map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) + 1].join(".");
}

interface Running {
  controlPlane: ControlPlane;
  server: HttpServer;
  store: ObjectStore;
  stop: AbortController;
}

function describe(
  { controlPlane, server, store, stop }: Running,
  options: ServedControlPlaneOptions,
  { certificates }: ControlPlaneParts,
): RunningControlPlane {
  const url = `https://${options.address.includes(":") ? `[${options.address}]` : options.address}:${server.port}`;
  const run = controlPlane.run(stop).catch((error: unknown) => {
    if (!isAbort(error)) throw error;
  });
  // A caller of `ended` gets this rejection. Until then it must not end the process by itself.
  run.catch(() => undefined);
  let closed: Promise<void> | undefined;
  const close = async () => {
    stop.abort();
    await runAll([() => server.close(), () => run, () => store.close()], "closing the control plane");
  };
  return {
    url,
    kubeconfig: formatKubeconfig({
      server: url,
      caPem: certificates.trustedPem,
      ...certificates.admin,
      user: "kubernetes-admin",
      cluster: "nodelet",
      context: "nodelet",
    }),
    ended: run,
    ready: controlPlane.ready,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
