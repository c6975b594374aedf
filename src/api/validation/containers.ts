import type { FieldError } from "../field-error.ts";
import type { Container, ContainerRestartRule, PodSpec } from "../gen/types.ts";
import { isRestartableInitContainer } from "../pods.ts";
import { validateEnv, validateEnvFileVolumes, validateEnvFrom } from "./env.ts";
import { type ProbeField, validateLifecycle, validateProbe } from "./handlers.ts";
import { type MountableVolumes, mountableVolumes, validateMounts } from "./mounts.ts";
import { checkDnsLabel } from "./names.ts";
import { validateHostPortConflicts, validatePorts } from "./ports.ts";
import {
  duplicate,
  each,
  forbidden,
  inRange,
  invalid,
  invalidEach,
  oneOf,
  optionalOneOf,
  required,
  tooMany,
} from "./problems.ts";
import { validateResources } from "./resources.ts";
import { validateContainerSecurity } from "./security.ts";

const PROBES: readonly ProbeField[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Validates all of the pod's containers; names are unique across kinds. */
export function validateContainers(spec: PodSpec): FieldError[] {
  const names = new Set<string>();
  const volumes = mountableVolumes(spec);
  const validate = (container: Container, path: string) => [
    ...validateName(`${path}.name`, container.name, names),
    ...validateContainer(path, container, spec, volumes),
  ];
  const { containers, initContainers, ephemeralContainers = [] } = spec;
  return [
    ...(containers.length === 0 ? [required("spec.containers")] : []),
    ...each("spec.containers", containers, validate),
    ...each("spec.initContainers", initContainers, (container, path) => [
      ...validate(container, path),
      ...validateInitContainer(path, container),
    ]),
    ...validateHostPortConflicts("spec.containers", containers),
    // Ephemeral containers join running pods; no manifest can start with one.
    ...(ephemeralContainers.length > 0 ? [forbidden("spec.ephemeralContainers", "cannot be set on create")] : []),
  ];
}

function validateName(path: string, name: string, names: Set<string>): FieldError[] {
  if (name === "") return [required(path)];
  const errors = invalidEach(path, name, checkDnsLabel(name));
  if (names.has(name)) errors.push(duplicate(path, name));
  names.add(name);
  return errors;
}

function validateContainer(path: string, container: Container, spec: PodSpec, volumes: MountableVolumes): FieldError[] {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const { image, resources, securityContext } = container;
  return [
    ...validateImage(`${path}.image`, image ?? ""),
    ...oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, ["File", "FallbackToLogsOnError"]),
    ...oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ["Always", "IfNotPresent", "Never"]),
    ...validatePorts(`${path}.ports`, container.ports, spec.hostNetwork === true),
    ...validateEnv(`${path}.env`, container.env),
    ...validateEnvFileVolumes(`${path}.env`, container.env, spec.volumes ?? []),
    ...validateEnvFrom(`${path}.envFrom`, container.envFrom),
    ...validateMounts(path, container, volumes),
    ...(resources ? validateResources(`${path}.resources`, resources, claims) : []),
    ...validateResizePolicy(`${path}.resizePolicy`, container.resizePolicy),
    ...(securityContext ? validateContainerSecurity(`${path}.securityContext`, securityContext, spec) : []),
    ...validateRestart(path, container),
    ...validateHooks(path, container, spec),
  ];
}

function validateResizePolicy(path: string, policies: Container["resizePolicy"]): FieldError[] {
  const resources = new Set<string>();
  return each(path, policies, ({ resourceName, restartPolicy }, place) => {
    const errors = resources.has(resourceName) ? [duplicate(place, resourceName)] : [];
    resources.add(resourceName);
    return [
      ...errors,
      ...oneOf(`${place}.resourceName`, resourceName, ["cpu", "memory"]),
      ...oneOf(`${place}.restartPolicy`, restartPolicy, ["NotRequired", "RestartContainer"]),
    ];
  });
}

function validateImage(path: string, image: string): FieldError[] {
  if (image === "") return [required(path)];
  return image.trim() === image ? [] : [invalid(path, image, "must not have leading or trailing whitespace")];
}

function validateHooks(path: string, container: Container, spec: PodSpec): FieldError[] {
  const { lifecycle } = container;
  const context = { terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds, os: spec.os?.name };
  const errors = lifecycle ? validateLifecycle(`${path}.lifecycle`, lifecycle, context) : [];
  for (const kind of PROBES) {
    const probe = container[kind];
    if (probe) errors.push(...validateProbe(`${path}.${kind}`, kind, probe));
  }
  return errors;
}

/** An init container ends before the main containers start, so it has no probes and no lifecycle hooks. */
function validateInitContainer(path: string, container: Container): FieldError[] {
  if (isRestartableInitContainer(container)) return [];
  return (["lifecycle", ...PROBES] as const)
    .filter((field) => container[field] !== undefined)
    .map((field) => forbidden(`${path}.${field}`, "may not be set for init containers without restartPolicy=Always"));
}

function validateRestart(path: string, { restartPolicy, restartPolicyRules = [] }: Container): FieldError[] {
  const errors = optionalOneOf(`${path}.restartPolicy`, restartPolicy, ["Always", "Never", "OnFailure"]);
  if (restartPolicyRules.length === 0) return errors;
  const rulesPath = `${path}.restartPolicyRules`;
  if (restartPolicy === undefined) {
    errors.push(required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
  }
  if (restartPolicyRules.length > MAX_RESTART_RULES) {
    errors.push(tooMany(rulesPath, restartPolicyRules.length, MAX_RESTART_RULES));
  }
  return [...errors, ...each(rulesPath, restartPolicyRules, validateRestartRule)];
}

function validateRestartRule({ action, exitCodes }: ContainerRestartRule, path: string): FieldError[] {
  const errors = oneOf(`${path}.action`, action, ["Restart", "RestartAllContainers"]);
  if (!exitCodes) return [...errors, required(`${path}.exitCodes`, "must be specified")];
  const { operator, values = [] } = exitCodes;
  errors.push(...oneOf(`${path}.exitCodes.operator`, operator, ["In", "NotIn"]));
  if (values.length === 0) errors.push(required(`${path}.exitCodes.values`, "must specify at least one value"));
  if (values.length > MAX_EXIT_CODES) errors.push(tooMany(`${path}.exitCodes.values`, values.length, MAX_EXIT_CODES));
  return [...errors, ...each(`${path}.exitCodes.values`, values, (value, place) => inRange(place, value, [0, 255]))];
}
