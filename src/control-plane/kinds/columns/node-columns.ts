import type { Node } from "../../../api/gen/types.ts";
import { orNone } from "./cell-text.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

const ROLE_LABEL_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

/** Nodes, as `kubectl get nodes` shows them. */
export const NODE_COLUMNS = columnsOf("Node", [
  NAME,
  { name: "Status", description: "Whether the node is ready, and whether it takes new pods.", cell: nodeStatus },
  { name: "Roles", description: "What the node's labels say it is for.", cell: nodeRoles },
  AGE,
  {
    name: "Version",
    description: "The version of the node's agent.",
    cell: ({ status }) => status?.nodeInfo?.kubeletVersion ?? "",
  },
  {
    name: "Internal-IP",
    wide: true,
    description: "Where the cluster reaches the node.",
    cell: (node) => addressOf(node, "InternalIP"),
  },
  {
    name: "External-IP",
    wide: true,
    description: "Where others reach the node.",
    cell: (node) => addressOf(node, "ExternalIP"),
  },
  {
    name: "OS-Image",
    wide: true,
    description: "The operating system that the node runs.",
    cell: ({ status }) => status?.nodeInfo?.osImage || "<unknown>",
  },
  {
    name: "Kernel-Version",
    wide: true,
    description: "The kernel that the node runs.",
    cell: ({ status }) => status?.nodeInfo?.kernelVersion || "<unknown>",
  },
  {
    name: "Container-Runtime",
    wide: true,
    description: "The container runtime of the node, with its version.",
    cell: ({ status }) => status?.nodeInfo?.containerRuntimeVersion || "<unknown>",
  },
]);

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === "Ready");
  const readiness = ready?.status === "True" ? "Ready" : "NotReady";
  return [ready ? readiness : "Unknown", ...(spec?.unschedulable ? ["SchedulingDisabled"] : [])].join(",");
}

function nodeRoles({ metadata }: Node): string {
  const roles = Object.entries(metadata?.labels ?? {}).flatMap(([label, value]) => {
    if (label.startsWith(ROLE_LABEL_PREFIX)) return [label.slice(ROLE_LABEL_PREFIX.length)];
    return label === ROLE_LABEL ? [value] : [];
  });
  return orNone([...new Set(roles)].filter(Boolean).toSorted().join(","));
}

function addressOf({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? "<none>";
}
