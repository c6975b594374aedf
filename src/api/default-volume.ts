import { defaultFieldRef, roundResources } from "./default-field.ts";
import type { PersistentVolumeClaimSpec, Volume, VolumeProjection } from "./gen/types.ts";
import { defaultImagePullPolicy } from "./image-reference.ts";

/** Files of secrets, config maps, the downward API and projections are readable by all unless the pod says otherwise. */
const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_TOKEN_EXPIRATION_SECONDS = 3600;
const DEFAULT_CERTIFICATE_SECONDS = 86_400;

/** Sets in place what kube-apiserver sets in a pod's volume. */
export function defaultVolume(volume: Volume): void {
  if (Object.keys(volume).every((field) => field === "name")) volume.emptyDir = {};
  if (volume.hostPath) volume.hostPath.type ??= "";
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) {
    if (source) source.defaultMode ??= DEFAULT_FILE_MODE;
  }
  for (const item of volume.downwardAPI?.items ?? []) defaultFieldRef(item.fieldRef);
  for (const source of volume.projected?.sources ?? []) defaultProjection(source);
  if (volume.image) volume.image.pullPolicy ||= defaultImagePullPolicy(volume.image.reference ?? "");
  if (volume.ephemeral?.volumeClaimTemplate) defaultClaim(volume.ephemeral.volumeClaimTemplate.spec);
  defaultLegacyVolume(volume);
}

function defaultProjection({ downwardAPI, serviceAccountToken, podCertificate }: VolumeProjection): void {
  for (const item of downwardAPI?.items ?? []) defaultFieldRef(item.fieldRef);
  if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= DEFAULT_TOKEN_EXPIRATION_SECONDS;
  if (podCertificate) podCertificate.maxExpirationSeconds ??= DEFAULT_CERTIFICATE_SECONDS;
}

function defaultClaim(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= "Filesystem";
  roundResources(spec.resources?.limits);
  roundResources(spec.resources?.requests);
}

function defaultLegacyVolume({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= "default";
  if (rbd) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.kind ??= "Shared";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
  }
  if (scaleIO) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}
