import type { CSINode, CSINodeDriver, OwnerReference } from "../../../api/gen/types.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import type { CsiNodeInfo } from "../../../csi/port.ts";
import type { CsiFacts } from "./csi-node-facts.ts";

/** The node object that owns the CSINode. */
export interface OwningNode {
  readonly name: string;
  readonly uid: string;
}

const MIGRATED_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";

/**
 * The in-tree plugins whose volumes CSI drivers serve now, all of them since 1.33 (pkg/volume/csi/csi_plugin.go, Init).
 * The attach-detach controller and the scheduler read the annotation.
 */
const MIGRATED_PLUGINS: readonly string[] = [
  "kubernetes.io/aws-ebs",
  "kubernetes.io/azure-disk",
  "kubernetes.io/azure-file",
  "kubernetes.io/cinder",
  "kubernetes.io/gce-pd",
  "kubernetes.io/portworx-volume",
  "kubernetes.io/vsphere-volume",
];

/** The highest limit that the field, an int32, can hold. A higher limit of a driver is cut to it. */
const MAX_COUNT = 2_147_483_647n;

/**
 * Plans the CSINode: the existing object with the registered drivers, and without those that are gone (upstream:
 * nodeinfomanager.go). Returns the existing object itself where nothing differs.
 */
export function planCsiNode(current: CSINode | undefined, node: OwningNode, facts: CsiFacts): CSINode {
  const drivers = planDrivers(current?.spec.drivers ?? [], facts);
  if (current === undefined) {
    const metadata = {
      name: node.name,
      ownerReferences: [ownerReference(node)],
      annotations: { [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join(",") },
    };
    return { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata, spec: { drivers } };
  }
  const planned: CSINode = {
    ...current,
    metadata: {
      ...current.metadata,
      ownerReferences: planOwners(current.metadata?.ownerReferences ?? [], node),
      annotations: planAnnotations(current.metadata?.annotations ?? {}),
    },
    spec: { ...current.spec, drivers },
  };
  return isEqualJson(planned, current) ? current : planned;
}

/**
 * Returns the plan without the existing drivers that it changes. An API server allows no change of a driver except its
 * limit, and older servers not even that. But it allows a driver to be removed and another one of the same name to be
 * added afterwards.
 */
export function withoutChangedDrivers(current: CSINode, planned: CSINode): CSINode {
  const existing = new Map(current.spec.drivers.map((driver) => [driver.name, driver]));
  const drivers = planned.spec.drivers.filter((driver) => {
    const before = existing.get(driver.name);
    return before === undefined || isEqualJson(before, driver);
  });
  return { ...planned, spec: { ...planned.spec, drivers } };
}

function planDrivers(existing: readonly CSINodeDriver[], { drivers, removed }: CsiFacts): CSINodeDriver[] {
  const kept = existing.flatMap((driver) => {
    const info = drivers.get(driver.name);
    if (info === undefined) return removed.has(driver.name) ? [] : [driver];
    const planned = makeDriver(driver.name, info);
    return [isSameDriver(driver, planned) ? driver : planned];
  });
  const names = new Set(existing.map(({ name }) => name));
  const added = [...drivers].filter(([name]) => !names.has(name)).map(([name, info]) => makeDriver(name, info));
  return [...kept, ...added];
}

/** Makes the entry of a driver. A limit that is not positive means that there is none. */
function makeDriver(name: string, { nodeId, topology, maxVolumes }: CsiNodeInfo): CSINodeDriver {
  const hasLimit = maxVolumes !== undefined && maxVolumes > 0n;
  const count = hasLimit ? Number(maxVolumes < MAX_COUNT ? maxVolumes : MAX_COUNT) : undefined;
  return {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).sort(),
    ...(count !== undefined && { allocatable: { count } }),
  };
}

function isSameDriver(existing: CSINodeDriver, planned: CSINodeDriver): boolean {
  return (
    existing.nodeID === planned.nodeID &&
    existing.allocatable?.count === planned.allocatable?.count &&
    // A server may write null for an empty list.
    isEqualJson([...(existing.topologyKeys ?? [])].sort(), planned.topologyKeys)
  );
}

function ownerReference({ name, uid }: OwningNode): OwnerReference {
  return { apiVersion: "v1", kind: "Node", name, uid };
}

/** Replaces the owner where the node was created anew: the garbage collector removes what the old node's UID owns. */
function planOwners(existing: readonly OwnerReference[], node: OwningNode): OwnerReference[] {
  if (existing.some(({ kind, uid }) => kind === "Node" && uid === node.uid)) return [...existing];
  return [...existing.filter(({ kind }) => kind !== "Node"), ownerReference(node)];
}

function planAnnotations(existing: Readonly<Record<string, string>>): Record<string, string> {
  const current = existing[MIGRATED_PLUGINS_ANNOTATION]?.split(",") ?? [];
  const isSame = isEqualJson([...current].sort(), [...MIGRATED_PLUGINS]);
  return isSame ? { ...existing } : { ...existing, [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join(",") };
}
