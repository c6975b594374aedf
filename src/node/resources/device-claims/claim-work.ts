import type { Pod, ResourceResourceClaim } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { throwIfAborted } from "../../../base/abort.ts";
import { messageOf, throwJoined } from "../../../base/errors.ts";
import { createKeyedLock } from "../../../base/keyed-lock.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { ClaimReference, DraPlugin, PrepareAnswer } from "../../../dra/port.ts";
import { checkDevices } from "./check-answer.ts";
import { type ClaimAccount, type ClaimInfo, claimKey } from "./claim-account.ts";
import type { ClaimCheckpointFile } from "./claim-checkpoint-file.ts";
import { ClaimError } from "./claim-error.ts";
import { checkClaimOfPod, listPodClaims } from "./pod-claims.ts";

/**
 * Has drivers make the claims of pods ready, and take them back. A claim that several pods use is prepared once, and given
 * back when the last of them has ended. Work on one claim never overlaps.
 */
interface ClaimWork {
  /**
   * Resolves when all claims of the pod are ready. Rejects with a ClaimError, or with AbortedError; what has been prepared
   * by then is kept, and not prepared again.
   */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Resolves when no driver has anything ready for the pod. Rejects as `prepare` does. Idempotent. */
  unprepare(podUid: string, signal: AbortSignal): Promise<void>;
}

interface ClaimWorkDeps {
  readonly account: ClaimAccount;
  readonly save: ClaimCheckpointFile["save"];
  readonly drivers: { get(driver: string): Pick<DraPlugin, "prepare" | "unprepare"> | undefined };
  readClaim(namespace: string, name: string, signal: AbortSignal): Promise<ResourceResourceClaim>;
  readonly log: Log;
}

/** The claims that are read at a time, of all pods. */
const MAX_READS = 8;

type Batches = ReadonlyMap<string, readonly ClaimInfo[]>;

