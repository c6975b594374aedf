import { isRecord } from "../../../api/object.ts";
import { codeOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import { tryParseJson } from "../../../base/parse-json.ts";
import type { IDMapping } from "../../../cri/gen/cri-v1.ts";
import type { Files } from "../../../host/port.ts";
import { type IdRange, readPodIdRange, UserNamespaceError } from "./subordinate-ids.ts";

/** The host's IDs that the pod sees as its own, from 0 on. */
interface UserNamespaceIds {
  uids: IDMapping[];
  gids: IDMapping[];
}

/**
 * Holds which host IDs each pod with `hostUsers: false` has; no two pods share one. The IDs are kept in the pod's
 * directory, in upstream's format, so that a restarted node agent (this one or Go's) finds which IDs own the pod's
 * files and sandbox.
 */
interface UserNamespaces {
  /**
   * Returns the pod's IDs, which stay the same at every call. The pod's directory must exist. Rejects when no IDs are
   * left, and when the record of an earlier run cannot be read, because then it is not known which IDs are free.
   */
  mappingOf(uid: string): Promise<UserNamespaceIds>;
  /** The caller calls it when the pod's directory is gone; afterwards another pod may get its IDs. */
  release(uid: string): Promise<void>;
}

export interface UserNamespacesOptions {
  /** kubelet's `--root-dir`. */
  rootDirectory: string;
  /** `maxPods`: the range must have room for this many pods. */
  maxPods: number;
  /** `userNamespaces.idsPerPod`, a multiple of 65,536. Default 65,536. */
  idsPerPod?: number | undefined;
}

const DEFAULT_IDS_PER_POD = 65_536;
const MAX_FILE_BYTES = 1024 * 1024;
/** (uid_t)-1 means "none": no namespace may map it, and the kernel refuses the range that ends with it. */
const LAST_ID = 2 ** 32 - 1;

/** Nothing is read before the first pod asks, because a node without such pods needs no range. */
export function createUserNamespaces(deps: { files: Files }, options: UserNamespacesOptions): UserNamespaces {
  const { files } = deps;
  const { rootDirectory, maxPods, idsPerPod = DEFAULT_IDS_PER_POD } = options;
  const podsDirectory = `${rootDirectory}/pods`;
  const fileOf = (uid: string) => `${podsDirectory}/${uid}/userns`;
  /**
   * A range stays the pod's even when it could not be noted, because it is not known then how much of the file reached
   * the disk.
   */
  const used = new Map<string, { range: IdRange; isNoted: boolean }>();
  /** Calls run one at a time, so that no other call takes free IDs between finding and noting them. */
  const turns = createLimiter(1);
  let recovered: IdRange | undefined;
  let nextSlot = 0;

  const readText = async (path: string): Promise<string | undefined> => {
    try {
      return (await files.read(path, MAX_FILE_BYTES)).toString("utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
      throw error;
    }
  };

  const readNoted = async (uid: string): Promise<IdRange | undefined> => {
    const text = await readText(fileOf(uid));
    // As upstream does, a file without content is treated as one that was never written.
    return text === undefined || text === "" ? undefined : parseMappings(text, fileOf(uid));
  };

  const recover = async (): Promise<IdRange> => {
    const [passwd, subuid, subgid] = await Promise.all(["/etc/passwd", "/etc/subuid", "/etc/subgid"].map(readText));
    const range = readPodIdRange({ passwd, subuid, subgid }, idsPerPod, maxPods);
    if ((await files.stat(podsDirectory)) === undefined) return range;
    for (const { name, type } of await files.list(podsDirectory)) {
      const noted = type === "directory" ? await readNoted(name) : undefined;
      if (noted !== undefined) used.set(name, { range: noted, isNoted: true });
    }
    return range;
  };

  const findFree = (range: IdRange): IdRange => {
    const slots = Math.floor(range.length / idsPerPod);
    for (let tried = 0; tried < slots; tried++) {
      // The search goes onwards and does not start over, so that files that a pod left behind have no new owner for as
      // long as possible.
      const firstId = range.firstId + ((nextSlot + tried) % slots) * idsPerPod;
      const free = { firstId, length: idsPerPod };
      if (firstId + idsPerPod > LAST_ID || [...used.values()].some(({ range: taken }) => overlap(taken, free)))
        continue;
      nextSlot = (nextSlot + tried + 1) % slots;
      return free;
    }
    const message = "create user namespace: could not find an empty slot to allocate a user namespace";
    throw new UserNamespaceError("exhausted", message);
  };

  const allocate = async (uid: string): Promise<IdRange> => {
    recovered ??= await recover();
    const known = used.get(uid);
    if (known?.isNoted === true) return known.range;
    const own = known?.range ?? findFree(recovered);
    used.set(uid, { range: own, isNoted: false });
    await files.writeAtomically(fileOf(uid), JSON.stringify(formatMappings(own)), 0o644);
    used.set(uid, { range: own, isNoted: true });
    return own;
  };

  return {
    async mappingOf(uid) {
      const { firstId, length } = await turns.run(async () => await allocate(uid));
      const ids = { hostId: firstId, containerId: 0, length };
      return { uids: [{ ...ids }], gids: [{ ...ids }] };
    },
    async release(uid) {
      await turns.run(async () => used.delete(uid));
    },
  };
}

function overlap(a: IdRange, b: IdRange): boolean {
  return a.firstId < b.firstId + b.length && b.firstId < a.firstId + a.length;
}

function formatMappings({ firstId, length }: IdRange): object {
  const mappings = [{ hostId: firstId, containerId: 0, length }];
  return { uidMappings: mappings, gidMappings: mappings };
}

/** A record holds one range from 0 on, for users and groups alike. No other form was ever written. */
function parseMappings(text: string, path: string): IdRange {
  const root = tryParseJson(text);
  const [uids, gids] = isRecord(root) ? [onlyRange(root["uidMappings"]), onlyRange(root["gidMappings"])] : [];
  if (uids === undefined || gids === undefined || uids.firstId !== gids.firstId || uids.length !== gids.length) {
    throw new UserNamespaceError("record-unreadable", `user namespace: invalid user namespace mappings file: ${path}`);
  }
  return uids;
}

function onlyRange(mappings: unknown): IdRange | undefined {
  if (!Array.isArray(mappings) || mappings.length !== 1) return undefined;
  const [mapping]: unknown[] = mappings;
  if (!isRecord(mapping) || mapping["containerId"] !== 0) return undefined;
  const { hostId: firstId, length } = mapping;
  if (typeof firstId !== "number" || typeof length !== "number") return undefined;
  const isSound = Number.isInteger(firstId) && Number.isInteger(length) && firstId > 0 && length > 0;
  return isSound && firstId + length <= LAST_ID ? { firstId, length } : undefined;
}
