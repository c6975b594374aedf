import type { Node } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import type { CsiNodeInfo } from "../../../csi/port.ts";
import { findTopologyCollision } from "./topology.ts";

/** The facts about the drivers on this node. */
export interface CsiFacts {
  /** The registered drivers by name, with what each reports about this node. */
  readonly drivers: ReadonlyMap<string, CsiNodeInfo>;
  /**
   * Drivers that were here since the start and are gone. Other drivers that the API names and that are not here are
   * left alone: they were here before the node agent started and may be coming back, and a pod's volume must not be
   * detached because of that.
   */
  readonly removed: ReadonlySet<string>;
}

/** The annotation holds a JSON object: the node's ID by driver. */
const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";

/**
 * Returns the labels that the drivers' topologies give the node. A driver that is gone leaves its labels, as upstream
 * has it.
 */
function computeNodeLabels({ drivers }: CsiFacts): Readonly<Record<string, string>> {
  return Object.fromEntries([...drivers.values()].flatMap(({ topology }) => Object.entries(topology)));
}

/** Returns the annotation's new value; undefined for none. An existing value that is no JSON object is replaced. */
function computeNodeIdAnnotation({ drivers, removed }: CsiFacts, existing: string | undefined): string | undefined {
  const kept = [...readNodeIds(existing)].filter(([name]) => !removed.has(name));
  const ids = new Map([...kept, ...[...drivers].map(([name, { nodeId }]) => [name, nodeId] as const)]);
  if (ids.size === 0) return undefined;
  // The names are in order, as Go writes them.
  return JSON.stringify(Object.fromEntries([...ids].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * Returns the node object with what its drivers report, for the heartbeat's patch: the annotation and the topology
 * labels. A driver that contradicts the node's labels is left out. Returns the node itself where nothing differs.
 */
export function withCsiFacts(node: Node, facts: CsiFacts): Node {
  const { [NODE_ID_ANNOTATION]: existing, ...others } = node.metadata?.annotations ?? {};
  const { facts: fitting } = withoutCollisions(facts, node.metadata?.labels ?? {});
  const annotation = computeNodeIdAnnotation(fitting, existing);
  const labels = { ...computeNodeLabels(fitting), ...node.metadata?.labels };
  const isLabelled = Object.keys(labels).length === Object.keys(node.metadata?.labels ?? {}).length;
  if (annotation === existing && isLabelled) return node;
  const annotations = { ...others, ...(annotation !== undefined && { [NODE_ID_ANNOTATION]: annotation }) };
  return { ...node, metadata: { ...node.metadata, labels, annotations } };
}

/**
 * Returns the facts without the drivers whose topology the node contradicts, and the contradiction by driver. Such
 * drivers were registered before the node object was known. Upstream would not have registered them.
 */
export function withoutCollisions(
  facts: CsiFacts,
  labels: Readonly<Record<string, string>>,
): { readonly facts: CsiFacts; readonly collisions: ReadonlyMap<string, string> } {
  const collisions = new Map<string, string>();
  for (const [name, { topology }] of facts.drivers) {
    const collision = findTopologyCollision(topology, labels);
    if (collision !== undefined) collisions.set(name, collision);
  }
  if (collisions.size === 0) return { facts, collisions };
  const drivers = new Map([...facts.drivers].filter(([name]) => !collisions.has(name)));
  return { facts: { ...facts, drivers }, collisions };
}

function readNodeIds(annotation: string | undefined): ReadonlyMap<string, string> {
  if (annotation === undefined || annotation === "") return new Map();
  try {
    const value: unknown = JSON.parse(annotation);
    if (!isRecord(value)) return new Map();
    return new Map(Object.entries(value).flatMap(([name, id]) => (typeof id === "string" ? [[name, id]] : [])));
  } catch {
    return new Map();
  }
}
