import type { Container, PodSpec } from "./gen/types.ts";

/** What decides on the features that a node declares. */
export interface NodeAbilities {
  /** Feature gates by their names. */
  readonly gates: Readonly<Record<"UserNamespacesHostNetworkSupport", boolean>>;
  /** As the runtime's status tells it; undefined until it has. */
  readonly runtime: { readonly userNamespacesHostNetwork: boolean } | undefined;
}

interface DeclaredFeature {
  /** As `status.declaredFeatures` of a node has it. */
  readonly name: string;
  /** Whether this node agent does it, by its gates and on its runtime. Undefined: it does not, whatever the gates say. */
  readonly isDeclaredBy: ((node: NodeAbilities) => boolean) | undefined;
  /** Whether only nodes that declare it can run the pod. Undefined: it is about changes of pods, or about no pod. */
  readonly isRequiredBy: ((spec: PodSpec) => boolean) | undefined;
}

/**
 * The features that nodes declare, so that a pod comes to no node of a version that cannot run it. Follows the registry
 * under component-helpers/nodedeclaredfeatures as of 1.36; sorted, as validation demands of a node's list.
 */
const FEATURES: readonly DeclaredFeature[] = [
  // The node passes streams on to the runtime as they come; the API server translates WebSockets to SPDY for it.
  { name: "ExtendWebSocketsToKubelet", isDeclaredBy: undefined, isRequiredBy: undefined },
  // No resources can be changed in place here, neither those of pods as a whole nor those of init containers.
  { name: "InPlacePodLevelResourcesVerticalScaling", isDeclaredBy: undefined, isRequiredBy: undefined },
  { name: "InPlacePodVerticalScalingInitContainers", isDeclaredBy: undefined, isRequiredBy: undefined },
  // Pods whose containers have `restartPolicyRules` are refused here.
  { name: "RestartAllContainersOnContainerExits", isDeclaredBy: undefined, isRequiredBy: restartsAllContainers },
  {
    name: "UserNamespacesHostNetworkSupport",
    // The agent only has to ask for both; the runtime must know how to mount /sys into such a pod.
    isDeclaredBy: ({ gates, runtime }) =>
      gates.UserNamespacesHostNetworkSupport && runtime?.userNamespacesHostNetwork === true,
    isRequiredBy: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  },
];

/** What a node of this program declares, sorted. */
export function computeDeclaredFeatures(node: NodeAbilities): string[] {
  return namesOf(({ isDeclaredBy }) => isDeclaredBy?.(node) === true);
}

/** What a node must declare before the pod may come to it, sorted. */
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
