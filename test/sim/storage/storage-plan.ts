import type { CsiNodeCapability } from "../../../src/csi/port.ts";
import type { Dice } from "../dice.ts";

export const DRIVER_NAME = "csi.example.com";
/** The drivers' secret, which no log may show. */
export const DRIVER_SECRET = "sesame-open";
export const DRIVER_SECRET_NAME = "login";
/** Where a volume's content really is. */
export const DATA_DIRECTORY = "/mnt/storage";
export const LOCAL_DIRECTORY = "/mnt/disks/local";
/** In every volume from the start, so that pods can show it read-only too. */
export const PART = "part";

/** A claim and the volume that is bound to it; both have the same name. */
export interface PlannedClaim {
  readonly name: string;
  readonly accessMode: "ReadWriteOnce" | "ReadWriteMany" | "ReadWriteOncePod";
  readonly kind: "csi" | "local";
  /** Its volume is made only after a while. */
  readonly isLate: boolean;
  /** The driver is to be given a password for it. */
  readonly hasSecret: boolean;
}

/** What storage a seed has. */
export interface StoragePlan {
  readonly claims: readonly PlannedClaim[];
  readonly attachRequired: boolean;
  readonly requiresRepublish: boolean;
  readonly podInfoOnMount: boolean;
  readonly capabilities: readonly CsiNodeCapability[];
  readonly maxVolumes: bigint | undefined;
}

export function planStorage(dice: Dice): StoragePlan {
  const claim = (name: string, others: Partial<PlannedClaim> = {}): PlannedClaim => ({
    name,
    accessMode: "ReadWriteOnce",
    kind: "csi",
    isLate: false,
    hasSecret: dice.chance(0.4),
    ...others,
  });
  const capabilities: CsiNodeCapability[] = ["GET_VOLUME_STATS", "EXPAND_VOLUME"];
  if (dice.chance(0.75)) capabilities.push("STAGE_UNSTAGE_VOLUME");
  if (dice.chance(0.5)) capabilities.push("SINGLE_NODE_MULTI_WRITER");
  return {
    claims: [
      claim("disk"),
      claim("tape"),
      claim("shared", { accessMode: "ReadWriteMany" }),
      claim("single", { accessMode: "ReadWriteOncePod" }),
      claim("late", { isLate: true }),
      claim("local", { kind: "local" }),
    ],
    attachRequired: dice.chance(0.5),
    requiresRepublish: dice.chance(0.25),
    podInfoOnMount: dice.chance(0.5),
    capabilities,
    maxVolumes: dice.chance(0.2) ? BigInt(dice.whole(1, 3)) : undefined,
  };
}

/** What the driver calls the volume. */
export function handleOf(claimName: string): string {
  return `vol-${claimName}`;
}
