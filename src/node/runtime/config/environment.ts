import type { Container, EnvFromSource, EnvVar } from "../../../api/gen/types.ts";
import { type DownwardContext, type DownwardValue, readPodField, readResourceField } from "./downward-api.ts";
import { expandVariables } from "./expansion.ts";

/** With its value as the container will see it. */
export interface EnvironmentVariable {
  name: string;
  value: string;
}

export interface EnvironmentInput extends DownwardContext {
  container: Container;
  /** Of the services that the pod may see (`enableServiceLinks`); the container's own variables win over them. */
  serviceVariables: readonly EnvironmentVariable[];
}

/** The error names the container and the field; it is the message of a CreateContainerConfigError. */
export type Environment = { ok: true; variables: EnvironmentVariable[] } | { ok: false; error: string };

/**
 * The container's environment: its `env` in order, each name once and with its last value, then the services'.
 * Values may refer to variables declared before them and to the services'. Config maps, secrets and env files cannot be
 * read yet: a reference to one is an error, unless it is optional, which skips it.
 */
export function buildEnvironment(input: EnvironmentInput): Environment {
  const { container } = input;
  const fail = (field: string, error: string): Environment => ({
    ok: false,
    error: `container "${container.name}": ${field}: ${error}`,
  });

  for (const [index, source] of (container.envFrom ?? []).entries()) {
    const reference = requiredSource(source);
    if (reference !== undefined) return fail(`envFrom[${index}].${reference.field}`, reference.error);
  }

  const services = new Map(input.serviceVariables.map(({ name, value }) => [name, value]));
  const own = new Map<string, string>();
  for (const [index, variable] of (container.env ?? []).entries()) {
    if (variable.value || variable.valueFrom === undefined) {
      const lookup = (name: string) => own.get(name) ?? services.get(name);
      own.set(variable.name, expandVariables(variable.value ?? "", lookup));
      continue;
    }
    const source = resolveSource(variable.valueFrom, input);
    if (source === "skip") continue;
    if (!source.value.ok) return fail(`env[${index}] (${variable.name}) valueFrom.${source.field}`, source.value.error);
    own.set(variable.name, source.value.value);
  }

  const unshadowed = [...services].filter(([name]) => !own.has(name));
  return { ok: true, variables: [...own, ...unshadowed].map(([name, value]) => ({ name, value })) };
}

type Source = NonNullable<EnvVar["valueFrom"]>;
type Resolved = { field: string; value: DownwardValue } | "skip";

function resolveSource(source: Source, input: EnvironmentInput): Resolved {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) return { field: "fieldRef", value: readPodField(fieldRef, input) };
  if (resourceFieldRef) {
    return { field: "resourceFieldRef", value: readResourceField(resourceFieldRef, input.container, input) };
  }
  if (configMapKeyRef) return unreadable("configMapKeyRef", `config map "${configMapKeyRef.name}"`, configMapKeyRef);
  if (secretKeyRef) return unreadable("secretKeyRef", `secret "${secretKeyRef.name}"`, secretKeyRef);
  if (fileKeyRef) return unreadable("fileKeyRef", `file "${fileKeyRef.path}"`, fileKeyRef);
  return { field: "", value: { ok: false, error: "names no source" } };
}

function unreadable(field: string, what: string, { optional }: { optional?: boolean }): Resolved {
  return optional === true ? "skip" : { field, value: { ok: false, error: cannotRead(what) } };
}

function requiredSource({ configMapRef, secretRef }: EnvFromSource): { field: string; error: string } | undefined {
  if (configMapRef && configMapRef.optional !== true) {
    return { field: "configMapRef", error: cannotRead(`config map "${configMapRef.name}"`) };
  }
  if (secretRef && secretRef.optional !== true) {
    return { field: "secretRef", error: cannotRead(`secret "${secretRef.name}"`) };
  }
  return undefined;
}

function cannotRead(what: string): string {
  return `${what} cannot be read: this version sets variables only from values, fields and resources`;
}
