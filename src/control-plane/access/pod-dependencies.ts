import type { Container, EphemeralContainer, PersistentVolume, Pod, Volume } from "../../api/gen/types.ts";
import { deviceClaimNamesOf } from "../claims/device-claims.ts";

/** An object of the pod's namespace that the pod needs. */
interface PodDependency {
  readonly kind: "configmap" | "persistentvolumeclaim" | "resourceclaim" | "secret" | "serviceaccount";
  readonly name: string;
}

/** The objects that a node must read to run the pod. Missing and empty names are left out. */
export function podDependencies(pod: Pod): PodDependency[] {
  const { metadata = {}, spec } = pod;
  if (spec === undefined) return [];
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [], imagePullSecrets = [] } = spec;
  const everyContainer = [...initContainers, ...containers, ...ephemeralContainers];
  const found = [
    reference("serviceaccount", spec.serviceAccountName),
    ...imagePullSecrets.map(({ name }) => reference("secret", name)),
    ...everyContainer.flatMap(environmentReferences),
    ...volumes.flatMap((volume) => volumeReferences(volume, metadata.name ?? "")),
    ...deviceClaimNamesOf(pod).map((name) => reference("resourceclaim", name)),
  ];
  return found.filter((one) => one !== undefined);
}

function reference(kind: PodDependency["kind"], name: string | undefined): PodDependency | undefined {
  return name === undefined || name === "" ? undefined : { kind, name };
}

function environmentReferences({ env = [], envFrom = [] }: Container | EphemeralContainer) {
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      reference("configmap", configMapRef?.name),
      reference("secret", secretRef?.name),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      reference("configmap", valueFrom?.configMapKeyRef?.name),
      reference("secret", valueFrom?.secretKeyRef?.name),
    ]),
  ];
}

function volumeReferences(volume: Volume, podName: string) {
  const { secret, configMap, projected, persistentVolumeClaim, ephemeral, azureFile, csi } = volume;
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  // An ephemeral volume's claim is named after the pod and the volume.
  const claim = ephemeral === undefined ? persistentVolumeClaim?.claimName : `${podName}-${volume.name}`;
  return [
    reference("secret", secret?.secretName),
    reference("configmap", configMap?.name),
    ...(projected?.sources ?? []).flatMap((source) => [
      reference("secret", source.secret?.name),
      reference("configmap", source.configMap?.name),
    ]),
    reference("persistentvolumeclaim", claim),
    reference("secret", azureFile?.secretName),
    reference("secret", csi?.nodePublishSecretRef?.name),
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => {
      return reference("secret", source?.secretRef?.name);
    }),
  ];
}

/**
 * The secrets that a node needs to mount the volume. Secrets for attaching it or resizing it from elsewhere are not
 * among them.
 */
export function volumeSecrets({ spec = {} }: PersistentVolume): { namespace: string; name: string }[] {
  const { azureFile, cephfs, cinder, claimRef, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec;
  const references = [
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef),
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef],
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace },
  ];
  return references.flatMap((secret) => {
    const { name = "", namespace } = secret ?? {};
    return name === "" ? [] : [{ name, namespace: namespace || (claimRef?.namespace ?? "") }];
  });
}
