import type { ResourceRequirements } from "../../../api/gen/types.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Tasks } from "../../../base/tasks.ts";
import type { Files } from "../../../host/port.ts";
import type { PodResourceInfo } from "./pod-resource-info.ts";
import { decodeResourceCheckpoint, encodeResourceCheckpoint } from "./resource-checkpoint.ts";

/**
 * The resources of pods, in memory and in a checkpoint on disk that either kubelet reads: those that the node has granted
 * (allocated), or those that containers have got (actuated). What is set goes to the disk in the background. A failure is
 * logged, and made up for by the next change; a pod that was forgotten leaves the file then as well.
 */
export interface ResourceRecords {
  get(uid: string): PodResourceInfo | undefined;
  set(uid: string, info: PodResourceInfo): void;
  setContainer(uid: string, name: string, resources: ResourceRequirements): void;
  forget(uid: string): void;
  /** Forgets the pods of an agent before this one that are not on the node any more. */
  keepOnly(isKnown: (uid: string) => boolean): void;
}

interface ResourceRecordsDeps {
  readonly files: Pick<Files, "read" | "exchange">;
  readonly log: Log;
  readonly tasks: Pick<Tasks, "spawn">;
}

/** More than 10,000 pods of 16 containers need. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the checkpoint at `path`. A missing one is empty. One that is broken counts as empty too and is logged: running
 * pods keep what they have, and what they ask for is taken for what they were granted.
 */
export async function openResourceRecords(deps: ResourceRecordsDeps, path: string): Promise<ResourceRecords> {
  const infos = await readCheckpoint(deps, path);
  let isWriting = false;
  let isDirty = false;

  const write = async (): Promise<void> => {
    isWriting = true;
    try {
      while (isDirty) {
        isDirty = false;
        // A machine that has crashed begins its pods anew, so that the records before these will do.
        await deps.files.exchange(path, encodeResourceCheckpoint(infos), 0o600);
      }
    } catch (error) {
      deps.log.error("Failed to save pod resource information checkpoint", { path, error: messageOf(error) });
    } finally {
      isWriting = false;
    }
  };

  const set = (uid: string, info: PodResourceInfo): void => {
    if (JSON.stringify(infos.get(uid)) === JSON.stringify(info)) return;
    infos.set(uid, info);
    isDirty = true;
    if (!isWriting) deps.tasks.spawn("resource records", write);
  };

  return {
    get: (uid) => infos.get(uid),
    set,
    setContainer(uid, name, resources) {
      const { containers = {}, ...info } = infos.get(uid) ?? {};
      set(uid, { ...info, containers: { ...containers, [name]: resources } });
    },
    forget: (uid) => infos.delete(uid),
    keepOnly(isKnown) {
      for (const uid of infos.keys()) if (!isKnown(uid)) infos.delete(uid);
    },
  };
}

async function readCheckpoint(
  { files, log }: ResourceRecordsDeps,
  path: string,
): Promise<Map<string, PodResourceInfo>> {
  try {
    const infos = decodeResourceCheckpoint((await files.read(path, MAX_BYTES)).toString("utf8"));
    if (infos !== undefined) return infos;
    log.error("A checkpoint of the resources of pods is broken and counts for nothing", { path });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") log.error("A checkpoint cannot be read", { path, error: messageOf(error) });
  }
  return new Map();
}
