import { typed } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import type { NodeRequest, NodeRestrictionDeps } from "./node-request.ts";
import { refusal } from "./refusal.ts";

const NODE_SIGNERS = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/** Lets a node request certificates from the signers of nodes in its own name only. */
export function restrictCertificateRequest({ request, node }: NodeRequest, deps: NodeRestrictionDeps): void {
  const { operation, subresource, object } = request;
  if (operation !== "CREATE" || subresource !== "" || object === undefined) return;
  const { spec } = typed("CertificateSigningRequest", object);
  if (!NODE_SIGNERS.includes(spec.signerName)) return;
  const commonNameOf = () => {
    try {
      return deps.parseCertificateRequest(spec.request).commonName;
    } catch (error) {
      throw refusal(request, `unable to parse csr: ${messageOf(error)}`);
    }
  };
  const wanted = `system:node:${node}`;
  if (commonNameOf() !== wanted) throw refusal(request, `can only create a node CSR with CN=${wanted}`);
}
