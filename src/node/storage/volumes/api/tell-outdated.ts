import type { Pod } from "../../../../api/gen/types.ts";
import { volumeError } from "../volume-error.ts";

type Warning = { readonly type: "Warning"; readonly reason: string; readonly message: string };

/** Tells a pod that one of its volumes shows what was there before, since the new content cannot be had. */
export function createOutdatedTeller(record: (pod: Pod, warning: Warning) => void) {
  return (pod: Pod, volumeName: string, error: unknown): void => {
    const { message } = volumeError([{ volumeName, error }]);
    record(pod, { type: "Warning", reason: "FailedMount", message });
  };
}
