import type { Pod } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import { type Clock, SECOND, type Timer } from "../../../../base/clock.ts";
import type { Decision } from "../../../../base/timeline.ts";
import type { Files } from "../../../../host/port.ts";

/** What a volume needs to be given to a group. */
export interface VolumeGroupDeps {
  readonly files: Pick<Files, "changeGroup">;
  readonly clock: Clock;
  /** Records an event of the pod. */
  tell(pod: Pod, decision: Decision): void;
}

/** A volume that shall belong to the pod's group. */
interface GroupedVolume {
  readonly pod: Pod;
  /** The volume's path in the pod's directory. */
  readonly path: string;
  /** An earlier attempt may have finished; the group of the volume's root tells. */
  readonly isRepeated: boolean;
}

/** After this time an event tells why the pod still waits (pkg/volume/volume_linux.go). */
const QUIET_MS = 30 * SECOND;
const ADVICE =
  "consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/" +
  "#configure-volume-permission-and-ownership-change-policy-for-pods";

/** Gives a volume to the pod's `fsGroup`, if it has one, as `fsGroupChangePolicy` says. */
export async function giveToGroup(deps: VolumeGroupDeps, volume: GroupedVolume, signal: AbortSignal): Promise<void> {
  const { fsGroup: group, fsGroupChangePolicy } = volume.pod.spec?.securityContext ?? {};
  if (group === undefined) return;
  const onlyIfRootDiffers = volume.isRepeated || fsGroupChangePolicy === "OnRootMismatch";
  const timer = tellWhenSlow(deps, volume);
  try {
    await deps.files.changeGroup(volume.path, { group, readOnly: false, onlyIfRootDiffers }, signal);
  } finally {
    timer.cancel();
  }
}

function tellWhenSlow({ clock, tell }: VolumeGroupDeps, { pod, path }: GroupedVolume): Timer {
  return clock.setTimer(QUIET_MS, () => {
    const shown = path.slice(Math.max(0, path.indexOf(podReference(pod).uid)));
    const message = `Setting volume ownership for ${shown} is taking longer than expected, ${ADVICE}`;
    tell(pod, { type: "Warning", reason: "VolumePermissionChangeInProgress", message });
  });
}
