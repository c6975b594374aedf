import { badRequestError, notFoundError } from "../../api/api-error.ts";
import type { Node, NodeAddress } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { isAbort } from "../../base/abort.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { isProxyable } from "./reachable-address.ts";

/** The place of a node's API, as the node tells it. */
export interface NodeLocation {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** The features that the node declares. */
  readonly features: readonly string[];
}

/** A place whose addresses were found and checked: a call goes to one of these, whatever the name leads to by then. */
export interface CheckedLocation extends NodeLocation {
  readonly addresses: readonly string[];
}

/** The port of a node that tells none. */
const KUBELET_PORT = 10_250;

/**
 * The order that kubeadm gives clusters: an address works where no resolver knows the node's name. kube-apiserver's own
 * default begins with the name.
 */
const PREFERRED_ADDRESSES = ["InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS"];

export interface NodeFinder {
  readonly reader: Pick<ResourceReader, "get">;
  readonly resolveHost: ResolveHost;
  /** A node that serves its API for this API server alone, at another address than it tells. */
  readonly localNode: { readonly name: string; readonly address: string } | undefined;
}

/**
 * Finds the node's API and checks where that is: a node writes its own address and port, and could lead the API server
 * with its certificate to servers that only the API server reaches. A name is looked up once (CVE-2020-8562), and all
 * that it leads to is checked, whichever port is asked for (CVE-2022-3294). Throws as `findNode`, and BadRequest for a
 * place that is not allowed.
 */
export async function reachNode(finder: NodeFinder, name: string, signal: AbortSignal): Promise<CheckedLocation> {
  const told = findNode(finder, name);
  // The address of the local node is the operator's word, not the node's.
  if (name === finder.localNode?.name) return { ...told, addresses: [told.host] };
  return { ...told, addresses: await checkHost(finder.resolveHost, told.host, signal) };
}

async function checkHost(resolveHost: ResolveHost, host: string, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolveHost(host, signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw badRequestError(messageOf(error));
  }
  if (addresses.length === 0) throw badRequestError("no addresses for hostname");
  if (!addresses.every(isProxyable)) throw badRequestError("address not allowed");
  return addresses;
}

/**
 * The place at which the node of that name is reached. Throws NotFound when there is none, and a CodedError
 * `no-address` when it has told no address.
 */
export function findNode({ reader, localNode }: Omit<NodeFinder, "resolveHost">, name: string): NodeLocation {
  const object = reader.get({ resource: "nodes", namespace: "", name });
  if (object === undefined) throw notFoundError({ group: "", resource: "nodes" }, name);
  const node = typed("Node", object);
  if (name !== localNode?.name) return computeNodeLocation(node);
  return { host: localNode.address, port: portOf(node), features: featuresOf(node) };
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
  return { host: first.address, port: portOf({ status }), features: featuresOf({ status }) };
}

function featuresOf({ status }: Pick<Node, "status">): readonly string[] {
  return status?.declaredFeatures ?? [];
}

function portOf({ status }: Pick<Node, "status">): number {
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return port > 0 ? port : KUBELET_PORT;
}

const showAddress = ({ type, address }: NodeAddress) => `{${type} ${address}}`;
