import type { DeviceClass, ResourceClaimSpec } from "../../../api/gen/types.ts";
import { findUntolerated } from "../../../api/tolerations.ts";
import type { DevicePool, PooledDevice } from "./device-pools.ts";
import { type ClaimConstraints, createConstraints } from "./match-attributes.ts";
import type { SearchBudget } from "./search-budget.ts";
import { AllocationError, alternativesOf, type WantedDevices } from "./wanted-devices.ts";

/** The most devices of one claim. */
const MAX_DEVICES = 32;

/** A claim that has no devices yet. */
interface UnallocatedClaim {
  /** `namespace/name`. */
  readonly key: string;
  readonly spec: ResourceClaimSpec;
}

/** A device that was chosen for a request. */
export interface ChosenDevice {
  readonly wanted: WantedDevices;
  readonly device: PooledDevice;
}

export interface AllocationQuestion {
  readonly claims: readonly UnallocatedClaim[];
  readonly pools: readonly DevicePool[];
  /** The devices that other claims have. */
  readonly taken: ReadonlySet<string>;
  readonly budget: SearchBudget;
  /** Throws an AllocationError when there is no such class. */
  classOf(name: string): DeviceClass;
  /** Tells whether all selectors of a class and a request select the device. Throws an AllocationError. */
  isSelected(claim: UnallocatedClaim, wanted: WantedDevices, device: PooledDevice): boolean;
}

/**
 * Chooses devices for all claims, each list in the order of the claim's requests; undefined when there are not enough.
 * It tries every device for every request until all fit (`structured.Allocator`), and the first alternatives first.
 * Throws an AllocationError for a claim that nothing could satisfy, and a SearchLimitError. Pure.
 */
export function allocateDevices(question: AllocationQuestion): ChosenDevice[][] | undefined {
  const plans = question.claims.map((claim): ClaimPlan => {
    const requests = (claim.spec.devices?.requests ?? []).map((request) => {
      return alternativesOf(request, question.classOf).map((wanted) => candidatesOf(question, claim, wanted));
    });
    const least = requests.reduce((sum, all) => sum + Math.min(...all.map(({ count }) => count)), 0);
    if (least > MAX_DEVICES) {
      const rule = `number of requested devices ${least} exceeds the claim limit of ${MAX_DEVICES}`;
      throw new AllocationError(`claim ${claim.key}: ${rule}`);
    }
    return { claim, requests, constraints: createConstraints(claim.spec.devices?.constraints), chosen: [] };
  });
  const inUse = new Map<string, Set<ClaimPlan>>();
  if (chooseForRequest({ ...question, plans, inUse }, { plan: 0, request: 0 })) {
    return plans.map(({ chosen }) => chosen);
  }
  if (question.pools.some(({ hindrance }) => hindrance === "invalid")) {
    throw new AllocationError("invalid resource pools were encountered");
  }
  return undefined;
}

/** A request with the devices that it selects, whoever has them. */
interface Candidates {
  readonly wanted: WantedDevices;
  readonly devices: readonly PooledDevice[];
  readonly count: number;
}

interface ClaimPlan {
  readonly claim: UnallocatedClaim;
  /** The alternatives of each request. */
  readonly requests: ReadonlyArray<readonly Candidates[]>;
  readonly constraints: ClaimConstraints;
  readonly chosen: ChosenDevice[];
}

interface Search extends Pick<AllocationQuestion, "taken" | "budget"> {
  readonly plans: readonly ClaimPlan[];
  /** The devices that were chosen in this search, with the claims for which. */
  readonly inUse: Map<string, Set<ClaimPlan>>;
}

function candidatesOf(question: AllocationQuestion, claim: UnallocatedClaim, wanted: WantedDevices): Candidates {
  const { pools, isSelected, budget } = question;
  if (wanted.isForAll) refuseHinderedPools(claim, wanted, pools);
  const devices = pools
    .flatMap((pool) => pool.devices)
    .filter((device) => {
      budget.countStep(0);
      return isSelected(claim, wanted, device);
    });
  return { wanted, devices, count: wanted.isForAll ? devices.length : wanted.count };
}

/** Whoever wants all devices cannot have them while nobody knows which they are. */
function refuseHinderedPools({ key }: UnallocatedClaim, { name }: WantedDevices, pools: readonly DevicePool[]): void {
  for (const { driver, name: pool, hindrance } of pools) {
    if (hindrance === undefined) continue;
    const state = hindrance === "incomplete" ? "being updated" : "invalid";
    const rule = `asks for all devices, but resource pool ${driver}/${pool} is currently ${state}`;
    throw new AllocationError(`claim ${key}, request ${name}: ${rule}`);
  }
}

interface Place {
  readonly plan: number;
  readonly request: number;
}

/** Chooses for the request at the place and for all after it. Leaves nothing behind when it cannot. */
function chooseForRequest(search: Search, { plan, request }: Place): boolean {
  const current = search.plans[plan];
  if (current === undefined) return true;
  const alternatives = current.requests[request];
  if (alternatives === undefined) return chooseForRequest(search, { plan: plan + 1, request: 0 });
  return alternatives.some((candidates) => {
    // A request for all devices is for one at least.
    if (candidates.count === 0 || current.chosen.length + candidates.count > MAX_DEVICES) return false;
    return chooseDevices(
      search,
      { candidates, place: { plan, request }, current },
      { missing: candidates.count, from: 0 },
    );
  });
}

interface Step {
  readonly candidates: Candidates;
  readonly place: Place;
  readonly current: ClaimPlan;
}

/** The devices of one request are interchangeable, so that only those after the last one are tried for the next. */
function chooseDevices(search: Search, step: Step, { missing, from }: { missing: number; from: number }): boolean {
  const { candidates, place, current } = step;
  const { wanted, devices } = candidates;
  if (missing === 0) return chooseForRequest(search, { plan: place.plan, request: place.request + 1 });
  const depth = search.plans.reduce((sum, { chosen }) => sum + chosen.length, place.request + place.plan);
  for (let index = from; index + missing <= devices.length; index++) {
    const device = devices[index];
    if (device === undefined) return false;
    search.budget.countStep(depth);
    const takeBack = isFree(search, step, device) ? current.constraints.add(wanted, device) : undefined;
    if (takeBack !== undefined) {
      const users = search.inUse.get(device.id) ?? new Set();
      search.inUse.set(device.id, users.add(current));
      current.chosen.push({ wanted, device });
      if (chooseDevices(search, step, { missing: missing - 1, from: index + 1 })) return true;
      current.chosen.pop();
      users.delete(current);
      takeBack();
    }
    if (wanted.isForAll) return false;
  }
  return false;
}

/** A device is given to one claim, but for those that watch over it, and it must be tolerated as it is. */
function isFree({ taken, inUse }: Search, { candidates: { wanted }, current }: Step, device: PooledDevice): boolean {
  const users = inUse.get(device.id);
  const isUsed = wanted.isAdmin ? users?.has(current) : taken.has(device.id) || (users?.size ?? 0) > 0;
  if (isUsed) return false;
  return findUntolerated(device.device.taints ?? [], wanted.tolerations, ["NoSchedule", "NoExecute"]) === undefined;
}
