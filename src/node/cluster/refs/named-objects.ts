import type { Container, Pod, Volume } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";

/** The names of objects in the pod's namespace, each once, in the pod's order. */
export interface NamedObjects {
  readonly secrets: string[];
  readonly configMaps: string[];
}

/** No pod names more: each object is followed by a watch. Admission refuses one that does. */
export const MAX_NAMED_OBJECTS = 1_000;

/** How many secrets and config maps these are. */
export function countObjects({ secrets, configMaps }: NamedObjects): number {
  return secrets.length + configMaps.length;
}

/**
 * Lists the secrets and config maps that the pod names, as `VisitPodSecretNames` and `VisitPodConfigmapNames` find them
 * (pkg/api/v1/pod/util.go): pull secrets, environments of containers of all kinds, and volumes.
 */
export function listNamedObjects(pod: Pod): NamedObjects {
  const pullSecrets = (pod.spec?.imagePullSecrets ?? []).map(({ name }): Reference => ["secrets", name]);
  const environments = podContainers(pod).flatMap(({ container }) => environmentReferences(container));
  const volumes = (pod.spec?.volumes ?? []).flatMap(listVolumeReferences);
  return collect([...pullSecrets, ...environments, ...volumes]);
}

/** Lists those that volumes name. A running pod follows their changes. */
export function listObjectsOfVolumes(pod: Pod): NamedObjects {
  return collect((pod.spec?.volumes ?? []).flatMap(listVolumeReferences));
}

type Reference = readonly [kind: keyof NamedObjects, name: string | undefined];

function collect(references: readonly Reference[]): NamedObjects {
  const namesOf = (wanted: keyof NamedObjects) => {
    const names = references.flatMap(([kind, name = ""]) => (kind === wanted && name !== "" ? [name] : []));
    return [...new Set(names)];
  };
  return { secrets: namesOf("secrets"), configMaps: namesOf("configMaps") };
}

function environmentReferences({ env = [], envFrom = [] }: Container): Reference[] {
  return [
    ...envFrom.flatMap(({ secretRef, configMapRef }): Reference[] => [
      ["secrets", secretRef?.name],
      ["configMaps", configMapRef?.name],
    ]),
    ...env.flatMap(({ valueFrom }): Reference[] => [
      ["secrets", valueFrom?.secretKeyRef?.name],
      ["configMaps", valueFrom?.configMapKeyRef?.name],
    ]),
  ];
}

function listVolumeReferences(volume: Volume): Reference[] {
  const { secret, configMap, projected, azureFile, csi } = volume;
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  return [
    ["secrets", secret?.secretName],
    ["configMaps", configMap?.name],
    ...(projected?.sources ?? []).flatMap((source): Reference[] => [
      ["secrets", source.secret?.name],
      ["configMaps", source.configMap?.name],
    ]),
    ["secrets", azureFile?.secretName],
    ["secrets", csi?.nodePublishSecretRef?.name],
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source): Reference => {
      return ["secrets", source?.secretRef?.name];
    }),
  ];
}
