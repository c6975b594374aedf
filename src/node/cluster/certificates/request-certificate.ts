import { type ApiErrorReason, isApiError } from "../../../api/api-error.ts";
import type { CertificateSigningRequest } from "../../../api/gen/types.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../../api/kube-resource.ts";
import { childController, isAbort, sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { readCertificateRequest } from "../../../pki/certificate-request.ts";
import { readCertificate, splitCertificates } from "../../../pki/read-certificate.ts";
import { CertificateError } from "./certificate-error.ts";
import { MAX_CERTIFICATES } from "./pem-pair.ts";

export interface RequestDeps {
  readonly client: Pick<KubeClient, "create" | "get" | "list" | "watch">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A request for a certificate. A repeated request uses the same name, and so finds the request that is there. */
export interface NamedRequest {
  readonly name: string;
  readonly requestPem: string;
  readonly signerName: string;
  readonly usages: readonly string[];
}

type CertificateAnswer =
  | { readonly kind: "issued"; readonly certificatePem: string }
  | { readonly kind: "denied" | "failed"; readonly message: string }
  /** The request was deleted, by a person or by the control plane's cleaning up. */
  | { readonly kind: "gone" }
  | { readonly kind: "timed-out" };

const CALL_TIMEOUT_MS = 30 * SECOND;
const WATCH_SECONDS = 600;
const RETRY_MS = SECOND;
const MAX_RETRY_MS = 30 * SECOND;
/** The reasons with which the server refuses a request that it will not accept later either. */
const REFUSALS: readonly ApiErrorReason[] = [
  ...(["BadRequest", "Forbidden", "Invalid", "MethodNotAllowed", "NotFound", "Unauthorized"] as const),
];

/**
 * Creates the request, or finds it where it was created before, and waits at most `waitMs` for the answer
 * (client-go/util/certificate/csr). The wait goes on while the API server cannot be reached. Rejects with a
 * CertificateError `refused` or `incompatible`, and with the client's error when the request cannot be made.
 */
export async function requestCertificate(
  deps: RequestDeps,
  request: NamedRequest,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<CertificateAnswer> {
  const uid = await submit(deps, request, signal);
  const { controller, release } = childController(signal);
  let isTimedOut = false;
  const timer = deps.clock.setTimer(waitMs, () => {
    isTimedOut = true;
    controller.abort();
  });
  try {
    return await follow(deps, { name: request.name, uid }, controller.signal);
  } catch (error) {
    throwIfAborted(signal);
    if (isTimedOut) return { kind: "timed-out" };
    throw error;
  } finally {
    timer.cancel();
    release();
  }
}

/** Returns the UID of the request. A request with another UID under the same name is not ours. */
async function submit(
  { client, clock, log }: RequestDeps,
  request: NamedRequest,
  signal: AbortSignal,
): Promise<string> {
  const { name, requestPem, signerName, usages } = request;
  const object: CertificateSigningRequest = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: Buffer.from(requestPem).toString("base64"), signerName, usages: [...usages] },
  };
  const options = { signal, timeoutMs: CALL_TIMEOUT_MS };
  try {
    const created = await client.create(CERTIFICATE_SIGNING_REQUESTS, object, options);
    log.info("Certificate signing request created", { csr: name, signer: signerName });
    return created.metadata?.uid ?? "";
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw explain(error);
  }
  const found = await client.get(CERTIFICATE_SIGNING_REQUESTS, { namespace: "", name }, options);
  const problem = await findDifference(found, object, clock.now()).catch(messageOf);
  if (problem !== undefined) {
    throw new CertificateError("incompatible", `retrieved csr is not compatible: ${problem}`);
  }
  log.info("csr for this node already exists, reusing", { csr: name, signer: signerName });
  return found.metadata?.uid ?? "";
}

function explain(error: unknown): unknown {
  if (!isApiError(error) || !REFUSALS.includes(error.reason)) return error;
  const message = `cannot create certificate signing request: ${error.message}`;
  return new CertificateError("refused", message, { cause: error });
}

/**
 * Tells why the request that was found cannot stand for ours. This is rare, because the names hold a digest of the key.
 */
async function findDifference(
  found: CertificateSigningRequest,
  ours: CertificateSigningRequest,
  now: number,
): Promise<string | undefined> {
  if (found.spec.signerName !== ours.spec.signerName) return "csr signerNames differ";
  const [theirs, mine] = await Promise.all(
    [found, ours].map(async ({ spec }) => {
      const { commonName, organizations, publicKeyPem } = await readCertificateRequest(decode(spec.request));
      return { subject: JSON.stringify([commonName, organizations]), publicKeyPem };
    }),
  );
  if (theirs?.subject !== mine?.subject) return "csr subjects differ";
  if (theirs?.publicKeyPem !== mine?.publicKeyPem) return "csr is of another key";
  const issued = splitCertificates(decode(found.status?.certificate ?? ""));
  if (issued.length > MAX_CERTIFICATES) return "csr has too many certificates";
  const isExpired = issued.some((pem) => readCertificate(pem).notAfter <= now);
  return isExpired ? "one of the certificates for the CSR has expired" : undefined;
}

interface SubmittedRequest {
  readonly name: string;
  readonly uid: string;
}

async function follow(deps: RequestDeps, request: SubmittedRequest, signal: AbortSignal): Promise<CertificateAnswer> {
  const fieldSelector = `metadata.name=${request.name}`;
  for (let delayMs = RETRY_MS; ; ) {
    try {
      const options = { fieldSelector, signal, timeoutMs: CALL_TIMEOUT_MS };
      const list = await deps.client.list(CERTIFICATE_SIGNING_REQUESTS, options);
      const found = list.items.find(({ metadata }) => metadata?.name === request.name);
      if (found === undefined) return { kind: "gone" };
      const answer = readAnswer(found, request) ?? (await watch(deps, request, { ...list, fieldSelector, signal }));
      if (answer !== undefined) return answer;
      delayMs = RETRY_MS;
    } catch (error) {
      throwIfAborted(signal);
      if (isAbort(error)) throw error;
      deps.log.warn("Cannot follow the certificate signing request", { csr: request.name, error: messageOf(error) });
      delayMs = Math.min(2 * delayMs, MAX_RETRY_MS);
    }
    await sleep(deps.clock, delayMs, signal);
  }
}

/** The result is undefined when the server ended the watch before there was an answer. */
async function watch(
  { client }: RequestDeps,
  request: SubmittedRequest,
  { resourceVersion, fieldSelector, signal }: { resourceVersion: string; fieldSelector: string; signal: AbortSignal },
): Promise<CertificateAnswer | undefined> {
  const { controller, release } = childController(signal);
  let answer: CertificateAnswer | undefined;
  const options = { fieldSelector, resourceVersion, timeoutSeconds: WATCH_SECONDS, signal: controller.signal };
  try {
    await client.watch(CERTIFICATE_SIGNING_REQUESTS, options, (event) => {
      if (answer !== undefined || event.type === "BOOKMARK" || event.object.metadata?.name !== request.name) return;
      answer = event.type === "DELETED" ? { kind: "gone" } : readAnswer(event.object, request);
      if (answer !== undefined) controller.abort();
    });
  } catch (error) {
    if (answer === undefined) throw error;
  } finally {
    release();
  }
  return answer;
}

function readAnswer(
  { metadata, status }: CertificateSigningRequest,
  request: SubmittedRequest,
): CertificateAnswer | undefined {
  if (metadata?.uid !== request.uid) return { kind: "gone" };
  const conditions = status?.conditions ?? [];
  const find = (type: string) => conditions.find((condition) => condition.type === type);
  const denied = find("Denied");
  if (denied !== undefined) return { kind: "denied", message: `certificate signing request is denied, ${say(denied)}` };
  const failed = find("Failed");
  if (failed !== undefined) return { kind: "failed", message: `certificate signing request failed, ${say(failed)}` };
  const certificate = status?.certificate ?? "";
  if (find("Approved") === undefined || certificate === "") return undefined;
  return { kind: "issued", certificatePem: decode(certificate) };
}

function say({ reason = "", message = "" }: { reason?: string; message?: string }): string {
  return `reason: ${reason}, message: ${message}`;
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
