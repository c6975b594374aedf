import type { FieldError } from "../../../api/field-error.ts";
import type { Pod, Volume, VolumeProjection } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";

interface ReferenceOptions {
  /** The node has config maps and secrets of its own, beside the pods. Default: it has none. */
  readonly hasData?: boolean;
}

/**
 * The first field of a pod that names an object of the API server. A static pod must not have such a field, because it
 * has to start without any API server. Upstream refuses the same fields (`HasAPIObjectReference`, gate
 * `PreventStaticPodAPIReferences`).
 */
export function findApiReference(pod: Pod, { hasData = false }: ReferenceOptions = {}): FieldError | undefined {
  for (const { path, resource, isData = false } of listReferences(pod)) {
    if (!(hasData && isData)) return { path, message: `static pods may not reference ${resource}` };
  }
  return undefined;
}

interface Reference {
  path: string;
  resource: string;
  /** A manifest beside the pod can hold the object. */
  isData?: boolean;
}

function* listReferences(pod: Pod): Generator<Reference> {
  const { spec } = pod;
  if (spec === undefined) return;
  if (spec.serviceAccountName) yield { path: "spec.serviceAccountName", resource: "serviceaccounts" };
  if (spec.serviceAccount) yield { path: "spec.serviceAccount", resource: "serviceaccounts" };
  if (spec.imagePullSecrets?.length) yield { path: "spec.imagePullSecrets", resource: "secrets", isData: true };
  if (spec.resourceClaims?.length) yield { path: "spec.resourceClaims", resource: "resourceclaims" };
  yield* listContainerReferences(pod);
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    yield* listVolumeReferences(volume, `spec.volumes[${index}]`);
  }
}

const CONTAINER_FIELDS = { init: "initContainers", main: "containers", ephemeral: "ephemeralContainers" } as const;

function* listContainerReferences(pod: Pod): Generator<Reference> {
  const counts = { init: 0, main: 0, ephemeral: 0 };
  for (const { container, kind } of podContainers(pod)) {
    const parent = `spec.${CONTAINER_FIELDS[kind]}[${counts[kind]++}]`;
    for (const [index, { secretRef, configMapRef }] of (container.envFrom ?? []).entries()) {
      const path = `${parent}.envFrom[${index}]`;
      if (secretRef) yield { path: `${path}.secretRef`, resource: "secrets", isData: true };
      if (configMapRef) yield { path: `${path}.configMapRef`, resource: "configmaps", isData: true };
    }
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      const path = `${parent}.env[${index}].valueFrom`;
      if (valueFrom?.secretKeyRef) yield { path: `${path}.secretKeyRef`, resource: "secrets", isData: true };
      if (valueFrom?.configMapKeyRef) yield { path: `${path}.configMapKeyRef`, resource: "configmaps", isData: true };
    }
  }
}

/** Volumes that always are, or need, an object of the API server. */
const VOLUME_RESOURCES: ReadonlyArray<readonly [field: keyof Volume, resource: string]> = [
  ["azureFile", "secrets (via azureFile volumes)"],
  ["configMap", "configmaps (via configmap volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["secret", "secrets (via secret volumes)"],
];

const PROJECTION_RESOURCES: ReadonlyArray<readonly [field: keyof VolumeProjection, resource: string]> = [
  ["clusterTrustBundle", "clustertrustbundles"],
  ["configMap", "configmaps (via projected volumes)"],
  ["podCertificate", "podcertificates"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
];

function* listVolumeReferences(volume: Volume, parent: string): Generator<Reference> {
  for (const [field, resource] of VOLUME_RESOURCES) {
    if (volume[field] !== undefined) yield { path: `${parent}.${field}`, resource, isData: isDataField(field) };
  }
  for (const [index, source] of (volume.projected?.sources ?? []).entries()) {
    for (const [field, resource] of PROJECTION_RESOURCES) {
      const path = `${parent}.projected.sources[${index}].${field}`;
      if (source[field] !== undefined) yield { path, resource, isData: isDataField(field) };
    }
  }
  // These volumes name a secret only in an optional field.
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  for (const [name, source] of Object.entries({ cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos })) {
    if (source?.secretRef) yield { path: `${parent}.${name}.secretRef`, resource: "secrets" };
  }
}

function isDataField(field: string): boolean {
  return field === "configMap" || field === "secret";
}
