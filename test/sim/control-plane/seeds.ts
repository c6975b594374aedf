type KeptSeeds = ReadonlyArray<readonly [seed: number, found: string]>;

/** Those of the plain world of workloads, which finds their bugs still. */
export const SEEDS_WITHOUT_ESTATE: KeptSeeds = [
  [1, "a new replica set grew while the pods of an old one, whose deletion took long, were still there: too many pods"],
  [6, "a webhook refused a pod's binding with Conflict, and the scheduler never tried again"],
  [79418110, "a job that was made just before a crash was not counted, and another ran beside it"],
  [128631598, "the simulator's own: a pod that a rollout ended was taken for one whose refused eviction was granted"],
];

const SEEDS_WITH_ESTATE: KeptSeeds = [
  [101, "the scheduler and the provisioner of local volumes asked each other for another node, without end"],
  [5004, "a job waited an hour with the successor of a failed pod, because the clock was set back by as much"],
];

/** Seeds of the control plane that found a bug, and what it was: run before all others, so that it does not come back. */
export const CONTROL_PLANE_SEEDS: KeptSeeds = [...SEEDS_WITHOUT_ESTATE, ...SEEDS_WITH_ESTATE];
