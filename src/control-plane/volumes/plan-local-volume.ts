import type { PersistentVolumeSpec, StorageClass } from "../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, untyped } from "../../api/object.ts";
import { SELECTED_NODE } from "../claims/volume-claim-ref.ts";
import { isDelayedClass, storageClassOf } from "../claims/volume-match.ts";
import type { StoredClaim, StoredVolume } from "./binder-deps.ts";
import { LOCAL_PROVISIONER } from "./local-class.ts";
import { PROVISIONED_BY } from "./reclaim-volume.ts";
import { isAskedOf } from "./request-provisioning.ts";

/** It holds a volume back until the directory behind it is gone. External provisioners of upstream use this name. */
export const LOCAL_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";

/** The label by which pods and volumes are kept to a node. */
export const HOSTNAME_LABEL = "kubernetes.io/hostname";
const NAME_PREFIX = "pvc-";

/** The name of the volume that is made for a claim of this UID, and of its directory. */
export function localVolumeName(claimUid: string): string {
  return `${NAME_PREFIX}${claimUid}`;
}

/** What is done about a claim that has no volume yet. */
type LocalVolumePlan =
  | { readonly kind: "nothing" }
  /** With `reschedules`, the scheduler has to choose another node. */
  | { readonly kind: "refused"; readonly problem: string; readonly reschedules?: boolean }
  | { readonly kind: "provision"; readonly volume: KubeObject };

/** The facts by which a claim is judged. */
interface LocalVolumeFacts {
  /** The claim's class; undefined when it is gone. */
  readonly storageClass: StorageClass | undefined;
  /** The node that keeps the directories, and where the claim's would be. */
  readonly nodeName: string;
  readonly path: string;
  /** The object of that node; undefined when it is gone. */
  readonly node: ObjectOf<"Node"> | undefined;
}

/** Plans the volume of a claim that asks for a local directory. */
export function planLocalVolume(claim: StoredClaim, facts: LocalVolumeFacts): LocalVolumePlan {
  const { metadata, spec } = claim;
  if (!isAskedOf(claim, LOCAL_PROVISIONER) || spec?.volumeName || metadata.deletionTimestamp !== undefined) {
    return { kind: "nothing" };
  }
  const problem = whyRefused(claim, facts);
  if (problem !== undefined) return { kind: "refused", problem };
  const selected = metadata.annotations?.[SELECTED_NODE];
  // The scheduler has not chosen yet, or is about to choose again.
  if (selected === undefined) return { kind: "nothing" };
  if (selected !== facts.nodeName) {
    const where = `local directories are kept on node "${facts.nodeName}" only, and the pod goes to "${selected}"`;
    return { kind: "refused", problem: where, reschedules: true };
  }
  if (facts.node === undefined) return { kind: "refused", problem: `node "${selected}" not found` };
  return { kind: "provision", volume: volumeFor(claim, facts) };
}

function whyRefused({ spec = {} }: StoredClaim, { storageClass }: LocalVolumeFacts): string | undefined {
  if (storageClass === undefined) return "the storage class is gone";
  const [parameter] = Object.keys(storageClass.parameters ?? {});
  if (parameter !== undefined) return `the storage class has the unknown parameter "${parameter}"; there are none`;
  if (!isDelayedClass(storageClass)) {
    return "the storage class must have volumeBindingMode WaitForFirstConsumer, because a directory is on one node";
  }
  if (spec.volumeMode === "Block") return "spec.volumeMode Block is not supported: a directory is no block device";
  if (spec.selector !== undefined) return "spec.selector is not supported";
  const source = spec.dataSourceRef ?? spec.dataSource;
  if (source !== undefined) return `spec.dataSource (${source.kind} "${source.name}") is not supported`;
  return undefined;
}

function volumeFor(claim: StoredClaim, { storageClass, path, nodeName, node }: LocalVolumeFacts): KubeObject {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = claim.metadata;
  const hostname = node?.metadata.labels?.[HOSTNAME_LABEL] ?? nodeName;
  const spec: PersistentVolumeSpec = {
    accessModes: claim.spec?.accessModes ?? [],
    // Nothing enforces a size. The volume says what was asked for, because a claim binds to nothing smaller.
    capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "0" },
    claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion },
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME_LABEL, operator: "In", values: [hostname] }] }],
      },
    },
    persistentVolumeReclaimPolicy: storageClass?.reclaimPolicy ?? "Delete",
    storageClassName: storageClassOf(claim),
    volumeMode: "Filesystem",
    ...(storageClass?.mountOptions && { mountOptions: storageClass.mountOptions }),
  };
  return untyped({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: localVolumeName(uid),
      annotations: { [PROVISIONED_BY]: LOCAL_PROVISIONER },
      finalizers: [LOCAL_FINALIZER],
    },
    spec,
  });
}

/** The next step of a volume's end: its directory goes first, then its object, and at last the finalizer. */
type LocalReclaimStep =
  | { readonly kind: "keep" }
  /** The volume goes and its directory stays. */
  | { readonly kind: "let-go" }
  | { readonly kind: "delete" }
  | { readonly kind: "refused"; readonly problem: string };

/**
 * Plans what becomes of a volume. `path` is where the directory of a volume of this name is: a volume that anybody may
 * have written is not believed when it names another one. `isClaimed` is true while its claim exists.
 */
export function planLocalReclaim(
  { metadata, spec, status }: StoredVolume,
  { path, isClaimed }: { path: string; isClaimed: boolean },
): LocalReclaimStep {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const isDone = isDeleted && metadata.finalizers?.includes(LOCAL_FINALIZER) !== true;
  if (metadata.annotations?.[PROVISIONED_BY] !== LOCAL_PROVISIONER || isClaimed || isDone) return { kind: "keep" };
  if (status?.phase === "Bound") return { kind: "keep" };
  if (spec?.persistentVolumeReclaimPolicy !== "Delete") return { kind: isDeleted ? "let-go" : "keep" };
  // A volume that was taken from its claim by hand waits for another one.
  if (status?.phase !== "Released" && !isDeleted) return { kind: "keep" };
  if (spec.local?.path === path) return { kind: "delete" };
  const problem = `spec.local.path is not ${path}, where nodelet keeps a volume of this name; nothing is removed`;
  return isDeleted ? { kind: "let-go" } : { kind: "refused", problem };
}
