import type { Storage } from "../storage/create-storage.ts";
import type { DriverCallSeen } from "../storage/simulated-driver.ts";
import { DRIVER_NAME, handleOf } from "../storage/storage-plan.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/**
 * What the specification asks of who calls a storage driver: one call at a time for each volume; attached before staged,
 * staged before published, once; unpublished before unstaged, unstaged before it is taken from the node.
 */
export function createDriverCallsCheck(world: World, storage: Storage): Check {
  const underWay = new Map<string, string>();
  const { driver, plan } = storage;
  const isStaging = plan.capabilities.includes("STAGE_UNSTAGE_VOLUME");
  const isChanging = ({ rpc, volumeId }: DriverCallSeen) => volumeId !== undefined && rpc !== "NodeGetVolumeStats";

  const findPlace = (volumeId: string): string | undefined =>
    [...driver.staged.values()].find((entry) => entry.volumeId === volumeId)?.stagingPath ??
    [...driver.published.values()].find((entry) => entry.volumeId === volumeId)?.targetPath;

  const checkOrder = ({ rpc, volumeId = "", stagingPath, targetPath = "" }: DriverCallSeen) => {
    const staged = [...driver.staged.values()].filter((entry) => entry.volumeId === volumeId);
    const published = [...driver.published.values()].filter((entry) => entry.volumeId === volumeId);
    switch (rpc) {
      case "NodeStageVolume": {
        const other = staged.find((entry) => entry.stagingPath !== stagingPath);
        if (other) world.fail("a volume is staged once", `${volumeId} at ${other.stagingPath} and ${stagingPath}`);
        return checkAttached(volumeId);
      }
      case "NodeUnstageVolume": {
        const [user] = published;
        if (user) world.fail("nothing is unstaged while it is published", `${volumeId} at ${user.targetPath}`);
        return;
      }
      case "NodePublishVolume":
        if (isStaging && !staged.some((entry) => entry.stagingPath === stagingPath)) {
          world.fail("nothing is published before it is staged", `${volumeId} at ${targetPath}`);
        }
        return checkAttached(volumeId);
      default:
    }
  };

  const checkAttached = (volumeId: string) => {
    if (!plan.attachRequired || wasNodeDeleted()) return;
    const attachment = findAttachment(storage, volumeId);
    const isAttached = attachment?.status?.attached === true && attachment.metadata?.deletionTimestamp === undefined;
    if (!isAttached) world.fail("nothing is staged or published before it is attached", volumeId);
    const isTold = storage.node()?.status?.volumesInUse?.includes(`kubernetes.io/csi/${DRIVER_NAME}^${volumeId}`);
    if (isTold !== true) world.fail("the node says that it uses a volume before it does", volumeId);
  };

  /** With the object goes what it said of volumes, and the controller takes them from a node that it does not know. */
  const wasNodeDeleted = () => storage.nodeDeletedAt > Number.NEGATIVE_INFINITY;

  return {
    started: () => underWay.clear(),
    driverAsked(call) {
      if (!isChanging(call)) return;
      const { rpc, volumeId = "" } = call;
      const other = underWay.get(volumeId);
      if (other !== undefined) {
        world.fail("one call at a time for each volume", `${rpc} of ${volumeId} while ${other} is under way`);
      }
      underWay.set(volumeId, rpc);
      checkOrder(call);
    },
    driverAnswered(call) {
      if (isChanging(call)) underWay.delete(call.volumeId ?? "");
    },
    detached(volumeName) {
      const place = findPlace(handleOf(volumeName));
      if (place === undefined || wasNodeDeleted()) return;
      world.fail("no volume is taken from the node while it is mounted there", `${volumeName} at ${place}`);
    },
    nodeStored(node, previous) {
      // Volumes that need no attachment are in `volumesInUse` only until the node agent knows that.
      if (!plan.attachRequired || previous?.metadata?.uid !== node.metadata?.uid) return;
      const told = new Set(node.status?.volumesInUse ?? []);
      for (const name of previous?.status?.volumesInUse ?? []) {
        const place = findPlace(name.slice(name.indexOf("^") + 1));
        if (told.has(name) || place === undefined) continue;
        world.fail("the node says that it uses a volume as long as it does", `${name} at ${place}`);
      }
    },
  };
}

function findAttachment({ attacher, plan }: Storage, volumeId: string) {
  const name = plan.claims.find((claim) => handleOf(claim.name) === volumeId)?.name;
  return attacher.attachments().find(({ spec }) => spec.source.persistentVolumeName === name);
}
