import type { CertificateSigningRequest } from "../../api/gen/types.ts";
import type { RequestedCertificate } from "./certificate-requests.ts";

/** The signer of certificates by which nodes authenticate. */
export const KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

type Rule = (requested: RequestedCertificate, usages: readonly string[]) => string | undefined;

/** The demands of Kubernetes' own signers on a request. Each returns the first problem, or undefined. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["kubernetes.io/kube-apiserver-client", (_requested, usages) => checkClientUsages(usages)],
  [KUBELET_CLIENT_SIGNER, checkKubeletClient],
  ["kubernetes.io/kubelet-serving", checkKubeletServing],
  ["kubernetes.io/legacy-unknown", () => undefined],
]);

/** True for the signers whose requests are signed here. */
export function isBuiltInSigner(signerName: string): boolean {
  return RULES.has(signerName);
}

/** Why the request's signer does not sign it, in upstream's words; undefined when it may. */
export function findRequestProblem(
  { spec }: CertificateSigningRequest,
  requested: RequestedCertificate,
): string | undefined {
  return RULES.get(spec.signerName)?.(requested, spec.usages ?? []);
}

function checkClientUsages(usages: readonly string[]): string | undefined {
  const allowed = ["client auth", "digital signature", "key encipherment"];
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}

function checkKubeletClient(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isOfNodes(requested)) return "subject organization is not system:nodes";
  if (requested.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (requested.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (requested.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  if (requested.uris.length > 0) return "URI subjectAltNames are not allowed";
  if (!isNamedNode(requested)) return "subject common name does not begin with system:node:";
  return checkNodeUsages(usages, "client auth");
}

function checkKubeletServing(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isOfNodes(requested)) return "subject organization is not system:nodes";
  if (requested.dnsNames.length + requested.ipAddresses.length === 0) return "DNS or IP subjectAltName is required";
  if (requested.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (requested.uris.length > 0) return "URI subjectAltNames are not allowed";
  return (
    checkNodeUsages(usages, "server auth") ??
    (isNamedNode(requested) ? undefined : "subject common name does not begin with system:node:")
  );
}

const isOfNodes = ({ organizations }: RequestedCertificate) => {
  return organizations.length === 1 && organizations[0] === "system:nodes";
};
const isNamedNode = ({ commonName }: RequestedCertificate) => commonName.startsWith("system:node:");

/** Key encipherment makes sense for RSA keys only, and may be left out. */
function checkNodeUsages(usages: readonly string[], purpose: "client auth" | "server auth"): string | undefined {
  const optional = "key encipherment";
  const needed = ["digital signature", purpose];
  const isExact =
    needed.every((usage) => usages.includes(usage)) &&
    usages.every((usage) => needed.includes(usage) || usage === optional);
  return isExact ? undefined : `usages did not match [${[...needed, optional].sort().join(" ")}]`;
}
