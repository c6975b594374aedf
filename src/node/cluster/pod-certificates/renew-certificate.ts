import type { Pod, PodCertificateRequest } from "../../../api/gen/types.ts";
import { isTerminalPhase, podReference } from "../../../api/pods.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Random } from "../../../base/random.ts";
import type { Decision } from "../../../base/timeline.ts";
import { type CreateRequestDeps, createPodRequest } from "./create-pod-request.ts";
import { type Credential, healthOf, type IssuedBundle, readAnswer } from "./credential.ts";
import type { HeldCertificate } from "./held-certificate.ts";

/** What the steps of all sources work with. */
export interface CertificateStepDeps extends CreateRequestDeps {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  record(pod: Pod, decision: Decision): void;
  /** Returns a request of this node as the API shows it; undefined for one that is not seen. */
  find(namespace: string, name: string): PodCertificateRequest | undefined;
  /** Called when the source has something new to show, or never will have. */
  onAnswered(podUid: string): void;
}

/** After so long, with jitter, a request that is not seen was deleted (upstream: assumeDeletedThreshold). */
const LOST_MS = 10 * MINUTE;
const MAX_JITTER_MS = 5 * MINUTE;
/** Keys that are made at once: an RSA key takes seconds of one of the few threads that also read files. */
const MAX_KEYS_AT_ONCE = 1;

/**
 * Makes the next step of a source: it asks its signer, takes the answer over, and asks anew when it is time. Sets `again`
 * where another step is due at once. Rejects as `createPodRequest` does. One step of a source runs at a time.
 */
export function createCertificateStep(
  deps: CertificateStepDeps,
): (one: HeldCertificate, signal: AbortSignal) => Promise<void> {
  const { clock, random } = deps;
  const limiter = createLimiter(MAX_KEYS_AT_ONCE);
  const createKey: CreateRequestDeps["createKey"] = async (type) => await limiter.run(async () => deps.createKey(type));

  const jitterMs = () => random.next() * MAX_JITTER_MS;

  const settle = (one: HeldCertificate, credential: Credential) => {
    if (credential.state === "fresh") one.complaints = new Set();
    one.credential = credential;
    one.failures = 0;
    one.failure = undefined;
    deps.onAnswered(one.podUid);
  };

  const request = async (one: HeldCertificate, bundle: IssuedBundle | undefined, signal: AbortSignal) => {
    const created = await createPodRequest({ ...deps, createKey }, one, signal);
    one.failures = 0;
    one.failure = undefined;
    const pending = { ...created, lostAt: clock.now() + LOST_MS + jitterMs() };
    one.credential = bundle ? { state: "renewing", bundle, pending } : { state: "waiting", pending };
  };

  /** Takes the answer over, if there is one. */
  const receive = (one: HeldCertificate, credential: Extract<Credential, { state: "renewing" | "waiting" }>) => {
    const { namespace } = podReference(one.pod);
    const { name, keyPem, lostAt } = credential.pending;
    const found = deps.find(namespace, name);
    if (found === undefined) {
      if (clock.now() <= lostAt) return;
      one.credential = credential.state === "waiting" ? { state: "initial" } : { ...credential, state: "fresh" };
      one.again = true;
      return;
    }
    const answer = readAnswer(found, { keyPem, jitterMs: jitterMs() });
    if (answer === undefined) return;
    settle(one, answer);
    if (answer.state === "fresh") return;
    const outcome = answer.state === "denied" ? "was denied" : "failed";
    const why = `reason=${JSON.stringify(answer.reason)}, message=${JSON.stringify(answer.message)}`;
    const message = `PodCertificateRequest ${namespace}/${name} ${outcome}, ${why}`;
    deps.record(one.pod, { type: "Warning", reason: answer.state === "denied" ? "Denied" : "Failed", message });
  };

  const complain = (one: HeldCertificate) => {
    const health = healthOf(one.credential, clock.now());
    if ((health !== "expired" && health !== "overdue_for_refresh") || one.complaints.has(health)) return;
    one.complaints.add(health);
    const [reason, message] =
      health === "expired"
        ? ["CertificateExpired", "PodCertificate expired"]
        : ["CertificateOverdueForRefresh", "PodCertificate refresh overdue"];
    deps.record(one.pod, { type: "Warning", reason, message });
  };

  return async (one: HeldCertificate, signal: AbortSignal) => {
    const { credential } = one;
    const isOver = isTerminalPhase(one.pod.status?.phase);
    if (credential.state === "initial" && !isOver) await request(one, undefined, signal);
    if (credential.state === "waiting" || credential.state === "renewing") receive(one, credential);
    complain(one);
    const isDue = credential.state === "fresh" && clock.now() >= credential.bundle.refreshAt;
    if (isDue && !isOver) await request(one, credential.bundle, signal);
  };
}
