import type { Clock } from "../../../base/clock.ts";
import { createHangGuard, type HangGuard } from "../../../base/hang-guard.ts";
import type { Machine } from "../../../host/port.ts";

/**
 * Divides the places (threads) that this process has for file access. A call to a file system that does not answer
 * holds one place until it does. Each guard bounds how many places its own calls may hold, so that hanging calls of one
 * kind do not delay those of another.
 */
export interface HangGuards {
  /** Half of the places are for the volumes of pods. The other half is left to our own files, whatever hangs. */
  forVolumes(): HangGuard;
  /** An eighth of the places, but at least one, is for one kind of measurement. */
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
