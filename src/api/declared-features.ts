import type { Container, PodSpec } from "./gen/types.ts";

type DeclaringGate =
  | "ExtendWebSocketsToKubelet"
  | "RestartAllContainersOnContainerExits"
  | "UserNamespacesHostNetworkSupport";

/** The node itself serves exec, attach and port-forward to clients that speak WebSockets. */
export const EXTENDS_WEB_SOCKETS = "ExtendWebSocketsToKubelet";

/** The facts that decide on the features that a node declares. */
export interface NodeAbilities {
  /** Feature gates by their names. */
  readonly gates: Readonly<Record<DeclaringGate, boolean>>;
  /** The abilities that the runtime's status tells; undefined until it has been read. */
  readonly runtime: { readonly userNamespacesHostNetwork: boolean } | undefined;
}

interface DeclaredFeature {
  /** The name in `status.declaredFeatures` of a node. */
  readonly name: string;
  /** True where this node agent has it, by its gates and on its runtime. */
  readonly isDeclaredBy: (node: NodeAbilities) => boolean;
  /** True where only nodes that declare it can run the pod. Undefined: it concerns changes of pods, or no pod. */
  readonly isRequiredBy: ((spec: PodSpec) => boolean) | undefined;
}

/**
 * The features that nodes declare, so that a pod comes to no node of a version that cannot run it. Follows the registry
 * under component-helpers/nodedeclaredfeatures as of 1.36; sorted, as validation demands of a node's list.
 */
const FEATURES: readonly DeclaredFeature[] = [
  // An API server passes clients that speak WebSockets on to such a node instead of translating for them.
  {
    name: EXTENDS_WEB_SOCKETS,
    isDeclaredBy: ({ gates }) => gates.ExtendWebSocketsToKubelet,
    isRequiredBy: undefined,
  },
  { name: "InPlacePodLevelResourcesVerticalScaling", isDeclaredBy: () => true, isRequiredBy: undefined },
  { name: "InPlacePodVerticalScalingInitContainers", isDeclaredBy: () => true, isRequiredBy: undefined },
  {
    name: "RestartAllContainersOnContainerExits",
    isDeclaredBy: ({ gates }) => gates.RestartAllContainersOnContainerExits,
    isRequiredBy: restartsAllContainers,
  },
  {
    name: "UserNamespacesHostNetworkSupport",
    // The agent only has to ask for both; the runtime must know how to mount /sys into such a pod.
    isDeclaredBy: ({ gates, runtime }) =>
      gates.UserNamespacesHostNetworkSupport && runtime?.userNamespacesHostNetwork === true,
    isRequiredBy: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  },
];

/** The features that a node of this program declares, sorted. */
export function computeDeclaredFeatures(node: NodeAbilities): string[] {
  return namesOf(({ isDeclaredBy }) => isDeclaredBy(node));
}

/** The features that a node must declare to run the pod, sorted. */
export function computeRequiredFeatures(spec: PodSpec): string[] {
  return namesOf(({ isRequiredBy }) => isRequiredBy?.(spec) === true);
}

function namesOf(isWanted: (feature: DeclaredFeature) => boolean): string[] {
  return FEATURES.filter(isWanted).map(({ name }) => name);
}

function restartsAllContainers({ containers, initContainers = [] }: PodSpec): boolean {
  const hasRule = ({ restartPolicyRules = [] }: Container) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers");
  return [...containers, ...initContainers].some(hasRule);
}
