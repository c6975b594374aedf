import type {
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from "../../../api/gen/types.ts";

/** The parts of a pod, or of the template of one, that the pod security standards judge. */
export interface SecuredPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** Why a check forbids a pod: in a few words, and with the places. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** Judges a pod by one rule. Undefined when the pod keeps it. */
export type PodCheck = (pod: SecuredPod) => Violation | undefined;

type SecuredContainer = Container | EphemeralContainer;

/** The fields that a pod's security context has in common with a container's. */
type SharedContext = Pick<
  PodSecurityContext & SecurityContext,
  "appArmorProfile" | "runAsNonRoot" | "runAsUser" | "seLinuxOptions" | "seccompProfile" | "windowsOptions"
>;

/** All containers in the order in which upstream's messages name them. */
export function securedContainers({ spec }: SecuredPod): readonly SecuredContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** The names of containers that break a rule, with the values by which they do. */
interface BadContainers {
  readonly names: readonly string[];
  /** The values are sorted, and each is there once. */
  readonly values: readonly string[];
}

/** Collects the containers in which `read` finds bad values. */
export function findBadContainers(
  pod: SecuredPod,
  read: (container: SecuredContainer) => readonly string[],
): BadContainers {
  const names: string[] = [];
  const values = new Set<string>();
  for (const container of securedContainers(pod)) {
    const bad = read(container);
    if (bad.length > 0) names.push(container.name);
    for (const value of bad) values.add(value);
  }
  return { names, values: [...values].sort() };
}

/** Who breaks a rule that pods and containers share: `pod and container "a"`; and by which values. */
interface BadSetters {
  readonly setters: readonly string[];
  readonly values: readonly string[];
}

/** Collects the pod and the containers in whose security contexts `read` finds bad values. */
export function findBadSetters(pod: SecuredPod, read: (context: SharedContext) => readonly string[]): BadSetters {
  const { securityContext } = pod.spec;
  const ofPod = securityContext ? read(securityContext) : [];
  const { names, values } = findBadContainers(pod, (container) => {
    return container.securityContext ? read(container.securityContext) : [];
  });
  const setters = [...(ofPod.length > 0 ? ["pod"] : []), ...(names.length > 0 ? [nameContainers(names)] : [])];
  return { setters, values: [...new Set([...ofPod, ...values])].sort() };
}

/** `container "a"`, `containers "a", "b"`. */
export function nameContainers(names: readonly string[]): string {
  return `${plural(names.length, "container")} ${quoteAll(names)}`;
}

/** `"a", "b"`. */
export function quoteAll(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(", ");
}

/** The word, with an `s` unless the count is 1. */
export function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}
