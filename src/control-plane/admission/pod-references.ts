import type { Container, EphemeralContainer, Pod, Volume } from "../../api/gen/types.ts";

/** A container of any sort, whose references all have the same form. */
export type AnyContainer = Container | EphemeralContainer;

/** True when any part of the pod names a secret: pull secrets, environment, volumes. */
export function referencesSecrets(pod: Pod): boolean {
  const { imagePullSecrets = [], volumes = [] } = pod.spec ?? {};
  return (
    imagePullSecrets.length > 0 ||
    allContainers(pod).some((container) => secretsOfEnvironment(container).length > 0) ||
    volumes.some(isFromSecret)
  );
}

/** True when a container's environment or a volume names a config map. */
function referencesConfigMaps(pod: Pod): boolean {
  const inEnvironment = ({ env = [], envFrom = [] }: AnyContainer) =>
    env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
    envFrom.some(({ configMapRef }) => configMapRef !== undefined);
  const inVolume = ({ configMap, projected }: Volume) =>
    configMap !== undefined || projected?.sources?.some((source) => source.configMap !== undefined);
  return allContainers(pod).some(inEnvironment) || (pod.spec?.volumes ?? []).some(inVolume);
}

/** The sources of volumes that need nothing of the API. */
const LOCAL_VOLUMES: ReadonlySet<string> = new Set([
  ...[
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
  ],
  ...["gcePersistentDisk", "gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume"],
  ...["quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"],
]);
/** What the other sources refer to, in upstream's words. */
const VOLUME_REFERENCES: Readonly<Record<string, string>> = {
  azureFile: "secrets (via azureFile volumes)",
  csi: "csidrivers (via CSI volumes)",
  ephemeral: "persistentvolumeclaims (via ephemeral volumes)",
  glusterfs: "endpoints (via glusterFS volumes)",
  persistentVolumeClaim: "persistentvolumeclaims",
};
const PROJECTED_REFERENCES: Readonly<Record<string, string>> = {
  clusterTrustBundle: "clustertrustbundles",
  podCertificate: "podcertificates",
  serviceAccountToken: "serviceaccounts (via projected volumes)",
};

/**
 * What the pod refers to that is an object of the API, or is made one for it; undefined for a pod that runs without any
 * (`HasAPIObjectReference` of pkg/api/pod). A source that nobody knows counts as a reference.
 */
export function findApiReference(pod: Pod): string | undefined {
  const { serviceAccountName, resourceClaims = [], volumes = [] } = pod.spec ?? {};
  if (serviceAccountName) return "serviceaccounts";
  if (referencesSecrets(pod)) return "secrets";
  if (referencesConfigMaps(pod)) return "configmaps";
  if (resourceClaims.length > 0) return "resourceclaims";
  return volumes.map(findVolumeReference).find((reference) => reference !== undefined);
}

function findVolumeReference({ name, projected, ...sources }: Volume): string | undefined {
  const projections = (projected?.sources ?? []).flatMap((source) => Object.keys(source));
  const references = [
    ...Object.keys(sources).flatMap((source) => (LOCAL_VOLUMES.has(source) ? [] : [VOLUME_REFERENCES[source]])),
    ...projections.flatMap((source) => (source === "downwardAPI" ? [] : [PROJECTED_REFERENCES[source]])),
  ];
  return references.length === 0 ? undefined : (references[0] ?? `what volume ${JSON.stringify(name)} is made of`);
}

/** The secrets that a container's environment refers to: for a variable, or (without one) as a whole. */
export function secretsOfEnvironment({
  env = [],
  envFrom = [],
}: AnyContainer): { variable?: string; secret: string }[] {
  const single = env.flatMap(({ name, valueFrom }) => {
    return valueFrom?.secretKeyRef ? [{ variable: name, secret: valueFrom.secretKeyRef.name ?? "" }] : [];
  });
  const whole = envFrom.flatMap(({ secretRef }) => (secretRef ? [{ secret: secretRef.name ?? "" }] : []));
  return [...single, ...whole];
}

function allContainers({ spec }: Pod): AnyContainer[] {
  if (spec === undefined) return [];
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

function isFromSecret(volume: Volume): boolean {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, projected, rbd, scaleIO, secret, storageos } = volume;
  const references = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef);
  return (
    secret !== undefined ||
    azureFile !== undefined ||
    csi?.nodePublishSecretRef !== undefined ||
    references.some((reference) => reference !== undefined) ||
    (projected?.sources?.some((source) => source.secret !== undefined) ?? false)
  );
}
