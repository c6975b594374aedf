import { isApiError } from "../../../api/api-error.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  VolumeAttachment,
} from "../../../api/gen/types.ts";
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS } from "../../../api/kube-resource.ts";
import { isRecord } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { SECOND } from "../../../base/clock.ts";
import { createSharedCalls } from "../../../base/shared-calls.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { keyOfObject } from "./referenced-objects.ts";

/**
 * Claims, volumes and attachments as the API has them now. Nothing is kept: a node may read them one by one, but may
 * not watch them. A caller that asks for one while it is being read gets the same answer.
 */
export interface VolumeClaims {
  /** Rejects with an ApiError NotFound for what does not exist, and so on. */
  claim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim>;
  volume(name: string, signal: AbortSignal): Promise<PersistentVolume>;
  /** Rejects with an ApiError Conflict where the claim has changed since it was read. */
  updateClaimStatus(change: ClaimStatusChange, signal: AbortSignal): Promise<PersistentVolumeClaim>;
  readonly attachments: VolumeAttachments;
}

/** A claim as it was read, and its wanted status. */
interface ClaimStatusChange {
  readonly claim: PersistentVolumeClaim;
  readonly status: PersistentVolumeClaimStatus;
}

/** The objects that ask for a volume to be attached to a node, and tell whether it is. */
interface VolumeAttachments {
  /** The result is undefined where there is no such attachment. */
  get(name: string, signal: AbortSignal): Promise<VolumeAttachment | undefined>;
  /** Creates the attachment. One that exists already is left as it is. */
  create(attachment: VolumeAttachment, signal: AbortSignal): Promise<void>;
  /** Deletes the attachment. It is no error when it is gone already. */
  delete(name: string, signal: AbortSignal): Promise<void>;
}

interface VolumeClaimsDeps {
  readonly client: Pick<KubeClient, "get" | "create" | "patch" | "delete">;
}

const TIMEOUT_MS = 10 * SECOND;

export function createVolumeClaims({ client }: VolumeClaimsDeps): VolumeClaims {
  const claimCalls = createSharedCalls<PersistentVolumeClaim>();
  const volumeCalls = createSharedCalls<PersistentVolume>();
  return {
    async claim(namespace, name, signal) {
      const object = { namespace, name };
      return await claimCalls.join(keyOfObject(object), signal, async (callSignal) =>
        readable(client.get(PERSISTENT_VOLUME_CLAIMS, object, { timeoutMs: TIMEOUT_MS, signal: callSignal })),
      );
    },
    async volume(name, signal) {
      return await volumeCalls.join(name, signal, async (callSignal) =>
        readable(client.get(PERSISTENT_VOLUMES, clusterWide(name), { timeoutMs: TIMEOUT_MS, signal: callSignal })),
      );
    },
    async updateClaimStatus({ claim, status }, signal) {
      const { namespace = "", name = "", uid, resourceVersion } = claim.metadata ?? {};
      const body = { metadata: { uid, resourceVersion }, status: mergePatchOf(claim.status ?? {}, status) };
      const options = { subresource: "status", timeoutMs: TIMEOUT_MS, signal };
      return await client.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { type: "merge", body }, options);
    },
    attachments: createVolumeAttachments(client),
  };
}

function createVolumeAttachments(client: VolumeClaimsDeps["client"]): VolumeAttachments {
  return {
    async get(name, signal) {
      return await unless("NotFound", client.get(VOLUME_ATTACHMENTS, clusterWide(name), bounded(signal)));
    },
    async create(attachment, signal) {
      await unless("AlreadyExists", client.create(VOLUME_ATTACHMENTS, attachment, bounded(signal)));
    },
    async delete(name, signal) {
      await unless("NotFound", client.delete(VOLUME_ATTACHMENTS, clusterWide(name), bounded(signal)));
    },
  };
}

function clusterWide(name: string) {
  return { namespace: "", name };
}

function bounded(signal: AbortSignal) {
  return { timeoutMs: TIMEOUT_MS, signal };
}

async function unless<T>(reason: "NotFound" | "AlreadyExists", call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isApiError(error, reason)) return undefined;
    throw error;
  }
}

/** Makes the error's message fit for events: an answer that is no JSON is not quoted there. */
async function readable<T>(call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    if (error instanceof SyntaxError) throw new Error(describeKubeFailure(error));
    throw error;
  });
}

/**
 * Computes the merge patch (RFC 7396) from one to the other: removed fields are null, and lists are replaced as a
 * whole.
 */
function mergePatchOf(before: object, after: object): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before));
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(after)) {
    const last = old.get(field);
    old.delete(field);
    if (isEqualJson(last, value)) continue;
    patch[field] = isRecord(last) && isRecord(value) ? mergePatchOf(last, value) : value;
  }
  for (const field of old.keys()) patch[field] = null;
  return patch;
}
