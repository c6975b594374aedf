import { notFoundError } from "../../api/api-error.ts";
import type { Node, NodeAddress } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { CodedError } from "../../base/errors.ts";
import type { ResourceReader } from "../ports/resources.ts";

/** The place of a node's API. */
export interface NodeLocation {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
}

/** The port of a node that tells none. */
const KUBELET_PORT = 10_250;

/**
 * The order that kubeadm gives clusters: an address works where no resolver knows the node's name. kube-apiserver's own
 * default begins with the name.
 */
const PREFERRED_ADDRESSES = ["InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS"];

interface NodeFinder {
  readonly reader: Pick<ResourceReader, "get">;
  /** A node that serves its API for this API server alone, at another address than it tells. */
  readonly localNode: { readonly name: string; readonly address: string } | undefined;
}

/**
 * The place at which the node of that name is reached. Throws NotFound when there is none, and a CodedError
 * `no-address` when it has told no address.
 */
export function findNode({ reader, localNode }: NodeFinder, name: string): NodeLocation {
  const object = reader.get({ resource: "nodes", namespace: "", name });
  if (object === undefined) throw notFoundError({ group: "", resource: "nodes" }, name);
  const node = typed("Node", object);
  if (name !== localNode?.name) return computeNodeLocation(node);
  return { host: localNode.address, port: portOf(node) };
}

/** As GetConnectionInfo of pkg/kubelet/client/kubelet_client.go. */
function computeNodeLocation({ status = {} }: Pick<Node, "status">): NodeLocation {
  const addresses = status.addresses ?? [];
  const preferred = PREFERRED_ADDRESSES.flatMap((type) => addresses.filter((address) => address.type === type));
  const [first] = preferred;
  if (first === undefined) {
    const known = addresses.map(showAddress).join(" ");
    throw new CodedError("no-address", `no preferred addresses found; known addresses: [${known}]`);
  }
  return { host: first.address, port: portOf({ status }) };
}

function portOf({ status }: Pick<Node, "status">): number {
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return port > 0 ? port : KUBELET_PORT;
}

const showAddress = ({ type, address }: NodeAddress) => `{${type} ${address}}`;
