import type * as types from "../../api/gen/types.ts";
import type { ReflectorChange } from "../../kube/reflector.ts";
import type { AddressFamily, FragmentChanges } from "./fragment.ts";

/** The kinds of objects that rules are made of. */
interface ClusterKinds {
  Service: types.Service;
  EndpointSlice: types.EndpointSlice;
  NetworkPolicy: types.NetworkPolicy;
  Namespace: types.Namespace;
  Pod: types.Pod;
  /** The node of this proxy, and no other. */
  Node: types.Node;
}

export type ClusterKind = keyof ClusterKinds;

/** A change of an object of one of these kinds. */
export type RuleInput = {
  [Kind in ClusterKind]: { readonly kind: Kind; readonly change: ReflectorChange<ClusterKinds[Kind]> };
}[ClusterKind];

/** Connections that the kernel still sends to where they no longer belong. */
export interface StaleFlow {
  readonly family: AddressFamily;
  readonly protocol: "udp";
  /** The address that clients called; undefined for a port of the node. */
  readonly destination: string | undefined;
  readonly port: number;
  /** The endpoint that is gone, with its port; undefined for all flows that went nowhere. */
  readonly endpoint: { readonly ip: string; readonly port: number } | undefined;
}

export interface CompiledRules {
  readonly fragments: Readonly<Record<AddressFamily, FragmentChanges>>;
  /** These are forgotten once the rules are in force. */
  readonly staleFlows: readonly StaleFlow[];
}

/**
 * Makes rules of objects. It does no I/O, and the loop applies the rules of all compilers in one transaction. Names of
 * chains, sets and fragments begin with a word of the compiler's own, so that two do not clash.
 */
export interface RuleCompiler {
  /** The kinds whose changes it gets. */
  readonly kinds: readonly ClusterKind[];
  /** Takes in changes. The first call has all objects, and its answer has what does not depend on any. */
  compile(changes: readonly RuleInput[]): CompiledRules;
}
