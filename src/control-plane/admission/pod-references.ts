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
