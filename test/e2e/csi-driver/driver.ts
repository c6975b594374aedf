import { statfs } from "node:fs/promises";
import { refusal } from "../../../src/csi/fake/refusal.ts";
import type { CsiDriverServices } from "../../../src/csi/fake/serve-csi.ts";
import {
  isEphemeral,
  judgePath,
  judgePublish,
  judgeStage,
  judgeUnpublish,
  judgeUnstage,
  publishedBy,
  requireCapability,
  stagedBy,
} from "../../../src/csi/fake/volume-ledger.ts";
import type { CsiVolumeStats, CsiVolumeUse } from "../../../src/csi/port.ts";
import type { BackingVolume, BackingVolumes } from "./backing-volumes.ts";
import type { Control, VolumeSpec } from "./control.ts";
import { isMounted } from "./programs.ts";
import type { State } from "./state.ts";

interface DriverDeps {
  name: string;
  /** As it stands now. */
  control(): Control;
  state: State;
  volumes: BackingVolumes;
}

/** The driver itself: what it notes follows what it did, so that one that was killed between the two does it again. */
export function createDriver({ name, control, state, volumes }: DriverDeps): CsiDriverServices {
  const capabilities = () => new Set(control().capabilities);
  const find = (id: string): BackingVolume => {
    const spec = state.ephemeral.has(id) ? EPHEMERAL : (control().volumes[id] ?? control().otherVolumes);
    if (spec === undefined) throw refusal("not-found", `volume ${id} does not exist`);
    return { id, kind: spec.kind, sizeBytes: state.sizes.get(id) ?? spec.sizeBytes ?? DEFAULT_SIZE_BYTES };
  };
  return {
    pluginInfo: async () => ({ name, version: control().version }),
    async info() {
      const { nodeId, maxVolumes, topology } = control();
      return { nodeId, maxVolumes: maxVolumes > 0 ? BigInt(maxVolumes) : undefined, topology };
    },
    capabilities: async () => capabilities(),

    async stage(request) {
      const { stagingPath, use } = request;
      const volume = find(request.volumeId);
      const verdict = judgeStage(state, request, capabilities());
      // A machine that was started anew has our notes and not our mounts.
      if (verdict === "done" && (use.access.kind === "block" || (await isMounted(stagingPath)))) return;
      await volumes.mount(volume, stagingPath, use);
      state.staged.set(stagingPath, stagedBy(request));
      state.save();
    },
    async unstage(request) {
      const verdict = judgeUnstage(state, request, capabilities());
      // Another volume's. Without any note there may be a mount nevertheless.
      if (verdict === "done" && state.staged.has(request.stagingPath)) return;
      await volumes.unmount(request.stagingPath);
      state.staged.delete(request.stagingPath);
      state.save();
    },

    async publish(request) {
      if (isEphemeral(request)) {
        state.ephemeral.add(request.volumeId);
        state.save();
      }
      const volume = find(request.volumeId);
      const verdict = judgePublish(state, request, capabilities());
      if (verdict === "done" && (await isMounted(request.targetPath))) return;
      await volumes.publish(volume, request);
      state.published.set(request.targetPath, publishedBy(request));
      state.save();
    },
    async unpublish({ volumeId, targetPath }) {
      const verdict = judgeUnpublish(state, { volumeId, targetPath });
      if (verdict === "done" && state.published.has(targetPath)) return;
      await volumes.unpublish(targetPath);
      state.published.delete(targetPath);
      if (!isShown(state, volumeId)) await volumes.detach(volumeId);
      if (state.ephemeral.has(volumeId)) await volumes.remove(volumeId);
      state.ephemeral.delete(volumeId);
      state.save();
    },

    async expand({ volumeId, volumePath, stagingPath = volumePath, requiredBytes, use }) {
      requireCapability(capabilities(), "EXPAND_VOLUME");
      const volume = find(volumeId);
      judgePath(state, volumeId, volumePath);
      const bytes = Math.max(Number(requiredBytes), volume.sizeBytes);
      await volumes.expand({ ...volume, sizeBytes: bytes }, { mountedAt: stagingPath, access: use.access.kind });
      state.sizes.set(volumeId, bytes);
      state.save();
      return BigInt(bytes);
    },
    async stats({ volumeId, volumePath }) {
      requireCapability(capabilities(), "GET_VOLUME_STATS");
      find(volumeId);
      judgePath(state, volumeId, volumePath);
      const { access } = (state.published.get(volumePath) ?? state.staged.get(volumePath))?.use ?? MOUNT;
      const condition = capabilities().has("VOLUME_CONDITION")
        ? (control().conditions[volumeId] ?? { abnormal: false, message: "" })
        : undefined;
      return { usage: access.kind === "block" ? [] : await readUsage(volumePath), condition };
    },
  };
}

/** Undoes every mount; for a driver that is told to clean up when it ends. */
export async function unmountEverything({ state, volumes }: Pick<DriverDeps, "state" | "volumes">): Promise<void> {
  for (const path of state.published.keys()) await volumes.unpublish(path);
  for (const { volumeId } of state.published.values()) await volumes.detach(volumeId);
  for (const path of state.staged.keys()) await volumes.unmount(path);
  state.published.clear();
  state.staged.clear();
  state.save();
}

const DEFAULT_SIZE_BYTES = 32 * 1024 * 1024;
const EPHEMERAL: VolumeSpec = { kind: "directory" };
const MOUNT: Pick<CsiVolumeUse, "access"> = { access: { kind: "mount", fsType: "", mountFlags: [] } };

/** Whether a loop device of the volume is in use: for a staged file system, or where a block device is published. */
function isShown({ published, staged }: State, volumeId: string): boolean {
  const isMounted = [...staged.values()].some(
    (entry) => entry.volumeId === volumeId && entry.use.access.kind === "mount",
  );
  return isMounted || [...published.values()].some((entry) => entry.volumeId === volumeId);
}

async function readUsage(path: string): Promise<CsiVolumeStats["usage"]> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path, { bigint: true });
  return [
    { unit: "BYTES", available: bavail * bsize, total: blocks * bsize, used: (blocks - bfree) * bsize },
    { unit: "INODES", available: ffree, total: files, used: files - ffree },
  ];
}
