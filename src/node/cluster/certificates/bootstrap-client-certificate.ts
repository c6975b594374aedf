import { isApiError } from "../../../api/api-error.ts";
import { isAbort, sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import type { Files } from "../../../host/port.ts";
import { type KubeClient, KubeUnreachableError } from "../../../kube/port.ts";
import { type KeyedCertificate, readCertificate } from "../../../pki/read-certificate.ts";
import { CertificateError } from "./certificate-error.ts";
import { type CertificateStore, createCertificateStore } from "./certificate-store.ts";
import { type BootstrapConnection, isClientKubeconfigValid, writeClientKubeconfig } from "./client-kubeconfig.ts";
import { takeIssuedPair } from "./issued-pair.ts";
import { ensurePendingRequest, type PendingRequest, removePendingRequest } from "./pending-request.ts";
import { requestCertificate } from "./request-certificate.ts";

interface BootstrapDeps {
  /**
   * Reads the bootstrap kubeconfig. Called only where it is needed, because kubeadm deletes that file once the node has
   * joined, and does not write it for nodes of the control plane.
   */
  readBootstrap(): Promise<Bootstrap>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files;
}

/** What the bootstrap kubeconfig says. */
interface Bootstrap {
  readonly connection: BootstrapConnection;
  /** This client authenticates with its credentials. */
  readonly client: Pick<KubeClient, "create" | "get" | "list" | "watch">;
}

interface BootstrapOptions {
  readonly nodeName: string;
  readonly certDirectory: string;
  /** The path is absolute. */
  readonly kubeconfigPath: string;
}

/** `kept`: the kubeconfig is valid as it is; `issued`: it was written, and points to a new certificate. */
export type BootstrapOutcome = "kept" | "issued";

/** After this time the request is looked up again, and made again where it is gone. */
const WAIT_MS = 15 * MINUTE;
const RETRY_MS = SECOND;
const MAX_RETRY_MS = 30 * SECOND;
/** The bound of the delay before a new request; each new request leaves the one before it in the cluster. */
const MAX_ANEW_MS = 5 * MINUTE;

/**
 * TLS bootstrap (pkg/kubelet/certificate/bootstrap): gets the node's first client certificate with the credentials of
 * the bootstrap kubeconfig, waits for as long as its approval takes, and writes the kubeconfig that uses it. When a run
 * dies at any point, the next run continues its work: the key and its request are on disk before the request is made,
 * and stay there until the kubeconfig is written.
 *
 * This function goes on for as long as the API server cannot be reached. It rejects with a CertificateError `denied`,
 * `failed` or `refused`, on which an operator must act; the next run finds the same request. An error of
 * `readBootstrap` is passed on.
 */
export async function bootstrapClientCertificate(
  deps: BootstrapDeps,
  options: BootstrapOptions,
  signal: AbortSignal,
): Promise<BootstrapOutcome> {
  const { clock, log, files } = deps;
  const { certDirectory, kubeconfigPath: path } = options;
  if (await isClientKubeconfigValid(deps, { path, now: clock.now() })) {
    log.info("Kubeconfig exists and is valid, skipping bootstrap", { path });
    // An earlier run may have died before it did this.
    await removePendingRequest(deps, options);
    return "kept";
  }
  log.info("Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file");
  const { client, connection } = await deps.readBootstrap();
  const store = createCertificateStore({ files, clock }, { directory: certDirectory, pairName: "kubelet-client" });
  await obtain(deps, { options, client, store, signal });
  await writeClientKubeconfig(deps, { path, pairPath: store.currentPath, connection });
  // This step is the last: the bootstrap is not over for as long as the pending request is there.
  await removePendingRequest(deps, options);
  log.info("The node has its client certificate", { path });
  return "issued";
}

interface Attempt {
  readonly options: BootstrapOptions;
  readonly client: Bootstrap["client"];
  readonly store: CertificateStore;
  readonly signal: AbortSignal;
}

/** Returns when the store has the certificate of the pending request. */
async function obtain(deps: BootstrapDeps, { options, client, store, signal }: Attempt): Promise<void> {
  for (let delayMs = RETRY_MS; ; ) {
    const pending = await ensurePendingRequest(deps, options);
    if (await isStored(store, pending, deps.clock.now())) return;
    try {
      const pair = await ask({ ...deps, client }, pending, signal);
      if (pair !== undefined) {
        await store.write(pair);
        return;
      }
      delayMs = RETRY_MS;
    } catch (error) {
      throwIfAborted(signal);
      const step = classify(error);
      if (step === "give-up") throw error;
      deps.log.warn("The client certificate could not be requested, will be tried again", { error: messageOf(error) });
      if (step === "begin-anew") await removePendingRequest(deps, options);
      delayMs = Math.min(2 * delayMs, step === "begin-anew" ? MAX_ANEW_MS : MAX_RETRY_MS);
    }
    await sleep(deps.clock, jitter(deps.random, delayMs, 0.2), signal);
  }
}

/**
 * True when an earlier run stored the certificate and died. The server then need not be asked again, by a token that
 * may have expired since.
 */
async function isStored(store: CertificateStore, { keyPem }: PendingRequest, now: number): Promise<boolean> {
  const pair = await store.read();
  return pair !== undefined && pair.keyPem === keyPem && readCertificate(pair.certificatePem).notAfter > now;
}

/** The result is undefined when there is no answer yet. */
async function ask(
  deps: BootstrapDeps & Pick<Bootstrap, "client">,
  pending: PendingRequest,
  signal: AbortSignal,
): Promise<KeyedCertificate | undefined> {
  const { name: csr } = pending;
  const answer = await requestCertificate(deps, pending, { waitMs: WAIT_MS, signal });
  switch (answer.kind) {
    case "issued": {
      const { certificatePem } = answer;
      const { keyPem, subject } = pending;
      return takeIssuedPair({ csr, certificatePem, keyPem, subject, now: deps.clock.now() });
    }
    case "denied":
    case "failed": {
      const advice = `delete csr "${csr}" to have it requested anew`;
      throw new CertificateError(answer.kind, `${answer.message}; ${advice}`);
    }
    case "gone":
      deps.log.info("The certificate signing request was deleted, it is made again", { csr });
      return undefined;
    case "timed-out":
      deps.log.warn("The certificate signing request is neither approved nor denied yet", { csr });
      return undefined;
  }
}

function classify(error: unknown): "give-up" | "begin-anew" | "try-again" {
  if (isAbort(error)) return "give-up";
  if (error instanceof CertificateError) return error.code === "incompatible" ? "begin-anew" : "give-up";
  // Waiting mends neither an error of files nor an error of our own.
  return error instanceof KubeUnreachableError || isApiError(error) ? "try-again" : "give-up";
}
