import type { Pod, Volume } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION } from "../../../api/well-known.ts";

/** The node that a mirror pod belongs to, and with which it is removed. */
interface MirrorOwner {
  readonly nodeName: string;
  readonly nodeUid: string;
}

/** The identity of a static pod's manifest, that its mirror carries; empty for a pod that no source has marked. */
export function manifestHash(staticPod: Pod): string {
  return staticPod.metadata?.annotations?.[CONFIG_HASH_ANNOTATION] ?? "";
}

/** The identity of the manifest that a mirror shows; undefined for a pod that is no mirror. */
export function mirroredHash(pod: Pod): string | undefined {
  return pod.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION];
}

/** The pod to create for a static pod (upstream: `CreateMirrorPod`, pkg/kubelet/pod/mirror_client.go). */
export function makeMirrorPod(staticPod: Pod, { nodeName, nodeUid }: MirrorOwner): Pod {
  const { name = "", namespace = "", labels, annotations, finalizers } = staticPod.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      ...(labels && { labels }),
      ...(finalizers && { finalizers }),
      annotations: { ...annotations, [CONFIG_MIRROR_ANNOTATION]: manifestHash(staticPod) },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid, controller: true }],
    },
    spec: { ...staticPod.spec, containers: staticPod.spec?.containers ?? [], nodeName },
  };
}

/**
 * The reference to an API object that a mirror must not have: by creating the mirror a node would gain access to the
 * object (upstream: plugin/pkg/admission/noderestriction, CVE-2025-4563). No source admits such a static pod; this
 * check is the second one.
 */
export function findForbiddenReference({ spec }: Pod): string | undefined {
  if (spec === undefined) return undefined;
  if (spec.serviceAccountName || spec.serviceAccount) return "a service account";
  if (spec.imagePullSecrets?.length) return "secrets";
  if (spec.resourceClaims?.length) return "resourceclaims";
  for (const { container } of podContainers({ spec })) {
    for (const { secretRef, configMapRef } of container.envFrom ?? []) {
      if (secretRef) return "secrets";
      if (configMapRef) return "configmaps";
    }
    for (const { valueFrom } of container.env ?? []) {
      if (valueFrom?.secretKeyRef) return "secrets";
      if (valueFrom?.configMapKeyRef) return "configmaps";
    }
  }
  return firstOf(spec.volumes ?? [], findVolumeReference);
}

function findVolumeReference(volume: Volume): string | undefined {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  const drivers = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos];
  if (volume.secret || azureFile || csi?.nodePublishSecretRef || drivers.some((driver) => driver?.secretRef)) {
    return "secrets";
  }
  if (volume.configMap) return "configmaps";
  if (volume.persistentVolumeClaim || volume.ephemeral) return "persistentvolumeclaims";
  return firstOf(volume.projected?.sources ?? [], (source) => {
    if (source.secret) return "secrets";
    if (source.configMap) return "configmaps";
    if (source.serviceAccountToken) return "a service account";
    if (source.clusterTrustBundle) return "clustertrustbundles";
    return source.podCertificate && "podcertificates";
  });
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
