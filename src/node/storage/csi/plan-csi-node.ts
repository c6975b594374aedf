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
 * The in-tree kinds whose volumes are a CSI driver's now, all of them since 1.33 (pkg/volume/csi/csi_plugin.go, Init). The
 * attach-detach controller and the scheduler go by it.
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

/** Of the field, an int32: a driver with a higher limit has this one. */
const MAX_COUNT = 2_147_483_647n;

/**
 * The CSINode as it should be: what exists, with the registered drivers and without those that are gone (upstream:
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
 * The plan without the drivers that exist and are to change. A server lets no field of a driver change but its limit, and
 * older ones not even that; but it lets one go, and another come under its name.
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

/** A limit that is no positive number is none. */
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
    // A server may say null for none.
    isEqualJson([...(existing.topologyKeys ?? [])].sort(), planned.topologyKeys)
  );
}

function ownerReference({ name, uid }: OwningNode): OwnerReference {
  return { apiVersion: "v1", kind: "Node", name, uid };
}

/** A node that was made again has another UID, and the garbage collector would take what the old one owned. */
function planOwners(existing: readonly OwnerReference[], node: OwningNode): OwnerReference[] {
  if (existing.some(({ kind, uid }) => kind === "Node" && uid === node.uid)) return [...existing];
  return [...existing.filter(({ kind }) => kind !== "Node"), ownerReference(node)];
}

function planAnnotations(existing: Readonly<Record<string, string>>): Record<string, string> {
  const current = existing[MIGRATED_PLUGINS_ANNOTATION]?.split(",") ?? [];
  const isSame = isEqualJson([...current].sort(), [...MIGRATED_PLUGINS]);
  return isSame ? { ...existing } : { ...existing, [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join(",") };
}
