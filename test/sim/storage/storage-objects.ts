import type { Container, PersistentVolume, Pod } from "../../../src/api/gen/types.ts";
import { CSI_DRIVERS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SECRETS } from "../../../src/api/kube-resource.ts";
import type { KubeClient } from "../../../src/kube/port.ts";
import { NAMESPACE } from "../api/api-objects.ts";
import type { Dice } from "../dice.ts";
import { NODE_NAME } from "../manifests.ts";
import {
  DRIVER_NAME,
  DRIVER_SECRET,
  DRIVER_SECRET_NAME,
  handleOf,
  LOCAL_DIRECTORY,
  PART,
  type PlannedClaim,
  type StoragePlan,
} from "./storage-plan.ts";

const CAPACITY = { storage: "1Gi" };

/** Everything but the volumes that are to come late. */
export async function makeStorageObjects(admin: KubeClient, plan: StoragePlan): Promise<void> {
  await admin.create(CSI_DRIVERS, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: DRIVER_NAME },
    spec: {
      attachRequired: plan.attachRequired,
      podInfoOnMount: plan.podInfoOnMount,
      requiresRepublish: plan.requiresRepublish,
    },
  });
  await admin.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: DRIVER_SECRET_NAME, namespace: NAMESPACE },
    stringData: { password: DRIVER_SECRET },
  });
  for (const claim of plan.claims) {
    if (!claim.isLate) await makeVolume(admin, claim);
    await admin.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: claim.name, namespace: NAMESPACE },
      spec: {
        accessModes: [claim.accessMode],
        storageClassName: "",
        volumeName: claim.name,
        resources: { requests: CAPACITY },
      },
    });
  }
}

/** The volume of a claim, which a controller then binds to it. */
export async function makeVolume(admin: KubeClient, claim: PlannedClaim): Promise<void> {
  const { name, accessMode } = claim;
  await admin.create(PERSISTENT_VOLUMES, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      accessModes: [accessMode],
      capacity: CAPACITY,
      storageClassName: "",
      persistentVolumeReclaimPolicy: "Retain",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: NAMESPACE, name },
      ...(claim.kind === "local" ? LOCAL_SOURCE : csiSource(claim)),
    },
  });
}

const LOCAL_SOURCE = {
  local: { path: LOCAL_DIRECTORY },
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [NODE_NAME] }] },
      ],
    },
  },
};

function csiSource({ name, hasSecret }: PlannedClaim): Pick<NonNullable<PersistentVolume["spec"]>, "csi"> {
  const secretRef = { name: DRIVER_SECRET_NAME, namespace: NAMESPACE };
  return {
    csi: {
      driver: DRIVER_NAME,
      volumeHandle: handleOf(name),
      ...(hasSecret && { nodeStageSecretRef: secretRef, nodePublishSecretRef: secretRef }),
    },
  };
}

/** Some pods get one or two of the claims, in all of their containers: whole, in part, read-only. */
export function giveClaims(dice: Dice, plan: StoragePlan, pod: Pod): Pod {
  const { spec } = pod;
  const count = dice.pick([0, 1, 1, 2, 2]);
  const claims = new Set(Array.from({ length: count }, () => dice.pickAny(plan.claims)?.name ?? ""));
  if (spec === undefined || count === 0) return pod;
  const given = [...claims].map((claimName) => ({
    claimName,
    readOnly: dice.chance(0.15),
    mount: { ...(dice.chance(0.35) && { subPath: PART }), ...(dice.chance(0.2) && { readOnly: true }) },
  }));
  const dress = (container: Container): Container => ({
    ...container,
    volumeMounts: [
      ...(container.volumeMounts ?? []),
      ...given.map(({ claimName, mount }) => ({ name: claimName, mountPath: `/data/${claimName}`, ...mount })),
    ],
  });
  return {
    ...pod,
    spec: {
      ...spec,
      ...(spec.initContainers && { initContainers: spec.initContainers.map(dress) }),
      containers: spec.containers.map(dress),
      volumes: [
        ...(spec.volumes ?? []),
        ...given.map(({ claimName, readOnly }) => ({
          name: claimName,
          persistentVolumeClaim: { claimName, readOnly },
        })),
      ],
    },
  };
}

/** The claims that a pod names. */
export function claimsOf(plan: StoragePlan, { spec }: Pod): PlannedClaim[] {
  const names = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  return plan.claims.filter(({ name }) => names.includes(name));
}
