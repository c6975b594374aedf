import type { Container, ContainerPort, EnvVar, Pod, PodSpec } from "../../../../api/gen/types.ts";
import { parseQuantity } from "../../../../api/quantity.ts";
import { APPARMOR_ANNOTATION_PREFIX } from "../../../../api/well-known.ts";

const NANOS_PER_UNIT = 10n ** 9n;
const SECCOMP_PREFIX = "container.seccomp.security.alpha.kubernetes.io/";

/** The containers of all sorts with their paths. */
function containersOf(spec: PodSpec, prefix: string): Array<{ container: Container; path: string }> {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({ container, path: `${prefix}spec.${list}[${index}]` })),
  );
}

/** The warnings about each container by itself. */
export function containerWarnings(pod: Pod, prefix: string): string[] {
  const { metadata, spec } = pod;
  if (spec === undefined) return [];
  return containersOf(spec, prefix).flatMap(({ container, path }) => {
    const annotation = `${SECCOMP_PREFIX}${container.name}`;
    const isIgnored = metadata?.annotations?.[annotation] !== undefined && !container.securityContext?.seccompProfile;
    const advice = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    return [
      ...(isIgnored ? [`${prefix}metadata.annotations[${annotation}]: ${advice}`] : []),
      ...(prefix === "" ? [] : appArmorWarnings(pod, container, prefix)),
      ...fractionWarnings(container.resources?.limits, `${path}.resources.limits`),
      ...fractionWarnings(container.resources?.requests, `${path}.resources.requests`),
      ...envWarnings(container.env ?? [], path),
    ];
  });
}

/** The warning about a template's annotation that a field has replaced and that the pod's own profile does not equal. */
function appArmorWarnings({ metadata, spec }: Pod, { name, securityContext }: Container, prefix: string): string[] {
  const annotation = `${APPARMOR_ANNOTATION_PREFIX}${name}`;
  const named = metadata?.annotations?.[annotation];
  if (named === undefined || securityContext?.appArmorProfile) return [];
  const { type, localhostProfile = "" } = spec?.securityContext?.appArmorProfile ?? {};
  const known = {
    RuntimeDefault: "runtime/default",
    Unconfined: "unconfined",
    Localhost: `localhost/${localhostProfile}`,
  };
  if (Object.entries(known).some(([kind, text]) => kind === type && text === named)) return [];
  const advice = 'deprecated since v1.30; use the "appArmorProfile" field instead';
  return [`${prefix}metadata.annotations[${annotation}]: ${advice}`];
}

/** The warnings about fractions of a byte: `100m` of memory, by which the author meant 100 megabytes. */
export function fractionWarnings(amounts: Readonly<Record<string, string>> = {}, path: string): string[] {
  return ["memory", "ephemeral-storage", "storage"].flatMap((name) => {
    const amount = amounts[name];
    if (amount === undefined || (parseQuantity(amount)?.nanos ?? 0n) % NANOS_PER_UNIT === 0n) return [];
    return [`${path}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`];
  });
}

/**
 * The warnings about variables that are set twice, because an apply loses one of them. There is none when the second
 * value builds on the first: `$(PATH):/opt`.
 */
function envWarnings(env: readonly EnvVar[], path: string): string[] {
  const names = new Set<string>();
  return env.flatMap(({ name, value = "", valueFrom }, index) => {
    const isFirst = !names.has(name);
    names.add(name);
    const reference = `$(${name})`;
    const isBuiltOn = valueFrom === undefined && value !== reference && value.includes(reference);
    if (isFirst || isBuiltOn) return [];
    return [`${path}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`];
  });
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly path: string;
}

/** More warnings than this are of no use to anybody, and each pair of thousands of equal ports would make one. */
const MAX_PORT_WARNINGS = 100;

/** The warnings about ports and names that are used twice, because all containers of a pod share its ports. */
export function portWarnings(spec: PodSpec, prefix: string): string[] {
  return [...portNumberWarnings(spec, prefix), ...portNameWarnings(spec, prefix)];
}

function portNameWarnings(spec: PodSpec, prefix: string): string[] {
  const named = new Map<string, string>();
  const warnings: string[] = [];
  for (const { container, path } of containersOf(spec, prefix)) {
    for (const [index, { name = "" }] of (container.ports ?? []).entries()) {
      const first = named.get(name);
      if (first === undefined) {
        if (name !== "") named.set(name, `${path}.ports[${index}]`);
      } else if (warnings.length < MAX_PORT_WARNINGS) {
        const used = `services and probes that select ports by name will use ${first}`;
        warnings.push(`${path}.ports[${index}]: duplicate port name "${name}" with ${first}, ${used}`);
      }
    }
  }
  return warnings;
}

function portNumberWarnings(spec: PodSpec, prefix: string): string[] {
  const known = new Map<string, PlacedPort[]>();
  const warnings: string[] = [];
  for (const { container, path } of containersOf(spec, prefix)) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      const placed = { port, path: `${path}.ports[${index}]` };
      const key = `${port.containerPort}/${port.protocol ?? ""}`;
      const others = known.get(key) ?? [];
      known.set(key, others);
      for (const other of others) {
        if (warnings.length < MAX_PORT_WARNINGS) warnings.push(...compare(placed, other));
      }
      others.push(placed);
    }
  }
  return warnings;
}

function compare({ port, path }: PlacedPort, other: PlacedPort): string[] {
  const { hostIP = "", hostPort = 0 } = port;
  const { hostIP: otherIp = "", hostPort: otherPort = 0 } = other.port;
  if (hostIP === otherIp && hostPort === otherPort) return [`${path}: duplicate port definition with ${other.path}`];
  if (hostPort === 0 || otherPort === 0) return [`${path}: overlapping port definition with ${other.path}`];
  const isAmbiguous = hostPort === otherPort && (hostIP === "") !== (otherIp === "");
  return isAmbiguous ? [`${path}: dangerously ambiguous port definition with ${other.path}`] : [];
}
