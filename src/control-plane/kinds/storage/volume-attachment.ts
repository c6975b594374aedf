import type { FieldError } from "../../../api/field-error.ts";
import type { VolumeAttachmentSource, VolumeAttachmentStatus, VolumeError } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { forbidden, inRange, invalidEach, required, tooLong } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { validateCsiDriverName } from "../rules/csi-driver-name.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;
const MAX_INT32 = 2 ** 31 - 1;

const KIND = { group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment" };

export const volumeAttachmentKind = defineKind({
  ...KIND,
  plural: "volumeattachments",
  namespaced: false,
  strategy: strategyOf("VolumeAttachment", {
    needsResourceVersion: true,
    returnsDeleted: true,
    initialStatus: { attached: false },
    validate: ({ spec: { attacher, nodeName, source } }) => [
      ...validateCsiDriverName("spec.attacher", attacher),
      ...validateSource("spec.source", source),
      ...invalidEach("spec.nodeName", nodeName, checkDnsSubdomain(nodeName)),
    ],
    validateUpdate: (next, current) => immutable("spec", next.spec, current.spec),
  }),
  subresources: [
    {
      ...KIND,
      name: "status",
      verbs: ["get", "patch", "update"],
      validateUpdate: (next) => validateStatus("status", typed("VolumeAttachment", next).status),
    },
  ],
});

function validateSource(
  path: string,
  { inlineVolumeSpec, persistentVolumeName }: VolumeAttachmentSource,
): FieldError[] {
  const rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inlineVolumeSpec !== undefined) return persistentVolumeName === undefined ? [] : [forbidden(path, rule)];
  if (persistentVolumeName === undefined) return [required(path, rule)];
  const at = `${path}.persistentVolumeName`;
  if (persistentVolumeName === "") return [required(at, "must specify non empty persistentVolumeName")];
  return invalidEach(at, persistentVolumeName, checkDnsSubdomain(persistentVolumeName));
}

function validateStatus(path: string, status: VolumeAttachmentStatus | undefined): FieldError[] {
  const entries = Object.entries(status?.attachmentMetadata ?? {});
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...(bytes > MAX_METADATA_BYTES ? [tooLong(`${path}.attachmentMetadata`, MAX_METADATA_BYTES)] : []),
    ...validateError(`${path}.attachError`, status?.attachError),
    ...validateError(`${path}.detachError`, status?.detachError),
  ];
}

function validateError(path: string, { message = "", errorCode }: VolumeError = {}): FieldError[] {
  return [
    ...(Buffer.byteLength(message) > MAX_MESSAGE_BYTES ? [tooLong(`${path}.message`, MAX_MESSAGE_BYTES)] : []),
    ...inRange(`${path}.errorCode`, errorCode, [0, MAX_INT32]),
  ];
}
