import { CodedError } from "../../../base/errors.ts";
/** A run of the host's user and group IDs from which pods' user namespaces are cut. */
export interface IdRange {
  readonly firstId: number;
  readonly length: number;
}

/**
 * Why a pod gets no IDs of its own, in upstream's words:
 * - `range-unusable`: the host sets no range aside that pods' IDs can be cut from;
 * - `record-unreadable`: what an earlier node agent noted of a pod's IDs makes no sense;
 * - `exhausted`: every part of the range belongs to a pod.
 */
export class UserNamespaceError extends CodedError<"range-unusable" | "record-unreadable" | "exhausted"> {
  override readonly name = "UserNamespaceError";
}

/** The three files of the host; undefined for one that does not exist. */
export interface SubordinateIdFiles {
  readonly passwd: string | undefined;
  readonly subuid: string | undefined;
  readonly subgid: string | undefined;
}

/** The user whose subordinate IDs the pods get. */
const KUBELET_USER = "kubelet";
const ALL_IDS = 2 ** 32;

/**
 * Reads the range that `/etc/subuid` and `/etc/subgid` set aside for the user `kubelet`. Without that user or a line
 * for it, the range is every ID but the first `idsPerPod`, which are the host's own. Throws a UserNamespaceError for a
 * range that pods' IDs cannot be cut from. Follows GetKubeletMappings and MakeUserNsManager.
 */
export function readPodIdRange(files: SubordinateIdFiles, idsPerPod: number, maxPods: number): IdRange {
  const range = subordinateRange(files) ?? { firstId: idsPerPod, length: ALL_IDS - idsPerPod };
  const { firstId, length } = range;
  if (firstId % idsPerPod !== 0) {
    throw new UserNamespaceError(
      "range-unusable",
      `kubelet user assigned ID ${firstId} is not a multiple of ${idsPerPod}`,
    );
  }
  if (firstId < idsPerPod) {
    throw new UserNamespaceError(
      "range-unusable",
      `kubelet user assigned ID ${firstId} must be greater or equal to ${idsPerPod}`,
    );
  }
  if (length % idsPerPod !== 0 && firstId + length !== ALL_IDS) {
    throw new UserNamespaceError(
      "range-unusable",
      `kubelet user assigned IDs length ${length} is not a multiple of ${idsPerPod}`,
    );
  }
  if (Math.floor(length / idsPerPod) < maxPods) {
    throw new UserNamespaceError(
      "range-unusable",
      `kubelet user assigned IDs are not enough to support ${maxPods} pods`,
    );
  }
  return range;
}

function subordinateRange({ passwd = "", subuid = "", subgid = "" }: SubordinateIdFiles): IdRange | undefined {
  if (linesOf(passwd).length === 0) return undefined;
  const [uids, gids] = [linesOf(subuid), linesOf(subgid)];
  if (uids.length === 0 && gids.length === 0) return undefined;
  if (uids.join("\n") !== gids.join("\n")) {
    throw new UserNamespaceError("range-unusable", `mismatched subuids and subgids for user "${KUBELET_USER}"`);
  }
  const [line = "", ...others] = uids;
  const [, firstId, length] = /^[^:]+:(\d{1,10}):(\d{1,10})$/.exec(line) ?? [];
  if (others.length > 0 || firstId === undefined || length === undefined) {
    throw new UserNamespaceError(
      "range-unusable",
      `error parsing line "${uids.join("\\n")}": user "${KUBELET_USER}" must have one range of IDs`,
    );
  }
  return { firstId: Number(firstId), length: Number(length) };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.startsWith(`${KUBELET_USER}:`));
}
