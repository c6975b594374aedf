import type { FieldError } from "../../../api/field-error.ts";
import type { CSIDriver, StorageTokenRequest } from "../../../api/gen/types.ts";
import { duplicate, each, invalid, optionalOneOf, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

const FS_GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLE_MODES = ["Persistent", "Ephemeral"];
const MIN_TOKEN_SECONDS = 10 * 60;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_PERIOD_SECONDS = 10;

export const csiDriverKind = defineKind({
  group: "storage.k8s.io",
  kind: "CSIDriver",
  plural: "csidrivers",
  namespaced: false,
  strategy: strategyOf("CSIDriver", {
    needsResourceVersion: true,
    returnsDeleted: true,
    default: setDefaults,
    validate: validateDriver,
    // The first path is spelled as upstream spells it.
    validateUpdate: (next, current) => [
      ...immutable("spec.attachedRequired", next.spec.attachRequired, current.spec.attachRequired),
      ...immutable("spec.volumeLifecycleModes", next.spec.volumeLifecycleModes, current.spec.volumeLifecycleModes),
    ],
  }),
});

function setDefaults({ spec }: CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
  // Upstream removes it as long as the alpha feature VolumeLimitScaling is off.
  delete spec.preventPodSchedulingIfMissing;
}

function validateDriver({ spec }: CSIDriver): FieldError[] {
  const { volumeLifecycleModes = [], nodeAllocatableUpdatePeriodSeconds: period } = spec;
  const unknownModes = volumeLifecycleModes.filter((mode) => !LIFECYCLE_MODES.includes(mode));
  const isTooOften = period !== undefined && period < MIN_UPDATE_PERIOD_SECONDS;
  const rule = `must be greater than or equal to ${MIN_UPDATE_PERIOD_SECONDS} seconds`;
  const isPointless = spec.serviceAccountTokenInSecrets === true && (spec.tokenRequests ?? []).length === 0;
  const noRequests = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
  return [
    ...(isPointless ? [invalid("spec.serviceAccountTokenInSecrets", true, noRequests)] : []),
    ...optionalOneOf("spec.fsGroupPolicy", spec.fsGroupPolicy, FS_GROUP_POLICIES),
    ...validateTokenRequests("spec.tokenRequests", spec.tokenRequests),
    ...unknownModes.map((mode) => unsupported("spec.volumeLifecycleModes", mode, LIFECYCLE_MODES)),
    ...(isTooOften ? [invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, rule)] : []),
  ];
}

function validateTokenRequests(path: string, requests: readonly StorageTokenRequest[] | undefined): FieldError[] {
  const audiences = new Set<string>();
  return each(path, requests, ({ audience, expirationSeconds: seconds }, at) => {
    if (audiences.has(audience)) return [duplicate(`${at}.audience`, audience)];
    audiences.add(audience);
    const refuse = (detail: string) => [invalid(`${at}.expirationSeconds`, seconds, detail)];
    if (seconds === undefined) return [];
    if (seconds < MIN_TOKEN_SECONDS) return refuse("may not specify a duration less than 10 minutes");
    return seconds > MAX_TOKEN_SECONDS ? refuse("may not specify a duration larger than 2^32 seconds") : [];
  });
}
