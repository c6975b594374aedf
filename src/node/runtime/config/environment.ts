import type { Container, EnvFromSource, EnvVar } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { type DownwardContext, type DownwardValue, readPodField, readResourceField } from "./downward-api.ts";
import { type EnvFiles, readFileKey } from "./env-files.ts";
import { createEnvironmentLimits, type EnvironmentLimits, MAX_VARIABLES } from "./environment-limits.ts";
import { expandVariables } from "./expansion.ts";
import {
  type KeyReference,
  type ReferredObjects,
  type ReferredValue,
  readEntries,
  readKey,
} from "./referred-values.ts";

/** A variable, with the value that the container will see. */
export interface EnvironmentVariable extends ReferredValue {
  name: string;
}

export interface EnvironmentInput extends DownwardContext {
  container: Container;
  /**
   * The variables of the services that the pod may see (`enableServiceLinks`). The container's own variables win over
   * them.
   */
  serviceVariables: readonly EnvironmentVariable[];
  /** Every object that the container names. */
  objects: ReferredObjects;
  /** Every file that the container names. */
  envFiles: EnvFiles;
}

/** Lists keys that are not valid names of variables; it becomes an event on the pod. */
interface EnvironmentWarning {
  reason: "InvalidEnvironmentVariableNames";
  message: string;
}

/** The error is the message of a CreateContainerConfigError. */
type Environment =
  | { ok: true; variables: EnvironmentVariable[]; warnings: EnvironmentWarning[] }
  | { ok: false; error: string };

/**
 * Builds the container's environment: `envFrom`, then `env` in order, each name once and with its last value, then the
 * services' variables. A value may refer to variables set before it and to the services' variables. Follows
 * makeEnvironmentVariables (kubelet_pods.go). What no program can be given is an error.
 */
export function buildEnvironment(input: EnvironmentInput): Environment {
  const { env = [], envFrom = [] } = input.container;
  const own = new Map<string, ReferredValue>();
  const warnings: EnvironmentWarning[] = [];
  if (input.serviceVariables.length > MAX_VARIABLES) return { ok: false, error: TOO_MANY_SERVICES };
  const limits = createEnvironmentLimits(input.serviceVariables.length);
  for (const source of envFrom) {
    const read = readSource(source, input, limits);
    if (read === "skip") continue;
    if ("error" in read) return { ok: false, error: read.error };
    for (const [name, value] of read.variables) own.set(name, value);
    if (read.warning !== undefined) warnings.push(read.warning);
  }
  const services = new Map(input.serviceVariables.map((variable) => [variable.name, variable]));
  const lookup = (name: string) => (own.get(name) ?? services.get(name))?.value;
  for (const [index, variable] of env.entries()) {
    const value = readVariable(variable, { index, input, lookup, limits });
    if (value === "skip") continue;
    if ("error" in value) return { ok: false, error: value.error };
    own.set(variable.name, value);
  }
  const unshadowed = [...services.values()].filter(({ name }) => !own.has(name));
  const variables = [...[...own].map(([name, value]) => ({ name, ...value })), ...unshadowed];
  return { ok: true, variables, warnings };
}

const TOO_MANY_SERVICES = `the services of the namespace have more than ${MAX_VARIABLES} variables: set enableServiceLinks to false`;

interface VariableFacts {
  /** The variable's place in `env`. */
  readonly index: number;
  readonly input: EnvironmentInput;
  readonly lookup: (name: string) => string | undefined;
  readonly limits: EnvironmentLimits;
}

function readVariable(variable: EnvVar, { index, input, lookup, limits }: VariableFacts): Resolved {
  if (variable.value) {
    const value = expandVariables(variable.value, lookup);
    return limits.add(variable.name, value === undefined ? undefined : { value });
  }
  const resolved = resolveVariable(variable, index, input);
  return resolved === "skip" || "error" in resolved ? resolved : limits.add(variable.name, resolved);
}

type Resolved = ReferredValue | { error: string } | "skip";

function resolveVariable({ name, valueFrom }: EnvVar, index: number, input: EnvironmentInput): Resolved {
  if (valueFrom === undefined) return { value: "" };
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const at = (field: string) => `env[${index}] (${name}) valueFrom.${field}`;
  const downward = (field: string, read: DownwardValue): Resolved =>
    read.ok ? { value: read.value } : { error: describe(input, at(field), read.error) };
  const referred = (reference: KeyReference): Resolved =>
    readKey(input.objects, reference, podReference(input.pod).namespace);

  if (fieldRef) return downward("fieldRef", readPodField(fieldRef, input));
  if (resourceFieldRef) {
    return downward("resourceFieldRef", readResourceField(resourceFieldRef, input.container, input));
  }
  if (configMapKeyRef) return referred({ kind: "ConfigMap", ...configMapKeyRef });
  if (secretKeyRef) return referred({ kind: "Secret", ...secretKeyRef });
  if (fileKeyRef) {
    const read = readFileKey(input.envFiles, fileKeyRef);
    return read === "skip" || !("error" in read) ? read : { error: describe(input, at("fileKeyRef"), read.error) };
  }
  return { error: describe(input, at(""), "names no source") };
}

type ReadSource =
  | { variables: Array<[name: string, value: ReferredValue]>; warning?: EnvironmentWarning }
  | { error: string }
  | "skip";

function readSource(
  { prefix = "", configMapRef, secretRef }: EnvFromSource,
  input: EnvironmentInput,
  limits: EnvironmentLimits,
): ReadSource {
  if (!configMapRef && !secretRef) return "skip";
  const reference = configMapRef
    ? ({ kind: "ConfigMap", ...configMapRef } as const)
    : ({ kind: "Secret", ...secretRef } as const);
  const read = readEntries(input.objects, reference);
  if (read === "skip" || "error" in read) return read;
  const named = read.found.map(([key, value]): [string, ReferredValue] => [`${prefix}${key}`, value]);
  for (const [name, value] of named) {
    const counted = limits.add(name, value);
    if ("error" in counted) return counted;
  }
  const variables = named.filter(([name]) => isVariableName(name));
  const invalid = named.flatMap(([name]) => (isVariableName(name) ? [] : [name])).toSorted();
  if (invalid.length === 0) return { variables };
  const kind = reference.kind === "Secret" ? "secret" : "configMap";
  const from = `${kind} ${podReference(input.pod).namespace}/${reference.name ?? ""}`;
  const message = `Keys [${invalid.join(", ")}] from the EnvFrom ${from} were skipped since they are considered invalid environment variable names.`;
  return { variables, warning: { reason: "InvalidEnvironmentVariableNames", message } };
}

/** A name may hold any printable ASCII character except `=`, as the API accepts since 1.34. */
function isVariableName(name: string): boolean {
  return /^[ -<>-~]+$/.test(name);
}

function describe({ container }: EnvironmentInput, field: string, error: string): string {
  return `container "${container.name}": ${field}: ${error}`;
}
