import type { FieldError } from "../field-error.ts";
import type { PodSecurityContext, PodSpec, SecurityContext, Sysctl } from "../gen/types.ts";
import { checkLocalPath } from "./names.ts";
import {
  duplicate,
  each,
  forbidden,
  inRange,
  invalid,
  invalidEach,
  optionalOneOf,
  required,
  unsupported,
} from "./problems.ts";

/** The range of user and group ids that the kernel and the API accept. */
const ID_RANGE = [0, 2_147_483_647] as const;

/** Validates the pod's security context: ids, sysctls, profiles. */
export function validatePodSecurity(path: string, spec: PodSpec): FieldError[] {
  const context = spec.securityContext ?? {};
  const errors = [
    ...validateIdentity(path, context),
    ...inRange(`${path}.fsGroup`, context.fsGroup, ID_RANGE),
    ...each(`${path}.supplementalGroups`, context.supplementalGroups, (group, place) =>
      inRange(place, group, ID_RANGE),
    ),
    ...optionalOneOf(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ["Always", "OnRootMismatch"]),
    ...optionalOneOf(`${path}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ["Merge", "Strict"]),
    ...optionalOneOf(`${path}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ["MountOption", "Recursive"]),
    ...validateSysctls(`${path}.sysctls`, context.sysctls, spec),
    ...validateOs(path, context, spec),
    ...validateHostNamespaces(spec),
  ];
  return errors;
}

function validateHostNamespaces(spec: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.shareProcessNamespace && spec.hostPID) {
    const rule = "ShareProcessNamespace and HostPID cannot both be enabled";
    errors.push(invalid("spec.shareProcessNamespace", true, rule));
  }
  if (spec.hostUsers !== false) return errors;
  const { hostNetwork, hostPID, hostIPC } = spec;
  for (const [field, isSet] of Object.entries({ hostNetwork, hostPID, hostIPC })) {
    if (isSet) errors.push(forbidden(`spec.${field}`, "when `hostUsers` is false"));
  }
  return errors;
}

/** Validates a container's security context: ids, capabilities, proc mount, profiles. */
export function validateContainerSecurity(path: string, context: SecurityContext, spec: PodSpec): FieldError[] {
  const { privileged, allowPrivilegeEscalation, procMount, capabilities } = context;
  const errors = [...validateIdentity(path, context), ...validateOs(path, context, spec)];
  errors.push(...optionalOneOf(`${path}.procMount`, procMount, ["Default", "Unmasked"]));
  if (procMount === "Unmasked" && spec.hostUsers !== false) {
    errors.push(invalid(`${path}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`"));
  }
  if (allowPrivilegeEscalation !== false) return errors;
  const escalationPath = `${path}.allowPrivilegeEscalation`;
  if (privileged) {
    const rule = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
    errors.push(invalid(path, { allowPrivilegeEscalation, privileged }, rule));
  }
  if (capabilities?.add?.includes("CAP_SYS_ADMIN")) {
    const rule = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
    errors.push(invalid(escalationPath, false, rule));
  }
  return errors;
}

type Identity = Pick<
  PodSecurityContext & SecurityContext,
  "runAsUser" | "runAsGroup" | "seccompProfile" | "appArmorProfile" | "windowsOptions"
>;

function validateIdentity(path: string, context: Identity): FieldError[] {
  const { seccompProfile, appArmorProfile } = context;
  return [
    ...inRange(`${path}.runAsUser`, context.runAsUser, ID_RANGE),
    ...inRange(`${path}.runAsGroup`, context.runAsGroup, ID_RANGE),
    ...(seccompProfile ? validateProfile(`${path}.seccompProfile`, "seccomp", seccompProfile) : []),
    ...(appArmorProfile ? validateProfile(`${path}.appArmorProfile`, "AppArmor", appArmorProfile) : []),
  ];
}

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

function validateProfile(
  path: string,
  kind: "seccomp" | "AppArmor",
  { type, localhostProfile }: Profile,
): FieldError[] {
  const supported = ["Localhost", "RuntimeDefault", "Unconfined"];
  if (type === "")
    return [
      required(
        `${path}.type`,
        `type is required when ${kind === "seccomp" ? "seccompProfile" : "appArmorProfile"} is set`,
      ),
    ];
  if (!supported.includes(type)) return [unsupported(`${path}.type`, type, supported)];
  const profilePath = `${path}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile === undefined) return [];
    return [invalid(profilePath, localhostProfile, `can only be set when ${kind} type is Localhost`)];
  }
  if (localhostProfile === undefined || (localhostProfile === "" && kind === "AppArmor")) {
    return [required(profilePath, `must be set when ${kind} type is Localhost`)];
  }
  // AppArmor profiles are names of loaded profiles; seccomp profiles are files below the kubelet's directory.
  if (kind === "AppArmor")
    return localhostProfile.trim() === localhostProfile
      ? []
      : [invalid(profilePath, localhostProfile, "must not be padded with whitespace")];
  return invalidEach(profilePath, localhostProfile, checkLocalPath(localhostProfile));
}

function validateOs(path: string, context: Identity, spec: PodSpec): FieldError[] {
  if (spec.os?.name !== "linux" || !context.windowsOptions) return [];
  return [forbidden(`${path}.windowsOptions`, "windows options cannot be set for a linux pod")];
}

const SYSCTL_NAME = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const MAX_SYSCTL_LENGTH = 253;

function validateSysctls(path: string, sysctls: Sysctl[] | undefined, spec: PodSpec): FieldError[] {
  const names = new Set<string>();
  return each(path, sysctls, ({ name }, sysctlPath) => {
    const place = `${sysctlPath}.name`;
    if (name === "") return [required(place)];
    const errors: FieldError[] = [];
    if (name.length > MAX_SYSCTL_LENGTH || !SYSCTL_NAME.test(name)) {
      errors.push(
        invalid(place, name, `must have at most ${MAX_SYSCTL_LENGTH} characters and match regex ${SYSCTL_NAME.source}`),
      );
    } else if (names.has(name)) errors.push(duplicate(place, name));
    names.add(name);
    const dotted = name.replaceAll("/", ".");
    if (spec.hostNetwork && dotted.startsWith("net."))
      errors.push(invalid(place, name, "may not be specified when 'hostNetwork' is true"));
    const isIpc = /^(?:kernel\.shm|kernel\.msg|kernel\.sem$|fs\.mqueue\.)/.test(dotted);
    if (spec.hostIPC && isIpc) errors.push(invalid(place, name, "may not be specified when 'hostIPC' is true"));
    return errors;
  });
}
