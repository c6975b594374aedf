import type { Clock } from "../../../base/clock.ts";
import { createHangGuard, type HangGuard } from "../../../base/hang-guard.ts";
import type { Machine } from "../../../host/port.ts";

/**
 * Shares out the places that this process has for file access: a call to a file system that does not answer holds one of
 * them until it does. Each guard bounds how many places its own calls may hold, so that calls of one kind that hang do
 * not hold up those of another.
 */
export interface HangGuards {
  /** Half of the places: for the volumes of pods. The other half is left to our own files, whatever hangs. */
  forVolumes(): HangGuard;
  /** An eighth of the places, but one at least: for one kind of measurement. */
  forMeasurement(): HangGuard;
}

const VOLUMES_SHARE = 2;
const MEASUREMENT_SHARE = 8;

export function createHangGuards(clock: Clock, machine: Pick<Machine, "fileAccessPlaces">): HangGuards {
  const places = machine.fileAccessPlaces();
  return {
    forVolumes: () => createHangGuard({ clock, maxHung: Math.floor(places / VOLUMES_SHARE) }),
    forMeasurement: () => createHangGuard({ clock, maxHung: Math.max(1, Math.floor(places / MEASUREMENT_SHARE)) }),
  };
}