export function createClaimWork({ account, save, drivers, readClaim, log }: ClaimWorkDeps): ClaimWork {
  const lock = createKeyedLock();
  const reading = createLimiter(MAX_READS);

  /** Locks are taken in one order, so that no two pods wait for each other. */
  const locked = async (keys: readonly string[], signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
    const [first, ...rest] = [...new Set(keys)].sort();
    if (first === undefined) return await work();
    await lock.run(first, async () => await locked(rest, signal, work), signal);
  };
  const driverOf = (name: string) => {
    const driver = drivers.get(name);
    if (driver === undefined) throw new ClaimError(`DRA driver ${name} is not registered`);
    return driver;
  };
  const read = async (pod: Pod, signal: AbortSignal): Promise<ResourceResourceClaim[]> => {
    const { namespace } = podReference(pod);
    const reads = listPodClaims(pod).map(async (podClaim) => {
      const claim = await explained(`fetch ResourceClaim ${podClaim.claimName}`, signal, async () =>
        reading.run(async () => await readClaim(namespace, podClaim.claimName, signal), signal),
      );
      checkClaimOfPod(pod, podClaim, claim);
      return claim;
    });
    const claims = await allOf(reads, signal);
    // A pod may name one claim more than once.
    return [...new Map(claims.map((claim) => [claim.metadata?.uid, claim])).values()];
  };

  /** Nothing is in the account before all drivers are known: a pod that cannot have its claims leaves none behind. */
  const refer = (claim: ResourceResourceClaim, uid: string): ClaimInfo => {
    const reference = referenceOf(claim);
    const before = account.get(reference);
    if (before !== undefined && before.uid !== reference.uid) {
      const why = `old ResourceClaim with same name ${before.name} and different UID ${before.uid} still exists`;
      throw new ClaimError(`${why} (previous pod force-deleted?!)`);
    }
    const info = before ?? {
      ...reference,
      podUids: new Set<string>(),
      drivers: emptyDrivers(claim),
      isPrepared: false,
    };
    const used = { ...info, podUids: new Set([...info.podUids, uid]) };
    account.put(used);
    return used;
  };

  const prepareBatch = async (
    driver: string,
    infos: readonly ClaimInfo[],
    claims: ReadonlyMap<string, ResourceResourceClaim>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, PrepareAnswer>> => {
    const call = "NodePrepareResources";
    const answers = await explained(call, signal, async () =>
      driverOf(driver).prepare(infos.map(toReference), { signal }),
    );
    checkAnswers(call, infos, answers, ({ error }) => error);
    for (const { uid } of infos) {
      const claim = claims.get(uid);
      if (claim !== undefined) checkDevices(claim, driver, answers.get(uid)?.devices ?? []);
    }
    return answers;
  };

  const prepareAll = async (
    pod: Pod,
    objects: readonly ResourceResourceClaim[],
    signal: AbortSignal,
  ): Promise<void> => {
    const waiting = objects.map((claim) => refer(claim, podUid(pod))).filter(({ isPrepared }) => !isPrepared);
    await saved(save);
    const claims = new Map(objects.map((claim) => [claim.metadata?.uid ?? "", claim]));
    const batches = batchesOf(waiting);
    const prepared = [...batches].map(async ([driver, infos]) => {
      return [driver, await prepareBatch(driver, infos, claims, signal)] as const;
    });
    const answers = new Map(await allOf(prepared, signal));
    for (const info of waiting) {
      const devices = [...info.drivers.keys()].map(
        (driver) => [driver, answers.get(driver)?.get(info.uid)?.devices ?? []] as const,
      );
      account.put({ ...info, drivers: new Map(devices), isPrepared: true });
    }
    await saved(save);
  };

  const giveBack = async (uid: string, signal: AbortSignal): Promise<void> => {
    const used = account.ofPod(uid);
    const last = used.filter(({ podUids }) => podUids.size === 1);
    const call = "NodeUnprepareResources";
    const ends = [...batchesOf(last)].map(async ([driver, infos]) => {
      const plugin = driverOf(driver);
      const answers = await explained(call, signal, async () => plugin.unprepare(infos.map(toReference), { signal }));
      checkAnswers(call, infos, answers, (error) => error);
    });
    await allOf(ends, signal);
    for (const info of used) {
      if (last.includes(info)) account.remove(info);
      else account.put({ ...info, podUids: new Set([...info.podUids].filter((other) => other !== uid)) });
    }
    // A full disk must not keep a pod from ending. What the disk says too much is given back once more after a restart.
    await save().catch((error: unknown) => {
      log.warn("Cannot write the checkpoint of device claims, will retry", { error: messageOf(error) });
    });
  };

  return {
    async prepare(pod, signal) {
      const objects = await read(pod, signal);
      for (const claim of objects) for (const driver of emptyDrivers(claim).keys()) driverOf(driver);
      const keys = objects.map((claim) => claimKey(referenceOf(claim)));
      await locked(keys, signal, async () => await prepareAll(pod, objects, signal));
    },
    async unprepare(uid, signal) {
      const keys = account.ofPod(uid).map(claimKey);
      if (keys.length > 0) await locked(keys, signal, async () => await giveBack(uid, signal));
    },
  };
}

function referenceOf({ metadata }: ResourceResourceClaim): ClaimReference {
  const { uid = "", name = "", namespace = "" } = metadata ?? {};
  return { uid, name, namespace };
}

function toReference({ uid, name, namespace }: ClaimInfo): ClaimReference {
  return { uid, name, namespace };
}

function emptyDrivers({ status }: ResourceResourceClaim): Map<string, []> {
  return new Map((status?.allocation?.devices?.results ?? []).map(({ driver }) => [driver, []]));
}

/** Each driver is asked for all its claims at once. */
function batchesOf(infos: readonly ClaimInfo[]): Batches {
  const batches = new Map<string, ClaimInfo[]>();
  for (const info of infos) {
    for (const driver of info.drivers.keys()) batches.set(driver, [...(batches.get(driver) ?? []), info]);
  }
  return batches;
}

/** Throws a ClaimError where the driver has not done as it was asked, for each claim that it was asked for. */
function checkAnswers<T>(
  call: string,
  infos: readonly ClaimInfo[],
  answers: ReadonlyMap<string, T>,
  errorOf: (answer: T) => string,
): void {
  const byUid = new Map(infos.map((info) => [info.uid, info]));
  for (const [uid, answer] of answers) {
    const info = byUid.get(uid);
    if (info === undefined) throw new ClaimError(`${call} returned result for unknown claim UID ${uid.slice(0, 100)}`);
    const error = errorOf(answer);
    if (error !== "") throw new ClaimError(`${call} failed for ResourceClaim ${info.name}: ${error}`);
  }
  const skipped = byUid.size - answers.size;
  if (skipped > 0) throw new ClaimError(`${call} skipped ${skipped} ResourceClaims`);
}

async function saved(save: () => Promise<void>): Promise<void> {
  await explained("checkpoint ResourceClaim cache", undefined, save);
}

async function explained<T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof ClaimError) throw error;
    throw new ClaimError(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** Waits for all of them: what one of them does must not go on after the other has failed. */
async function allOf<T>(works: ReadonlyArray<Promise<T>>, signal: AbortSignal): Promise<T[]> {
  const ends = await Promise.allSettled(works);
  throwIfAborted(signal);
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  throwJoined(failures, "device claims");
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}
