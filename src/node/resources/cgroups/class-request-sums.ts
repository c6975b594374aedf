import type { Pod } from "../../../api/gen/types.ts";
import { type ClassRequests, NO_CLASS_REQUESTS, type PodAmounts } from "../sizes/class-requests.ts";

/** A pod's part of what its class asks for. */
interface Share {
  readonly pod: Pod;
  readonly qosClass: keyof ClassRequests;
  readonly amounts: PodAmounts;
}

/** What the pods of each class ask for together. */
interface ClassRequestSums {
  sums(): ClassRequests;
  shareOf(uid: string): Share | undefined;
  /** Counts the pod's share in place of its former one; undefined takes it out. */
  set(uid: string, share: Share | undefined): void;
  /** The UIDs of the pods that have a share. */
  uids(): string[];
}

/** Creates the sums, of no pods at first. `onChange` hears them at each change. */
export function createClassRequestSums(onChange: (requests: ClassRequests) => void): ClassRequestSums {
  const shares = new Map<string, Share>();
  let sums = NO_CLASS_REQUESTS;

  const add = ({ qosClass, amounts }: Share, sign: bigint) => {
    const { milliCpu, memoryBytes } = sums[qosClass];
    const sum = { milliCpu: milliCpu + sign * amounts.milliCpu, memoryBytes: memoryBytes + sign * amounts.memoryBytes };
    sums = { ...sums, [qosClass]: sum };
  };

  return {
    sums: () => sums,
    shareOf: (uid) => shares.get(uid),
    set(uid, share) {
      const before = shares.get(uid);
      if (before !== undefined) add(before, -1n);
      if (share === undefined) shares.delete(uid);
      else {
        add(share, 1n);
        shares.set(uid, share);
      }
      onChange(sums);
    },
    uids: () => [...shares.keys()],
  };
}
