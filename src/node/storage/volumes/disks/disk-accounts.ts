import type { DiskPlace } from "./named-disk.ts";

/** A disk on this node, or on its way to it or from it, and who uses it. */
export interface DiskAccount {
  readonly place: DiskPlace;
  /** How the node's status names it. */
  readonly uniqueNames: Set<string>;
  /** The pods' uses, by `diskUseKey`. */
  readonly users: Map<string, DiskUser>;
  /** It has been taken from the machine, and may only have left empty directories. */
  isDetached: boolean;
}

interface DiskUser {
  /** The use left something in the pod's directory, or may have, which only a tear-down removes. */
  isOnDisk: boolean;
}

/**
 * The disks of one plugin. The disk of the machine is read once, before anything is done; from then on every set-up and
 * tear-down comes by here.
 */
interface DiskAccounts {
  all(): readonly DiskAccount[];
  /** Begins one use, of an account that is made where there is none. */
  use(place: DiskPlace, useKey: string, uniqueNames: readonly string[]): DiskAccount;
  /** Adds a disk that was found. Nobody uses it until a use of it is added. */
  add(place: DiskPlace, uniqueNames: readonly string[]): DiskAccount;
  /** Ends one use of every disk. */
  release(useKey: string): void;
  /** Ends those uses of a pod that have left nothing on the disk. */
  releaseUnmounted(podUid: string): void;
  /** Forgets the account of a disk that is not on the machine any more, where nobody uses it. */
  settle(account: DiskAccount): void;
  /** The listener is called when a use begins or ends, or a disk is gone; returns how to stop that. */
  subscribe(listener: () => void): () => void;
}

/** The key of a pod's use of a disk. */
export function diskUseKey(podUid: string, specName: string): string {
  return `${podUid}/${specName}`;
}

export function createDiskAccounts(): DiskAccounts {
  const accounts = new Map<string, DiskAccount>();
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };

  const add = (place: DiskPlace, uniqueNames: readonly string[]): DiskAccount => {
    const account = accounts.get(place.path) ?? { place, uniqueNames: new Set(), users: new Map(), isDetached: false };
    for (const name of uniqueNames) account.uniqueNames.add(name);
    accounts.set(place.path, account);
    return account;
  };

  const releaseWhere = (isEnded: (key: string, user: DiskUser) => boolean) => {
    let isChanged = false;
    for (const { users } of accounts.values()) {
      for (const [key, user] of users) if (isEnded(key, user)) isChanged = users.delete(key) || isChanged;
    }
    if (isChanged) changed();
  };

  return {
    all: () => [...accounts.values()],
    add,
    use(place, useKey, uniqueNames) {
      const account = add(place, uniqueNames);
      if (!account.users.has(useKey)) account.users.set(useKey, { isOnDisk: false });
      changed();
      return account;
    },
    release: (useKey) => releaseWhere((key) => key === useKey),
    releaseUnmounted: (podUid) => releaseWhere((key, { isOnDisk }) => !isOnDisk && key.startsWith(`${podUid}/`)),
    settle(account) {
      if (account.users.size > 0) return;
      accounts.delete(account.place.path);
      changed();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
