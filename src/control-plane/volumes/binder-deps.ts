import type { PersistentVolume, PersistentVolumeClaim } from "../../api/gen/types.ts";
import { type ObjectOf, typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";

/** The resources that binding works on. */
export const CLAIMS = "persistentvolumeclaims";
export const VOLUMES = "persistentvolumes";
export const STORAGE_CLASSES = "storageclasses.storage.k8s.io";

export type StoredClaim = ObjectOf<"PersistentVolumeClaim">;
export type StoredVolume = ObjectOf<"PersistentVolume">;

/** The dependencies of the steps of binding. */
export interface BinderDeps extends ControllerDeps {
  events: EventRecorder;
  /** The pods that name the claim, as `namespace/name`. */
  podsOf(claimKey: string): readonly string[];
}

/** An event about a claim or a volume. */
export interface BinderEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The claim as it is written; undefined when there is none. */
export function readClaim({ reader }: Pick<BinderDeps, "reader">, key: string): StoredClaim | undefined {
  const found = reader.get({ resource: CLAIMS, ...splitNamespacedKey(key) });
  return found && typed("PersistentVolumeClaim", found);
}

/** The volume as it is written; undefined when there is none. */
export function readVolume({ reader }: Pick<BinderDeps, "reader">, name: string): StoredVolume | undefined {
  const found = reader.get({ resource: VOLUMES, namespace: "", name });
  return found && typed("PersistentVolume", found);
}

/** Writes the claim; the answer is the next version to go on with. */
export async function writeClaim(
  { writer }: BinderDeps,
  claim: PersistentVolumeClaim,
  subresource?: "status",
): Promise<StoredClaim> {
  return typed("PersistentVolumeClaim", await writer.update(CLAIMS, untyped(claim), subresource));
}

/** As `writeClaim`, of a volume. */
export async function writeVolume(
  { writer }: BinderDeps,
  volume: PersistentVolume,
  subresource?: "status",
): Promise<StoredVolume> {
  return typed("PersistentVolume", await writer.update(VOLUMES, untyped(volume), subresource));
}

/** The volume in the phase; the event is told only when it was in another one before. */
export async function enterPhase(
  deps: BinderDeps,
  volume: StoredVolume,
  { phase, event }: { phase: string; event?: BinderEvent },
): Promise<StoredVolume> {
  if (volume.status?.phase === phase) return volume;
  const { message: _before, reason: _reason, ...status } = volume.status ?? {};
  const next = {
    ...status,
    phase,
    ...(event && { message: event.message }),
    lastPhaseTransitionTime: formatTime(deps.clock.now()),
  };
  const written = await writeVolume(deps, { ...volume, status: next }, "status");
  deps.log.info("a persistent volume entered a phase", { volume: volume.metadata.name, phase });
  if (event !== undefined) deps.events.record({ about: written, ...event });
  return written;
}
