import type { Capabilities, Container, Pod, SELinuxOptions } from "../../../api/gen/types.ts";
import { podContainers, podFullName, podUid } from "../../../api/pods.ts";
import {
  Capability,
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  SecurityProfile_ProfileType as ProfileType,
  SELinuxOption,
  SupplementalGroupsPolicy,
} from "../../../cri/gen/cri-v1.ts";
import { buildNamespaceOptions, type UserNamespaceMapping, withProcessTarget } from "./namespaces.ts";
import type { NodeFacts } from "./node-facts.ts";
import { buildAppArmor, buildSeccompProfile, findProfileError } from "./security-profiles.ts";

/** The user that an image asks to run as, from the runtime's ImageStatus. If neither field is set, the user is root. */
export interface ImageUser {
  uid?: bigint | undefined;
  /** Set only when the user is not a number. Only the image knows which user the name means. */
  username?: string | undefined;
}

export interface ContainerSecurityInput {
  pod: Pod;
  container: Container;
  imageUser: ImageUser;
  node: Pick<NodeFacts, "rootDirectory" | "seccompDefault">;
  /** The container whose processes an ephemeral container sees. */
  targetContainerId?: string | undefined;
  userNamespace?: UserNamespaceMapping | undefined;
  /** The groups that the pod's persistent volumes belong to. Default: none. */
  volumeGroups?: readonly bigint[] | undefined;
}

/**
 * The paths that runtimes mask by default. Later kubelets mask the last two, so that tenants cannot read each other's
 * power use.
 */
const MASKED_PATHS = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/proc/interrupts",
  "/sys/devices/virtual/powercap",
];
const READONLY_PATHS = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/**
 * Builds the container's security settings, with the pod's settings where the container sets none. Check
 * `findSecurityError` first.
 */
export function buildContainerSecurityContext(input: ContainerSecurityInput): LinuxContainerSecurityContext {
  const { pod, container, imageUser, node } = input;
  const effective = effectiveSecurityContext(pod, container);
  const unmasked = effective.procMount === "Unmasked";
  return LinuxContainerSecurityContext.fromPartial({
    capabilities: capabilities(effective.capabilities),
    privileged: effective.privileged === true,
    namespaceOptions: withProcessTarget(buildNamespaceOptions(pod, input.userNamespace), input.targetContainerId),
    selinuxOptions: selinuxOptions(effective.seLinuxOptions),
    ...runAs(effective.runAsUser, imageUser),
    runAsGroup: int64(effective.runAsGroup),
    readonlyRootfs: effective.readOnlyRootFilesystem === true,
    noNewPrivs: effective.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : MASKED_PATHS,
    readonlyPaths: unmasked ? [] : READONLY_PATHS,
    ...groups(pod, input.volumeGroups),
    seccomp: buildSeccompProfile(pod, container, node),
    ...buildAppArmor(pod, container),
  });
}

/** Builds the settings that hold for the pod as a whole. The sandbox always has the runtime's seccomp profile. */
export function buildSandboxSecurityContext(
  pod: Pod,
  { userNamespace, volumeGroups }: Pick<ContainerSecurityInput, "userNamespace" | "volumeGroups">,
): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions } = pod.spec?.securityContext ?? {};
  return LinuxSandboxSecurityContext.fromPartial({
    namespaceOptions: buildNamespaceOptions(pod, userNamespace),
    selinuxOptions: selinuxOptions(seLinuxOptions),
    runAsUser: int64(runAsUser),
    runAsGroup: int64(runAsGroup),
    ...groups(pod, volumeGroups),
    // The runtime must allow in the sandbox what any of the containers will need.
    privileged: podContainers(pod).some(({ container }) => container.securityContext?.privileged === true),
    seccomp: { profileType: ProfileType.RuntimeDefault },
  });
}

/** Returns why the container must not be started like this: the message of a CreateContainerConfigError. */
export function findSecurityError({ pod, container, imageUser }: ContainerSecurityInput): string | undefined {
  return findNonRootError(pod, container, imageUser) ?? findGroupsError(pod) ?? findProfileError(pod, container);
}

/** The messages are upstream's (verifyRunAsNonRoot). */
function findNonRootError(pod: Pod, container: Container, imageUser: ImageUser): string | undefined {
  const { runAsNonRoot, runAsUser } = effectiveSecurityContext(pod, container);
  if (runAsNonRoot !== true) return undefined;
  const where = `(pod: "${podFullName(pod)}(${podUid(pod)})", container: ${container.name})`;
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  }
  const user = knownUser(imageUser);
  if (user.runAsUser?.value === 0n) return `container has runAsNonRoot and image will run as root ${where}`;
  if (user.runAsUser !== undefined) return undefined;
  return (
    `container has runAsNonRoot and image has non-numeric user (${user.runAsUsername}), ` +
    `cannot verify user is non-root ${where}`
  );
}

/** Returns why the pod's supplemental groups policy cannot be kept; undefined when it can. */
export function findGroupsError(pod: Pod): string | undefined {
  const policy = pod.spec?.securityContext?.supplementalGroupsPolicy;
  if (policy === undefined || Object.hasOwn(SupplementalGroupsPolicy, policy)) return undefined;
  return `unsupported supplementalGroupsPolicy: ${policy}`;
}

/**
 * Returns the container's settings. The four settings that pods have too come from the pod where the container sets
 * none.
 */
function effectiveSecurityContext(pod: Pod, container: Container) {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  return {
    ...own,
    runAsUser: own.runAsUser ?? shared.runAsUser,
    runAsGroup: own.runAsGroup ?? shared.runAsGroup,
    runAsNonRoot: own.runAsNonRoot ?? shared.runAsNonRoot,
    seLinuxOptions: own.seLinuxOptions ?? shared.seLinuxOptions,
  };
}

type RunAs = Pick<LinuxContainerSecurityContext, "runAsUser" | "runAsUsername">;

/** A user that the pod names wins over the image's. */
function runAs(runAsUser: number | undefined, imageUser: ImageUser): RunAs {
  return runAsUser === undefined ? knownUser(imageUser) : { runAsUser: int64(runAsUser), runAsUsername: "" };
}

/** An image that names no user runs as root. */
function knownUser({ uid, username = "" }: ImageUser): RunAs {
  if (uid !== undefined) return { runAsUser: { value: uid }, runAsUsername: "" };
  return { runAsUser: username === "" ? { value: 0n } : undefined, runAsUsername: username };
}

function groups(
  pod: Pod,
  ofVolumes: readonly bigint[] = [],
): Pick<LinuxContainerSecurityContext, "supplementalGroups" | "supplementalGroupsPolicy"> {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy } = pod.spec?.securityContext ?? {};
  const asked = supplementalGroups.map(BigInt);
  const own = [...(fsGroup === undefined ? [] : [BigInt(fsGroup)]), ...asked];
  return {
    supplementalGroups: [...own, ...ofVolumes.filter((group) => !asked.includes(group))],
    supplementalGroupsPolicy:
      supplementalGroupsPolicy === "Strict" ? SupplementalGroupsPolicy.Strict : SupplementalGroupsPolicy.Merge,
  };
}

function capabilities(asked: Capabilities | undefined): Capability | undefined {
  return asked && Capability.fromPartial({ addCapabilities: asked.add ?? [], dropCapabilities: asked.drop ?? [] });
}

function selinuxOptions(options: SELinuxOptions | undefined): SELinuxOption | undefined {
  return options && SELinuxOption.fromPartial(options);
}

function int64(value: number | undefined): { value: bigint } | undefined {
  return value === undefined ? undefined : { value: BigInt(value) };
}
