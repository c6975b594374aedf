import type { Pod, Volume, VolumeProjection } from "./gen/types.ts";
import { podContainers } from "./pods.ts";

interface ReferenceOptions {
  /** The node has config maps and secrets of its own, beside the pods. Default: it has none. */
  readonly hasData?: boolean;
}

/**
 * The first field of a pod that names an object of the API server, or for which one is made. A static pod must not have
 * such a field, because it has to start without any API server, and a node must not create a mirror pod with one. Upstream
 * refuses the same fields (`HasAPIObjectReference` of pkg/api/pod). A source of a volume that nobody knows counts as one.
 */
export function findApiReference(pod: Pod, { hasData = false }: ReferenceOptions = {}): Reference | undefined {
  for (const reference of listReferences(pod)) {
    if (!(hasData && reference.isData === true)) return reference;
  }
  return undefined;
}

interface Reference {
  path: string;
  /** In upstream's words: `csidrivers (via CSI volumes)`. */
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

/** Volumes that always are, or need, an object of the API server; undefined for those that need none. */
const VOLUME_RESOURCES: Readonly<Record<Exclude<keyof Volume, "name" | "projected">, string | undefined>> = {
  awsElasticBlockStore: undefined,
  azureDisk: undefined,
  azureFile: "secrets",
  cephfs: undefined,
  cinder: undefined,
  configMap: "configmaps",
  csi: "csidrivers (via CSI volumes)",
  downwardAPI: undefined,
  emptyDir: undefined,
  ephemeral: "persistentvolumeclaims (via ephemeral volumes)",
  fc: undefined,
  flexVolume: undefined,
  flocker: undefined,
  gcePersistentDisk: undefined,
  gitRepo: undefined,
  glusterfs: "endpoints (via glusterFS volumes)",
  hostPath: undefined,
  image: undefined,
  iscsi: undefined,
  nfs: undefined,
  persistentVolumeClaim: "persistentvolumeclaims",
  photonPersistentDisk: undefined,
  portworxVolume: undefined,
  quobyte: undefined,
  rbd: undefined,
  scaleIO: undefined,
  secret: "secrets",
  storageos: undefined,
  vsphereVolume: undefined,
};

const PROJECTION_RESOURCES: Readonly<Record<keyof VolumeProjection, string | undefined>> = {
  clusterTrustBundle: "clustertrustbundles",
  configMap: "configmaps",
  downwardAPI: undefined,
  podCertificate: "podcertificates",
  secret: "secrets",
  serviceAccountToken: "serviceaccounts (via projected volumes)",
};

function* listVolumeReferences({ projected, ...volume }: Volume, parent: string): Generator<Reference> {
  const { name: _name, ...sources } = volume;
  yield* listSources(sources, VOLUME_RESOURCES, parent);
  for (const [index, source] of (projected?.sources ?? []).entries()) {
    yield* listSources(source, PROJECTION_RESOURCES, `${parent}.projected.sources[${index}]`);
  }
  // These volumes name a secret only in an optional field.
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  for (const [name, source] of Object.entries({ cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos })) {
    if (source?.secretRef) yield { path: `${parent}.${name}.secretRef`, resource: "secrets" };
  }
}

function* listSources(
  sources: object,
  resources: Readonly<Record<string, string | undefined>>,
  parent: string,
): Generator<Reference> {
  for (const [field, value] of Object.entries(sources)) {
    const resource = field in resources ? resources[field] : `what ${JSON.stringify(field)} is made of`;
    if (value !== undefined && resource !== undefined) {
      yield { path: `${parent}.${field}`, resource, isData: isDataField(field) };
    }
  }
}

function isDataField(field: string): boolean {
  return field === "configMap" || field === "secret";
}
