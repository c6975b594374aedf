import { formatTime } from "../../../base/clock.ts";
import type { CredentialSource, PullCredentials, SourceObject } from "./pull-credentials.ts";

/** Of an image that the node agent pulled: who may use it without asking the registry again. */
export interface PulledRecord {
  /** RFC 3339. */
  readonly lastUpdatedTime: string;
  /** The image's reference in the runtime. */
  readonly imageRef: string;
  /** By the image's name as pods write it, without tag and digest. */
  readonly access: ReadonlyMap<string, ImageAccess>;
}

/** What opened the image once. With nothing in it, nobody may use the image without a pull. */
export interface ImageAccess {
  readonly secrets: readonly SecretAccess[];
  readonly serviceAccounts: readonly SourceObject[];
  /** Open to all, or by credentials of the node; then the other two are empty. */
  readonly isNodeWide: boolean;
}

/** A secret that opened the image, and the hash of what it held then. */
export interface SecretAccess extends SourceObject {
  readonly credentialHash: string;
}

/** Secrets of one image are noted while it is only looked at, up to so many; upstream's bound on namespaces that come and go. */
const MAX_NOTED_SECRETS = 100;

/** The access that a pull with these credentials proves; without credentials, that of everybody. */
export function accessOf(used: Pick<PullCredentials, "source" | "hash"> | undefined): ImageAccess {
  const source: CredentialSource = used?.source ?? { kind: "node" };
  switch (source.kind) {
    case "node":
      return { secrets: [], serviceAccounts: [], isNodeWide: true };
    case "secret":
      return {
        secrets: [{ ...objectOf(source), credentialHash: used?.hash ?? "" }],
        serviceAccounts: [],
        isNodeWide: false,
      };
    case "serviceAccount":
      return { secrets: [], serviceAccounts: [objectOf(source)], isNodeWide: false };
  }
}

/**
 * The record with what was learned of the image; the very same record where that is nothing new. `access` undefined: the
 * image is there, and nobody knows by what right (pkg/kubelet/images/pullmanager, pulledRecordMergeNewCreds).
 */
export function mergeAccess(
  record: PulledRecord | undefined,
  { imageRef, repository, access, now }: { imageRef: string; repository: string; access?: ImageAccess; now: number },
): PulledRecord {
  const known = record?.access.get(repository);
  const merged = access === undefined ? known : mergeTwo(known, access);
  if (record !== undefined && merged === known) return record;
  const all = new Map(record?.access);
  if (merged !== undefined) all.set(repository, merged);
  return { lastUpdatedTime: formatTime(now), imageRef, access: all };
}

function mergeTwo(known: ImageAccess | undefined, added: ImageAccess): ImageAccess {
  if (known === undefined) return added;
  if (known.isNodeWide) return known;
  if (added.isNodeWide) return added;
  const secrets = joinObjects(known.secrets, added.secrets);
  const serviceAccounts = joinObjects(known.serviceAccounts, added.serviceAccounts);
  const isSame = secrets === known.secrets && serviceAccounts === known.serviceAccounts;
  return isSame ? known : { secrets, serviceAccounts, isNodeWide: false };
}

/** Each object once, with what was learned of it last, in upstream's order; the first list itself where nothing is new. */
function joinObjects<T extends SourceObject>(known: readonly T[], added: readonly T[]): readonly T[] {
  const isKnown = (one: T) => known.some((other) => JSON.stringify(other) === JSON.stringify(one));
  if (added.every(isKnown)) return known;
  const all = new Map([...known, ...added].map((one) => [keyOf(one), one]));
  return [...all.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function keyOf({ namespace, name, uid }: SourceObject): string {
  return [namespace, name, uid].join("\0");
}

function objectOf({ uid, namespace, name }: SourceObject): SourceObject {
  return { uid, namespace, name };
}

/** What a pod's credentials say of an image that others pulled. */
interface AccessVerdict {
  readonly isAllowed: boolean;
  /** What was learned on the way and is worth noting: a secret that was renamed, copied or renewed. */
  readonly noted: ImageAccess | undefined;
}

/**
 * Whether a pod that could pull with these credentials may use the image as it is: with the credentials that opened it,
 * whatever secret they are in, or with the secret or service account that did, whatever it holds by now.
 */
export function judgeAccess(access: ImageAccess, credentials: readonly PullCredentials[]): AccessVerdict {
  const secrets = credentials.filter(({ source }) => source.kind === "secret");
  for (const one of secrets) {
    const {
      secrets: [wanted],
    } = accessOf(one);
    if (wanted === undefined) continue;
    for (const known of access.secrets) {
      const hasHash = known.credentialHash !== "" && known.credentialHash === wanted.credentialHash;
      const isSameSecret = keyOf(known) === keyOf(wanted);
      const mayNote = access.secrets.length < MAX_NOTED_SECRETS;
      const noted = mayNote && !(hasHash && isSameSecret) ? accessOf(one) : undefined;
      // One that holds other credentials now counts only as long as that can be noted, as upstream has it.
      if (hasHash || (isSameSecret && mayNote)) return { isAllowed: true, noted };
    }
  }
  const account = credentials.map(({ source }) => source).find(({ kind }) => kind === "serviceAccount");
  const isAllowed =
    account !== undefined &&
    account.kind === "serviceAccount" &&
    access.serviceAccounts.some((one) => keyOf(one) === keyOf(account));
  return { isAllowed, noted: undefined };
}
