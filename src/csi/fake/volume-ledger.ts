import type { CsiNodeCapability, CsiPublishRequest, CsiStageRequest, CsiVolumeUse } from "../port.ts";
import { refusal } from "./refusal.ts";

/** A volume that is staged on this node. */
export interface StagedVolume {
  readonly volumeId: string;
  readonly stagingPath: string;
  readonly use: CsiVolumeUse;
}

/** A volume that is published to a pod. */
export interface PublishedVolume {
  readonly volumeId: string;
  readonly targetPath: string;
  /** Undefined for drivers that do not stage. */
  readonly stagingPath: string | undefined;
  readonly use: CsiVolumeUse;
  readonly readOnly: boolean;
}

/** The volumes that a driver knows of on this node: by staging path and by target path. */
interface VolumeLedger {
  readonly staged: ReadonlyMap<string, StagedVolume>;
  readonly published: ReadonlyMap<string, PublishedVolume>;
}

type Capabilities = ReadonlySet<CsiNodeCapability>;

/**
 * Decides what a driver must do with a request to stage, as the specification has it: nothing (`done`), or its work.
 * Throws for a request that it must refuse.
 */
export function judgeStage(ledger: VolumeLedger, request: CsiStageRequest, capabilities: Capabilities): Verdict {
  requireCapability(capabilities, "STAGE_UNSTAGE_VOLUME");
  judgeUse(request.use, capabilities);
  const earlier = ledger.staged.get(request.stagingPath);
  if (earlier === undefined) return "to-do";
  if (isSame(earlier, stagedBy(request))) return "done";
  throw refusal("already-exists", `${request.stagingPath} is staged already, in another way`);
}

/**
 * Decides as `judgeStage` does. The caller has to unpublish first; a driver that let the request pass would pull a
 * volume from under a pod.
 */
export function judgeUnstage(
  { staged, published }: VolumeLedger,
  { volumeId, stagingPath }: { volumeId: string; stagingPath: string },
  capabilities: Capabilities,
): Verdict {
  requireCapability(capabilities, "STAGE_UNSTAGE_VOLUME");
  const user = [...published.values()].find((entry) => entry.stagingPath === stagingPath);
  if (user) throw refusal("failed-precondition", `volume ${volumeId} is still published at ${user.targetPath}`);
  return staged.get(stagingPath)?.volumeId === volumeId ? "to-do" : "done";
}

/** Decides as `judgeStage` does. */
export function judgePublish(ledger: VolumeLedger, request: CsiPublishRequest, capabilities: Capabilities): Verdict {
  const { volumeId, stagingPath, targetPath, use } = request;
  judgeUse(use, capabilities);
  if (capabilities.has("STAGE_UNSTAGE_VOLUME") && !isEphemeral(request)) {
    if (stagingPath === undefined) throw refusal("failed-precondition", "staging target path missing in request");
    if (ledger.staged.get(stagingPath)?.volumeId !== volumeId) {
      throw refusal("failed-precondition", `volume ${volumeId} is not staged at ${stagingPath}`);
    }
  }
  const earlier = ledger.published.get(targetPath);
  if (earlier !== undefined) {
    if (isSame(earlier, publishedBy(request))) return "done";
    throw refusal("already-exists", `${targetPath} is published already, in another way`);
  }
  const other = [...ledger.published.values()].find((entry) => entry.volumeId === volumeId);
  if (other && use.accessMode === "SINGLE_NODE_SINGLE_WRITER") {
    throw refusal("failed-precondition", `volume ${volumeId} has its single writer at ${other.targetPath}`);
  }
  return "to-do";
}

/** Decides as `judgeStage` does, and refuses nothing. */
export function judgeUnpublish(
  { published }: VolumeLedger,
  { volumeId, targetPath }: { volumeId: string; targetPath: string },
): Verdict {
  return published.get(targetPath)?.volumeId === volumeId ? "to-do" : "done";
}

/**
 * Throws where the volume is neither staged nor published at the path, because a driver cannot measure or expand it
 * then.
 */
export function judgePath({ staged, published }: VolumeLedger, volumeId: string, path: string): void {
  const entry = published.get(path) ?? staged.get(path);
  if (entry?.volumeId !== volumeId) throw refusal("not-found", `volume ${volumeId} is not at ${path}`);
}

/** Throws `unimplemented` for a capability that the driver does not report. */
export function requireCapability(capabilities: Capabilities, capability: CsiNodeCapability): void {
  if (!capabilities.has(capability)) throw refusal("unimplemented", `this driver has no ${capability}`);
}

type Verdict = "done" | "to-do";

/** The ledger's entry for a request. */
export function stagedBy({ volumeId, stagingPath, use }: CsiStageRequest): StagedVolume {
  return { volumeId, stagingPath, use };
}

/** The ledger's entry for a request. */
export function publishedBy(request: CsiPublishRequest): PublishedVolume {
  const { volumeId, targetPath, stagingPath, use, readOnly } = request;
  return { volumeId, targetPath, stagingPath, use, readOnly };
}

/** True for an inline volume of a pod, which lives as long as it is published and is never staged. */
export function isEphemeral({ volumeContext }: Pick<CsiPublishRequest, "volumeContext">): boolean {
  return volumeContext["csi.storage.k8s.io/ephemeral"] === "true";
}

/**
 * Both values were made here, so their keys have one order. One may have been on a disk, which drops undefined values.
 */
function isSame(earlier: StagedVolume | PublishedVolume, now: StagedVolume | PublishedVolume): boolean {
  return JSON.stringify(earlier) === JSON.stringify(now);
}

/** Callers first ask what a driver can do, and leave the rest out. */
function judgeUse({ access, accessMode }: CsiVolumeUse, capabilities: Capabilities): void {
  const needsModes = accessMode === "SINGLE_NODE_SINGLE_WRITER" || accessMode === "SINGLE_NODE_MULTI_WRITER";
  if (needsModes && !capabilities.has("SINGLE_NODE_MULTI_WRITER")) {
    throw refusal("invalid-argument", `this driver does not know the access mode ${accessMode}`);
  }
  if (access.kind === "mount" && access.mountGroup !== undefined && !capabilities.has("VOLUME_MOUNT_GROUP")) {
    throw refusal("invalid-argument", "this driver takes no volume mount group");
  }
}
