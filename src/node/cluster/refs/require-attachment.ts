import { notFoundError } from "../../../api/api-error.ts";
import type { VolumeAttachment } from "../../../api/gen/types.ts";
import type { VolumeClaims } from "./volume-claims.ts";

const SUBJECT = { group: "storage.k8s.io", resource: "volumeattachments" };

/** Reads an attachment that has to exist; rejects with an ApiError NotFound where it does not. */
export async function requireAttachment(
  attachments: Pick<VolumeClaims["attachments"], "get">,
  name: string,
  signal: AbortSignal,
): Promise<VolumeAttachment> {
  const attachment = await attachments.get(name, signal);
  if (attachment === undefined) throw notFoundError(SUBJECT, name);
  return attachment;
}
