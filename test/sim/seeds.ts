/** Those found their bug on a node without an API server, and do so again only there. */
export function isStandaloneSeed(seed: number): boolean {
  return STANDALONE_SEEDS.some(([standalone]) => standalone === seed);
}

const STANDALONE_SEEDS: ReadonlyArray<readonly [seed: number, found: string]> = [
  [1, "the directory of a container's log was left to the runtime to make"],
  [23, "a worker waited for ever: a slow old reading of a pod cleared the mark of a newer one that had failed"],
  [27, "the logs of a pod that was being removed when the agent was killed stayed for ever"],
  [38, "a pod that could not be read was taken for gone, and its directory removed while its containers ran"],
  [39, "as 27"],
  [40, "a manifest changed while the agent was down: the new pod started beside the old one of its name"],
  [43, "of two containers made in one millisecond the older was taken for the newer"],
  [47, "a manifest that could not be read when the agent started had its running pod torn down"],
  [49, "one StopContainer that failed led to StopPodSandbox, which killed without a grace period"],
  [55, "as 43: the newer one was removed, and its restart count used again"],
  [135, "as 23"],
  [440, "a pod that came back before the loop had heard of its end lost its cache entry under its feet: a crash"],
  [13976, "as 440: the pod that came back lost its status"],
  [1037, "a slow reading brought a pod back into the cache that was forgotten"],
  [22907, "a pod that was read once more, without result, after it was forgotten stayed in the cache"],
  [32799, "after an outage a removal was carried out that the manifest's return had overtaken: a needless restart"],
  [90170, "after a pod's volumes were torn down its volumes directory was not made again"],
  [90548, "a pod that came back under the same UID inherited the back-off of its former life"],
];

/** Those found their bug in a cluster without storage drivers. */
export function isSeedWithoutStorage(seed: number): boolean {
  return SEEDS_WITHOUT_STORAGE.some(([without]) => without === seed);
}

const SEEDS_WITHOUT_STORAGE: ReadonlyArray<readonly [seed: number, found: string]> = [
  [71, "the clock was set back: a dead sandbox was taken for the newest, and sandbox after sandbox was made"],
  [169, "the node object was made anew: mirrors went on naming the old one as their owner, and were refused"],
  [203, "a static pod came back while its mirror was there: the API was told that an end had not been"],
  [305, "a Conflict at the deletion of a mirror was taken for its end: it stayed, marked for deletion"],
  [531, "as 305: the mirror of a pod that was gone stayed"],
  [1120, "as 203, while the API server was away and the agent, just started, did not know of the mirror"],
  [1356, "a pod that was forgotten while its status waited, for being contested, was remembered for ever"],
  [792, "as 203: the API server refused every status of the new life"],
];

/** Those found their bug while no container filled the disk. */
export function isSeedWithoutGrowth(seed: number): boolean {
  return [...STANDALONE_SEEDS, ...SEEDS_WITHOUT_STORAGE, ...SEEDS_WITHOUT_GROWTH].some(([without]) => without === seed);
}

const SEEDS_WITHOUT_GROWTH: ReadonlyArray<readonly [seed: number, found: string]> = [
  [50027, "the secrets that volumes name, and pods do not, were never found where secrets are watched"],
  [52034, "a pod waited, ten node reports a second, until the node uses volumes that were unstaged meanwhile"],
  [52218, "as 52034, after a restart"],
  [53192, "our status and one written over it arrived as one, and nobody saw that the API does not say what we said"],
  [54120, "a device whose notes could not be read at the start was taken for absent, and never unstaged"],
  [53319, "the removal of a pod's volume directory failed and was done: the volume stayed staged and attached"],
];

/** Those found their bug while nobody that the node agent asks lied, and nodes ran short of memory only. */
export function isSeedWithTruthfulPeers(seed: number): boolean {
  return isSeedWithoutGrowth(seed) || SEEDS_WITH_TRUTHFUL_PEERS.some(([truthful]) => truthful === seed);
}

const SEEDS_WITH_TRUTHFUL_PEERS: ReadonlyArray<readonly [seed: number, found: string]> = [
  [3020, "the simulator's own: a mount that the agent had rightly given up on was taken for one left behind"],
  [300003, "a volume was staged again while a status that no longer named it was on its way to the API server"],
  [700092, "a stop waited for a driver that did not answer NodeUnpublishVolume, as long as its deadline"],
  [910255, "the simulator's own: a pod was to go on whose container was stopped for another, which could not be made"],
  [912214, "a probe of a container that the agent had stopped was answered by its successor, and taken for its own"],
];

/** Seeds that found a bug, and what it was: run before all others, so that it does not come back. */
export const REGRESSION_SEEDS: ReadonlyArray<readonly [seed: number, found: string]> = [
  ...STANDALONE_SEEDS,
  ...SEEDS_WITHOUT_STORAGE,
  ...SEEDS_WITHOUT_GROWTH,
  ...SEEDS_WITH_TRUTHFUL_PEERS,
  [128631593, "the simulator's own: a shortage that began since the last look was taken for none"],
  [138282302, "the simulator's own: the mirror of a life that a shutdown ended was to stay when the next one began"],
  [67355002, "an old event of what had a mirror pod's name before took its successor out of the node's copy"],
];
