import { formatTime } from "../../../base/clock.ts";
import type { CredentialSource, PullCredentials, SourceObject } from "./pull-credentials.ts";

/** The record of an image that the node agent pulled: who may use it without asking the registry again. */
export interface PulledRecord {
  /** RFC 3339. */
  readonly lastUpdatedTime: string;
  /** The image's reference in the runtime. */
  readonly imageRef: string;
  /** The access by the image's name as pods write it, without tag and digest. */
  readonly access: ReadonlyMap<string, ImageAccess>;
}

/** What has opened the image before. Where it is empty, nobody may use the image without a pull. */
export interface ImageAccess {
  readonly secrets: readonly SecretAccess[];
  readonly serviceAccounts: readonly SourceObject[];
  /** The image is open to all, or was opened by credentials of the node; the other two are empty then. */
  readonly isNodeWide: boolean;
}

/** A secret that opened the image, and the hash of what it held then. */
export interface SecretAccess extends SourceObject {
  readonly credentialHash: string;
}

/** Checks note new secrets of an image up to this number; upstream's bound against namespaces that come and go. */
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
 * Adds what was learned of an image to its record, and returns the same object where nothing is new. An undefined
 * `access` means that nobody knows who may use the image (pkg/kubelet/images/pullmanager, pulledRecordMergeNewCreds).
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

/**
 * Joins two lists, each object once as it was last seen, in upstream's order; returns the first list where nothing is
 * new.
 */
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

/** What a pod's credentials prove for an image that others pulled. */
interface AccessVerdict {
  readonly isAllowed: boolean;
  /** What the check has learned and should be noted: a secret that was renamed, copied or renewed. */
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
      // A known secret with other credentials than before counts only while it can be noted, as upstream.
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
