import type { CertificateSigningRequest, PodCertificateRequest, RoleBinding, Subject } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { formatHumanDuration } from "../../../base/human-duration.ts";
import type { Column } from "../../ports/resource-kind.ts";
import { labelsText, orNone } from "./cell-text.ts";
import { AGE, type ColumnRow, columnsOf, fullColumn, NAME } from "./column.ts";

export const SERVICE_ACCOUNT_COLUMNS = columnsOf("ServiceAccount", [NAME, AGE]);

const BINDING: ReadonlyArray<ColumnRow<RoleBinding>> = [
  NAME,
  { name: "Role", description: "The role that is given.", cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` },
  AGE,
  { name: "Users", wide: true, description: "The users who have it.", cell: subjectsText("User") },
  { name: "Groups", wide: true, description: "The groups that have it.", cell: subjectsText("Group") },
  {
    name: "ServiceAccounts",
    wide: true,
    description: "The service accounts that have it.",
    cell: subjectsText("ServiceAccount"),
  },
];

function subjectsText(kind: Subject["kind"]): (binding: RoleBinding) => string {
  return ({ subjects = [] }) => {
    const names = subjects.flatMap((subject) => {
      if (subject.kind !== kind) return [];
      return [kind === "ServiceAccount" ? `${subject.namespace ?? ""}/${subject.name}` : subject.name];
    });
    return names.join(", ");
  };
}

export const ROLE_BINDING_COLUMNS = columnsOf("RoleBinding", BINDING);
export const CLUSTER_ROLE_BINDING_COLUMNS = columnsOf("ClusterRoleBinding", BINDING);

export const CERTIFICATE_SIGNING_REQUEST_COLUMNS = columnsOf("CertificateSigningRequest", [
  NAME,
  AGE,
  { name: "SignerName", description: "Who is asked to sign.", cell: ({ spec }) => orNone(spec.signerName) },
  { name: "Requestor", description: "Who asks.", cell: ({ spec }) => spec.username ?? "" },
  {
    name: "RequestedDuration",
    description: "For how long the certificate should be valid.",
    cell: ({ spec }) => {
      return spec.expirationSeconds === undefined ? "<none>" : formatHumanDuration(spec.expirationSeconds * 1000);
    },
  },
  { name: "Condition", description: "What has become of it.", cell: requestCondition },
]);

/** There is no column for the age, as upstream. */
export const CLUSTER_TRUST_BUNDLE_COLUMNS: readonly Column[] = [
  fullColumn(NAME, (object) => object),
  fullColumn(
    { name: "SignerName", description: "Whose certificates it verifies.", cell: bundleSigner },
    (object) => object,
  ),
];

/** There is no column for the age, as upstream. */
export const POD_CERTIFICATE_REQUEST_COLUMNS = columnsOf("PodCertificateRequest", [
  NAME,
  { name: "PodName", description: "The pod that it is for.", cell: ({ spec }) => spec.podName },
  { name: "ServiceAccountName", description: "As whom the pod runs.", cell: ({ spec }) => spec.serviceAccountName },
  { name: "NodeName", description: "The node that runs the pod.", cell: ({ spec }) => spec.nodeName },
  { name: "SignerName", description: "Who is asked to sign.", cell: ({ spec }) => spec.signerName },
  { name: "State", description: "Pending, Issued, Denied or Failed.", cell: podRequestState },
  {
    name: "UnverifiedUserAnnotations",
    description: "What the pod's author tells the signer.",
    cell: ({ spec }) => labelsText(spec.unverifiedUserAnnotations),
  },
]);

function podRequestState({ status }: PodCertificateRequest): string {
  const outcome = status?.conditions?.find((condition) => condition.status === "True");
  return outcome?.type ?? "Pending";
}

function bundleSigner({ spec }: KubeObject): string {
  const { signerName } = isRecord(spec) ? spec : {};
  return orNone(typeof signerName === "string" ? signerName : undefined);
}

function requestCondition({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const decision = has("Approved") ? "Approved" : "Pending";
  const parts = [has("Denied") ? "Denied" : decision];
  if (has("Failed")) parts.push("Failed");
  if (status?.certificate) parts.push("Issued");
  return parts.join(",");
}
