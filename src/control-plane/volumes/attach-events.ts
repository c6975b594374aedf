import { type KubeObject, typed } from "../../api/object.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { attachedVolumeOf } from "./attachment.ts";

const FAILED = { type: "Warning", reason: "FailedAttachVolume" } as const;

/** Records on the pods the result of an attachment for which they wait. */
export function reportAttachment(
  events: EventRecorder,
  { object, previous }: ResourceEvent,
  pods: readonly KubeObject[],
) {
  const attachment = typed("VolumeAttachment", object);
  const before = previous && typed("VolumeAttachment", previous).status;
  const { attached, attachError } = attachment.status ?? {};
  const name = JSON.stringify(attachedVolumeOf(attachment));
  const problem = attachError?.message ?? "";
  if (attached === true && before?.attached !== true) {
    reportAttached(events, attachedVolumeOf(attachment), pods);
  } else if (attached !== true && problem !== "" && problem !== before?.attachError?.message) {
    const message = `AttachVolume.Attach failed for volume ${name} : ${problem}`;
    for (const about of pods) events.record({ about, ...FAILED, message });
  }
}

/** Records on the pods that the volume is attached to their node. */
export function reportAttached(events: EventRecorder, volumeName: string, pods: readonly KubeObject[]): void {
  // Upstream's message ends with a space.
  const message = `AttachVolume.Attach succeeded for volume "${volumeName}" `;
  for (const about of pods) events.record({ about, type: "Normal", reason: "SuccessfulAttachVolume", message });
}

/**
 * Records on pods that their volume is still attached to another node, and by which pods it is used there. Names of
 * pods are told within a namespace only (`reportMultiAttachError`).
 */
export function reportMultiAttach(
  events: EventRecorder,
  volumeName: string,
  { waiting, users }: { waiting: readonly KubeObject[]; users: readonly KubeObject[] },
): void {
  for (const about of waiting) {
    const message = `Multi-Attach error for volume "${volumeName}" ${whyExclusive(about, users)}`;
    events.record({ about, ...FAILED, message });
  }
}

function whyExclusive({ metadata: { namespace } }: KubeObject, users: readonly KubeObject[]): string {
  if (users.length === 0) return "Volume is already exclusively attached to one node and can't be attached to another";
  const names = users.flatMap(({ metadata }) => (metadata.namespace === namespace ? [metadata.name ?? ""] : []));
  const strangers = users.length - names.length;
  if (names.length === 0) return `Volume is already used by ${strangers} pod(s) in different namespaces`;
  const known = `Volume is already used by pod(s) ${names.join(", ")}`;
  return strangers === 0 ? known : `${known} and ${strangers} pod(s) in different namespaces`;
}
