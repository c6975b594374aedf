import { childController, isAbort, sleep, throwIfAborted } from "../../../base/abort.ts";
import { MINUTE } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { CertificateSubject } from "../../../pki/certificate-names.ts";
import { createCertificateRequest } from "../../../pki/certificate-request.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import { CertificateError } from "./certificate-error.ts";
import type { PairName } from "./certificate-store.ts";
import { takeIssuedPair } from "./issued-pair.ts";
import { type NamedRequest, type RequestDeps, requestCertificate } from "./request-certificate.ts";
import { isSameSubject } from "./rotation-plan.ts";

/** The request for the next certificate, from when it is made until its answer is on disk. */
interface Renewal {
  /**
   * Asks for a certificate, or goes on waiting for the one that it asked for before. The result is undefined when the
   * subject has changed meanwhile, so that the answer is no longer wanted. Rejects when the request fails, is denied or
   * stays unanswered.
   */
  ask(subject: CertificateSubject, signal: AbortSignal): Promise<KeyedCertificate | undefined>;
  /** Tells that the answer is on disk. The next request is then a new one, with a new key. */
  finish(): void;
  /** Tells that the subject may have changed. */
  reconsider(): void;
}

interface RenewalDeps extends RequestDeps {
  readonly random: Random;
}

/** What a certificate is requested for. The values are those of the rotation. */
interface RenewalOptions {
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly pairName: PairName;
  subject(): CertificateSubject | undefined;
}

interface OpenRequest {
  readonly subject: CertificateSubject;
  readonly keyPem: string;
  readonly request: NamedRequest;
}

/**
 * The length of one wait. A request that is unanswered by then is waited for again, and not made anew as upstream does.
 */
const WAIT_MS = 15 * MINUTE;
const LOOK_MS = MINUTE;
/** The letters have no vowels, like those of the API server's own suffixes. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

export function createRenewal(deps: RenewalDeps, options: RenewalOptions): Renewal {
  const { clock, log } = deps;
  let open: OpenRequest | undefined;
  let look = () => {};

  const make = async (subject: CertificateSubject): Promise<OpenRequest> => {
    const { requestPem, keyPem } = await createCertificateRequest(subject);
    const { signerName, usages } = options;
    // The request is named here and not by the server, so that it can be found again when the server's answer is lost.
    return { subject, keyPem, request: { name: `csr-${randomSuffix(deps.random)}`, requestPem, signerName, usages } };
  };

  /**
   * Aborts the controller when the subject is no longer the one that was asked for. Ends with the controller's own
   * signal.
   */
  const abortWhenUnwanted = async (subject: CertificateSubject, controller: AbortController) => {
    look = () => {
      if (!isSameSubject(subject, options.subject())) controller.abort();
    };
    try {
      while (!controller.signal.aborted) {
        look();
        await sleep(clock, LOOK_MS, controller.signal);
      }
    } catch (error) {
      if (!isAbort(error)) throw error;
    } finally {
      look = () => {};
    }
  };

  const follow = async ({ request, keyPem, subject }: OpenRequest, signal: AbortSignal): Promise<KeyedCertificate> => {
    const { name: csr } = request;
    const answer = await requestCertificate(deps, request, { waitMs: WAIT_MS, signal });
    if (answer.kind === "timed-out") throw new Error(`csr "${csr}" is neither approved nor denied yet`);
    if (answer.kind !== "issued") open = undefined;
    switch (answer.kind) {
      case "gone":
        throw new Error(`csr "${csr}" was deleted`);
      case "denied":
      case "failed":
        throw new CertificateError(answer.kind, answer.message);
      case "issued": {
        const { certificatePem } = answer;
        const { commonName, organizations = [] } = subject;
        // As a client, the node must be who it was. What it serves with may lack what the signer does not give.
        const asked = options.pairName === "kubelet-client" ? { commonName, organizations } : undefined;
        return takeIssuedPair({ csr, certificatePem, keyPem, subject: asked, now: clock.now() });
      }
    }
  };

  return {
    async ask(subject, signal) {
      open = open !== undefined && isSameSubject(open.subject, subject) ? open : await make(subject);
      const { controller, release } = childController(signal);
      const guard = abortWhenUnwanted(subject, controller);
      try {
        return await follow(open, controller.signal);
      } catch (error) {
        throwIfAborted(signal);
        if (error instanceof CertificateError && error.code === "incompatible") open = undefined;
        if (!isAbort(error)) throw error;
        log.info("The certificate's subject changed, its request is given up", { csr: open?.request.name });
        return undefined;
      } finally {
        controller.abort();
        release();
        await guard;
      }
    },
    finish() {
      open = undefined;
    },
    reconsider: () => look(),
  };
}

function randomSuffix(random: Random): string {
  const letter = () => SUFFIX_LETTERS[Math.floor(random.next() * SUFFIX_LETTERS.length)] ?? "";
  return Array.from({ length: 5 }, letter).join("");
}
