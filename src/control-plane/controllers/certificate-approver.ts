import type { CertificateSigningRequest } from "../../api/gen/types.ts";
import { SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { Authorize } from "../ports/request.ts";
import {
  findStoredRequest,
  followRequests,
  hasCondition,
  REQUESTS,
  type ReadCertificateRequest,
  type RequestedCertificate,
  requestPemOf,
  withRequestCondition,
} from "./certificate-requests.ts";
import { findRequestProblem, KUBELET_CLIENT_SIGNER } from "./certificate-rules.ts";

/** A request is looked at again after this, because a role that allows it may be bound later. */
const ASK_AGAIN_MS = 30 * SECOND;

interface ApproverDeps extends ControllerDeps {
  authorize: Authorize;
  readCertificateRequest: ReadCertificateRequest;
}

/**
 * Approves the client certificates of nodes: a node's renewal for users who may create `selfnodeclient`, a new node's
 * certificate for users who may create `nodeclient` (`csrapproving`). Every other request waits for a person.
 */
export function createCertificateApprover(deps: ApproverDeps): Controller {
  const { reader, writer, feed, clock, log } = deps;
  const queue = createWorkQueue(deps, {
    name: "csrapproving",
    async reconcile(name) {
      const request = findStoredRequest(reader, name);
      if (request === undefined || isAnswered(request) || request.spec.signerName !== KUBELET_CLIENT_SIGNER) {
        return undefined;
      }
      const requested = await readRequest(deps.readCertificateRequest, request, log);
      if (requested === undefined || findRequestProblem(request, requested) !== undefined) return undefined;
      const message = findPermission(deps.authorize, request, requested);
      if (message === undefined) return ASK_AGAIN_MS;
      const approved = withRequestCondition(
        request,
        { type: "Approved", reason: "AutoApproved", message },
        clock.now(),
      );
      await unlessOvertaken(writer.update(REQUESTS, approved, "approval"));
      return undefined;
    },
  });
  return { run: (signal) => runFollowing(queue, () => [followRequests(feed, queue.add)], signal) };
}

function isAnswered(request: CertificateSigningRequest): boolean {
  const isIssued = Boolean(request.status?.certificate);
  return isIssued || hasCondition(request, "Approved") || hasCondition(request, "Denied");
}

async function readRequest(
  read: ReadCertificateRequest,
  request: CertificateSigningRequest,
  log: Log,
): Promise<RequestedCertificate | undefined> {
  try {
    return await read(requestPemOf(request));
  } catch (error) {
    log.debug("unable to parse csr", { csr: request.metadata?.name, error: messageOf(error) });
    return undefined;
  }
}

/** The approval's message; undefined when the author may not have the certificate without somebody's approval. */
function findPermission(
  authorize: Authorize,
  { spec }: CertificateSigningRequest,
  { commonName }: RequestedCertificate,
): string | undefined {
  const { username = "", groups = [], uid, extra } = spec;
  const mayCreate = (subresource: string) => {
    const resource = "certificatesigningrequests";
    const target = { group: "certificates.k8s.io", version: "*", resource, subresource, namespace: "", name: "" };
    return authorize({ user: { username, groups, uid, extra }, verb: "create", ...target }).allowed;
  };
  if (username === commonName && mayCreate("selfnodeclient")) {
    return "Auto approving self kubelet client certificate after SubjectAccessReview.";
  }
  return mayCreate("nodeclient") ? "Auto approving kubelet client certificate after SubjectAccessReview." : undefined;
}
