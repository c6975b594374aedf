import type { FieldError } from "../field-error.ts";
import type { Container, ContainerPort, IntOrString } from "../gen/types.ts";
import { checkPortName } from "./names.ts";
import { duplicate, each, inRange, invalid, invalidEach, oneOf, required } from "./problems.ts";

const PORT_RANGE = [1, 65535] as const;

/** Validates numbers, names and protocols, and that no host port is taken twice. */
export function validatePorts(path: string, ports: ContainerPort[] | undefined, hostNetwork: boolean): FieldError[] {
  const names = new Set<string>();
  return each(path, ports, (port, portPath) => {
    const errors = validatePort(port, portPath, hostNetwork);
    const { name } = port;
    if (!name) return errors;
    const nameErrors = invalidEach(`${portPath}.name`, name, checkPortName(name));
    if (nameErrors.length === 0 && names.has(name)) errors.push(duplicate(`${portPath}.name`, name));
    names.add(name);
    return [...nameErrors, ...errors];
  });
}

function validatePort(
  { containerPort, hostPort, protocol }: ContainerPort,
  path: string,
  hostNetwork: boolean,
): FieldError[] {
  const isMismatch = hostNetwork && hostPort !== containerPort;
  return [
    ...(containerPort === 0
      ? [required(`${path}.containerPort`)]
      : inRange(`${path}.containerPort`, containerPort, PORT_RANGE)),
    ...(hostPort ? inRange(`${path}.hostPort`, hostPort, PORT_RANGE) : []),
    ...oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
    ...(isMismatch
      ? [invalid(`${path}.hostPort`, hostPort, "must match `containerPort` when `hostNetwork` is true")]
      : []),
  ];
}

/** Validates that each host port goes to only one container of the pod. */
export function validateHostPortConflicts(path: string, containers: readonly Container[]): FieldError[] {
  const taken = new Set<string>();
  return each(path, containers, ({ ports }, containerPath) =>
    each(`${containerPath}.ports`, ports, ({ hostPort, hostIP = "", protocol = "" }, portPath) => {
      if (!hostPort) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) return [duplicate(`${portPath}.hostPort`, key)];
      taken.add(key);
      return [];
    }),
  );
}

/** Validates the port of a handler: a number, or the name of one of the container's ports. */
export function validatePortReference(path: string, port: IntOrString): FieldError[] {
  return typeof port === "number" ? inRange(path, port, PORT_RANGE) : invalidEach(path, port, checkPortName(port));
}
