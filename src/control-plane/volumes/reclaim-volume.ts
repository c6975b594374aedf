import { typed } from "../../api/object.ts";
import { isPodTerminated } from "../claims/pod-claims.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { podNameOf } from "../control-loop/pods-by-node.ts";
import { type BinderDeps, enterPhase, readClaim, type StoredVolume } from "./binder-deps.ts";

/** An annotation of a volume that names its provisioner, which also deletes the storage behind it. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
/** An annotation of a volume that names the CSI driver to which its in-tree plugin was migrated. */
const MIGRATED_TO = "pv.kubernetes.io/migrated-to";
const IN_TREE_PREFIX = "kubernetes.io/";

/**
 * Treats a released volume as its reclaim policy says (`reclaimVolume`). Deleting and recycling need a plugin, which
 * the control plane does not have: drivers delete the volumes that they provisioned, and for all others a failure is
 * recorded.
 */
export async function reclaim(deps: BinderDeps, volume: StoredVolume): Promise<void> {
  if (volume.metadata.annotations?.[MIGRATED_TO]) return;
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case "Retain":
      return;
    case "Delete":
      await fail(deps, volume, { reason: "VolumeFailedDelete", message: whyNotDeleted(volume) });
      return;
    case "Recycle":
      await recycle(deps, volume);
      return;
    default:
      await fail(deps, volume, {
        reason: "VolumeUnknownReclaimPolicy",
        message: "Volume has unrecognized PersistentVolumeReclaimPolicy",
      });
  }
}

async function fail(
  deps: BinderDeps,
  volume: StoredVolume,
  { reason, message }: { reason: string; message: string | undefined },
): Promise<void> {
  if (message === undefined) return;
  await enterPhase(deps, volume, { phase: "Failed", event: { type: "Warning", reason, message } });
}

/** Says why the volume is not deleted; undefined for a volume that an external provisioner deletes. */
function whyNotDeleted({ metadata, spec }: StoredVolume): string | undefined {
  const provisioner = metadata.annotations?.[PROVISIONED_BY] ?? "";
  if (provisioner.startsWith(IN_TREE_PREFIX)) return `no volume plugin matched name: ${provisioner}`;
  if (provisioner !== "" || spec?.csi !== undefined) return undefined;
  const { name = "" } = metadata;
  return `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`;
}

/**
 * Waits while pods of the deleted claim still use the volume. When another claim has the same name now, the pods belong
 * to that one.
 */
async function recycle(deps: BinderDeps, volume: StoredVolume): Promise<void> {
  const claimKey = namespacedKeyOf(volume.spec?.claimRef ?? {});
  const users = readClaim(deps, claimKey) === undefined ? findUsers(deps, claimKey) : [];
  if (users.length === 0) {
    await fail(deps, volume, {
      reason: "VolumeFailedRecycle",
      message: "No recycler plugin found for the volume!",
    });
    return;
  }
  const message = `Volume is used by pods: ${users.join(",")}`;
  deps.events.record({ about: volume, type: "Normal", reason: "VolumeFailedRecycle", message });
}

function findUsers({ reader, podsOf }: BinderDeps, claimKey: string): string[] {
  const users = podsOf(claimKey).filter((key) => {
    const pod = reader.get(podNameOf(key));
    return pod !== undefined && !isPodTerminated(typed("Pod", pod));
  });
  return users.sort();
}
