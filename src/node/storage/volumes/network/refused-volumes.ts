import type { PersistentVolumeSpec, Volume } from "../../../../api/gen/types.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin, VolumeSource } from "../volume-plugin.ts";

/** Kinds of volumes that Kubernetes still has fields for, and that the node agent does not support. */
type RefusedKind = Extract<
  keyof Volume | keyof PersistentVolumeSpec,
  | "cephfs"
  | "flexVolume"
  | "flocker"
  | "gitRepo"
  | "glusterfs"
  | "photonPersistentDisk"
  | "quobyte"
  | "rbd"
  | "scaleIO"
  | "storageos"
>;

const REMOVED = (release: string) => `was removed from Kubernetes in ${release}`;

/** Why each kind is refused, and what to use instead. */
export const REFUSED_VOLUME_KINDS: Readonly<Record<RefusedKind, string>> = {
  cephfs: `${REMOVED("1.31")}: use a volume of the CSI driver cephfs.csi.ceph.com`,
  flexVolume: "is deprecated and not supported by nodelet: use a volume of a CSI driver",
  flocker: `${REMOVED("1.25")}: use a volume of a CSI driver`,
  gitRepo:
    "is disabled in Kubernetes, since repositories could run commands on the node: " +
    "clone in an init container into an emptyDir",
  glusterfs: `${REMOVED("1.26")}: use a volume of a CSI driver`,
  photonPersistentDisk: "is no longer supported by Kubernetes: use a volume of a CSI driver",
  quobyte: `${REMOVED("1.25")}: use a volume of a CSI driver`,
  rbd: `${REMOVED("1.31")}: use a volume of the CSI driver rbd.csi.ceph.com`,
  scaleIO: "is no longer supported by Kubernetes: use a volume of a CSI driver",
  storageos: `${REMOVED("1.25")}: use a volume of a CSI driver`,
};

/**
 * Why this volume of a pod can never be set up by this node agent; undefined where it may be. Admission asks for it, because
 * a pod that waited for such a volume would wait for ever.
 */
export function findRefusedVolume(volume: Volume): string | undefined {
  const refusal = findRefusal(volume);
  return refusal && `volume "${volume.name}": ${refusal}`;
}

/** Stands for all of these kinds, those of claims included: its set-up says why there is none. */
export function createRefusedPlugin(): VolumePlugin {
  const refusalOf = (source: VolumeSource) => {
    return findRefusal(source.kind === "pod" ? source.volume : (source.persistentVolume.spec ?? {}));
  };
  return {
    name: "nodelet/refused",
    supports: (source) => refusalOf(source) !== undefined,
    setUp: async ({ source }) => await Promise.reject(new VolumeSetUpError("unsupported", refusalOf(source) ?? "")),
  };
}

function findRefusal(fields: object): string | undefined {
  for (const [kind, reason] of Object.entries(REFUSED_VOLUME_KINDS)) {
    if (Object.hasOwn(fields, kind)) return `the volume kind ${kind} ${reason}`;
  }
  return undefined;
}
