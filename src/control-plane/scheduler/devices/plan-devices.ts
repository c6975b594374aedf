import type { AllocationResult, DeviceClass } from "../../../api/gen/types.ts";
import type { ObjectOf } from "../../../api/object.ts";
import { matchesAnyTerm } from "../../../api/selectors/node-selector.ts";
import { whyForeignDevices } from "../../claims/device-claims.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import { type AllocationQuestion, allocateDevices } from "./allocate-devices.ts";
import { allocationResultOf } from "./allocation-result.ts";
import { gatherPools, type PooledDevice } from "./device-pools.ts";
import type { DeviceView } from "./device-view.ts";
import { createSearchBudget, SearchLimitError } from "./search-budget.ts";
import { AllocationError, namedClassesOf } from "./wanted-devices.ts";

type Claim = ObjectOf<"ResourceClaim">;

/** The writes by which a pod's claims get their devices, and the pod gets the claims. */
export type DevicePlan = ReadonlyArray<{
  readonly claim: Claim;
  /** Undefined for a claim that has its devices already. */
  readonly allocation: AllocationResult | undefined;
}>;

/** Plans the devices of one pod, node by node, or says in upstream's words why there are none. */
type DevicePlanner = (node: NodeInfo) => DevicePlan | { readonly reason: string };

const ELSEWHERE = "resourceclaim not available on the node";

/**
 * Says why the pod's claims of devices rule out all nodes, in upstream's words (`plugins/dynamicresources`); undefined
 * when they do not.
 */
export function checkDeviceClaims({ info, deviceClaims }: PendingPod, { devices }: Cluster): string | undefined {
  for (const entry of deviceClaims) {
    if (entry.kind === "not-made") return `pod "${info.key}": ResourceClaim not created yet`;
    if (entry.kind === "none") continue;
    const claim = devices.claim(info.namespace, entry.name);
    if (claim === undefined) return `could not find ResourceClaim "${info.namespace}/${entry.name}"`;
    if (claim.metadata.deletionTimestamp !== undefined) return `resourceclaim "${entry.name}" is being deleted`;
    const foreign = entry.isOwned ? whyForeignDevices({ metadata: info }, claim) : undefined;
    const problem = foreign ?? checkUnallocated(claim, devices);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkUnallocated({ metadata, spec, status }: Claim, devices: DeviceView): string | undefined {
  if (status?.allocation !== undefined) return undefined;
  if (devices.isPending(metadata.uid ?? "")) {
    return `resource claim ${namespacedKeyOf(metadata)} is in the process of being allocated`;
  }
  const named = (spec.devices?.requests ?? []).flatMap(namedClassesOf);
  const unknown = named.find(([, className]) => devices.deviceClass(className) === undefined);
  return unknown && `request ${unknown[0]}: device class ${unknown[1]} does not exist`;
}

/**
 * The pod's claims that keep it from nodes and are of use to nobody else: they may be given other devices. A claim that
 * was allocated before its pod could be bound is one.
 */
export function movableClaimsOf(pod: PendingPod, { devices, nodes }: Cluster): readonly Claim[] {
  return claimsOf(pod, devices).filter((claim) => {
    const { reservedFor = [] } = claim.status ?? {};
    const isOwn = reservedFor.every(({ uid }) => uid === pod.info.uid);
    return isOwn && nodes.some((node) => !isReachedFrom(claim, node));
  });
}

/** Checks which nodes reach the devices of the pod's claims, and chooses devices for the others. */
export function createDevicePlanner(pod: PendingPod, { devices }: Cluster): DevicePlanner {
  const claims = claimsOf(pod, devices);
  const open = claims.filter(({ status }) => status?.allocation === undefined);
  const shared = open.length === 0 ? undefined : { slices: devices.slices(), taken: devices.taken() };
  return (node) => {
    if (!claims.every((claim) => isReachedFrom(claim, node))) return { reason: ELSEWHERE };
    const budget = createSearchBudget();
    try {
      const chosen =
        shared &&
        allocateDevices({
          claims: open.map(({ metadata, spec }) => ({ key: namespacedKeyOf(metadata), spec })),
          pools: gatherPools(shared.slices, node),
          taken: shared.taken,
          budget,
          classOf: (name) => classOf(devices, name),
          isSelected: createSelection(devices, budget),
        });
      if (shared !== undefined && chosen === undefined) return { reason: "cannot allocate all claims" };
      const results = new Map(
        open.map((claim, index) => [claim, allocationResultOf(claim.spec, chosen?.[index] ?? [])]),
      );
      return claims.map((claim) => ({ claim, allocation: results.get(claim) }));
    } catch (error) {
      if (error instanceof SearchLimitError) return { reason: `node ${node.name}: ${error.message}` };
      if (error instanceof AllocationError) return { reason: error.message };
      throw error;
    }
  };
}

function claimsOf({ info, deviceClaims }: PendingPod, devices: DeviceView): Claim[] {
  const names = new Set(deviceClaims.flatMap((entry) => (entry.kind === "named" ? [entry.name] : [])));
  return [...names].flatMap((name) => devices.claim(info.namespace, name) ?? []);
}

function isReachedFrom({ status }: Claim, node: NodeInfo): boolean {
  const selector = status?.allocation?.nodeSelector;
  return selector === undefined || matchesAnyTerm(selector.nodeSelectorTerms, node);
}

function classOf(devices: DeviceView, name: string): DeviceClass {
  const found = devices.deviceClass(name);
  if (found === undefined) throw new AllocationError(`could not retrieve device class ${name}`);
  return found;
}

/** Evaluates selectors, each once for a device and its request. */
function createSelection(devices: DeviceView, budget: AllocationQuestion["budget"]): AllocationQuestion["isSelected"] {
  const values = new Map<PooledDevice, ReturnType<DeviceView["selectable"]>>();
  return (claim, { selectors }, device) => {
    const value = values.get(device) ?? devices.selectable(device);
    values.set(device, value);
    return selectors.every(({ cel }, index) => {
      const program = devices.selector(cel?.expression ?? "");
      if ("problem" in program) {
        throw new AllocationError(`claim ${claim.key}: selector #${index}: CEL compile error: ${program.problem}`);
      }
      const { selected, cost } = program.select(value);
      budget.countCost(cost);
      if (typeof selected === "boolean") return selected;
      throw new AllocationError(`claim ${claim.key}: selector #${index}: CEL runtime error: ${selected.problem}`);
    });
  };
}
