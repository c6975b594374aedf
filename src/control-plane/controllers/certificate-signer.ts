import { ApiError } from "../../api/api-error.ts";
import type { CertificateSigningRequest } from "../../api/gen/types.ts";
import { untyped } from "../../api/object.ts";
import { MINUTE, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import {
  findStoredRequest,
  followRequests,
  hasCondition,
  REQUESTS,
  type ReadCertificateRequest,
  requestPemOf,
  withRequestCondition,
} from "./certificate-requests.ts";
import { findRequestProblem, isBuiltInSigner } from "./certificate-rules.ts";

/** `--cluster-signing-duration`. */
const LONGEST_LIFETIME_MS = 365 * 24 * 60 * MINUTE;
/** Certificates begin five minutes early, for clocks that are late: a shorter life would hardly begin. */
const SHORTEST_LIFETIME_MS = 10 * MINUTE;

/** An order to make a certificate from a request that was approved and checked. */
export interface SigningOrder {
  readonly signerName: string;
  readonly requestPem: string;
  /** The usages as the request lists them: `client auth`, `digital signature`, … */
  readonly usages: readonly string[];
  readonly lifetimeMs: number;
}

interface SignerDeps extends ControllerDeps {
  readCertificateRequest: ReadCertificateRequest;
  /** Returns the certificate as PEM. */
  sign: (order: SigningOrder) => Promise<string>;
}

/** Signs the approved requests of Kubernetes' own signers, or records why a request cannot be signed (`csrsigning`). */
export function createCertificateSigner(deps: SignerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const queue = createWorkQueue(deps, {
    name: "csrsigning",
    async reconcile(name) {
      const request = findStoredRequest(reader, name);
      if (request === undefined || !isDue(request)) return undefined;
      const message = await findProblem(deps.readCertificateRequest, request);
      if (message !== undefined) {
        const failure = { type: "Failed", reason: "SignerValidationFailure", message };
        await unlessOvertaken(writer.update(REQUESTS, withRequestCondition(request, failure, clock.now()), "status"));
        return undefined;
      }
      const certificate = Buffer.from(await signRequest(deps.sign, request)).toString("base64");
      const signed = untyped({ ...request, status: { ...request.status, certificate } });
      await unlessOvertaken(writer.update(REQUESTS, signed, "status"));
      return undefined;
    },
  });
  return { run: (signal) => runFollowing(queue, () => [followRequests(feed, queue.add)], signal) };
}

function isDue(request: CertificateSigningRequest): boolean {
  const isOpen =
    hasCondition(request, "Approved") && !hasCondition(request, "Denied") && !hasCondition(request, "Failed");
  return isOpen && !request.status?.certificate && isBuiltInSigner(request.spec.signerName);
}

async function findProblem(
  read: ReadCertificateRequest,
  request: CertificateSigningRequest,
): Promise<string | undefined> {
  try {
    return findRequestProblem(request, await read(requestPemOf(request)));
  } catch (error) {
    return `unable to parse csr: ${messageOf(error)}`;
  }
}

/** Signs the request. A failure of the authority becomes an ApiError, because the next attempt may succeed. */
async function signRequest(sign: SignerDeps["sign"], request: CertificateSigningRequest): Promise<string> {
  const { signerName, usages = [], expirationSeconds } = request.spec;
  const wanted = expirationSeconds === undefined ? LONGEST_LIFETIME_MS : expirationSeconds * SECOND;
  const lifetimeMs = Math.max(SHORTEST_LIFETIME_MS, Math.min(wanted, LONGEST_LIFETIME_MS));
  try {
    return await sign({ signerName, requestPem: requestPemOf(request), usages, lifetimeMs });
  } catch (error) {
    throw new ApiError("InternalError", `error auto signing csr: ${messageOf(error)}`);
  }
}
