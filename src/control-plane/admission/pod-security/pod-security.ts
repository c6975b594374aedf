import { invalidError } from "../../../api/api-error.ts";
import type { Container, EphemeralContainer, Pod } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../ports/request.ts";
import { groupResource } from "../../ports/resource-kind.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import { refusal } from "../refusal.ts";
import { checkExistingPods } from "./check-existing-pods.ts";
import { describeViolations, evaluatePod } from "./evaluate-pod.ts";
import { securedPodOf, templatePodOf } from "./pod-templates.ts";
import type { SecuredPod } from "./secured-pod.ts";
import {
  compareLevels,
  readSecurityPolicy,
  type SecurityPolicy,
  type SecurityStandard,
  showStandard,
} from "./security-policy.ts";

/** The subresources of a pod by which its containers change; all others leave its spec alone. */
const JUDGED_SUBRESOURCES = ["", "ephemeralcontainers", "resize"];

/**
 * Keeps pods to the security standard that their namespace's labels name (`k8s.io/pod-security-admission/admission`):
 * pods are refused or warned about, workloads are warned about, and a namespace that becomes stricter is told which of
 * its pods it would not take any more. Nobody is exempt.
 */
export function createPodSecurity(reader: ResourceReader): AdmissionPlugin {
  const policyOf = (name: string): SecurityPolicy => {
    const namespace = reader.get({ resource: "namespaces", namespace: "", name });
    return readSecurityPolicy(namespace?.metadata.labels).policy;
  };
  return {
    name: "PodSecurity",
    validate(request) {
      const { object, operation, kind } = request;
      if (object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
      const resource = groupResource(kind);
      if (resource === "pods") {
        judgePod(request, object, policyOf);
      } else if (request.subresource !== "") {
        return;
      } else if (resource === "namespaces") {
        judgeNamespace(request, object, reader);
      } else {
        const template = templatePodOf(resource, object);
        if (template) warnOf(request, template, policyOf(request.namespace).warn);
      }
    },
  };
}

function judgePod(
  request: AdmissionRequest,
  object: KubeObject,
  policyOf: (namespace: string) => SecurityPolicy,
): void {
  if (!JUDGED_SUBRESOURCES.includes(request.subresource)) return;
  const { enforce, warn } = policyOf(request.namespace);
  if (enforce.level === "privileged" && warn.level === "privileged") return;
  const pod = typed("Pod", object);
  if (request.current && !isSignificantUpdate(pod, typed("Pod", request.current))) return;
  const secured = securedPodOf(pod);
  const violations = evaluatePod(enforce, secured);
  if (violations.length > 0) {
    const detail = `violates PodSecurity "${showStandard(enforce)}": ${describeViolations(violations)}`;
    throw refusal(request, detail);
  }
  warnOf(request, secured, warn);
}

function warnOf({ warn }: AdmissionRequest, pod: SecuredPod, standard: SecurityStandard): void {
  const violations = evaluatePod(standard, pod);
  if (violations.length === 0) return;
  warn(`would violate PodSecurity "${showStandard(standard)}": ${describeViolations(violations)}`);
}

/** True when containers came or went or have another image; nothing else that may change matters to the standards. */
function isSignificantUpdate(next: Pod, current: Pod): boolean {
  const before = containersOf(current);
  const after = containersOf(next);
  return (
    after.regular.length !== before.regular.length ||
    after.initial.length !== before.initial.length ||
    after.regular.some(({ image }, index) => image !== before.regular[index]?.image) ||
    after.initial.some(({ image }, index) => image !== before.initial[index]?.image) ||
    after.ephemeral.some((container) => {
      const known = before.ephemeral.find(({ name }) => name === container.name);
      return known === undefined || known.image !== container.image;
    })
  );
}

interface ContainerLists {
  readonly regular: readonly Container[];
  readonly initial: readonly Container[];
  readonly ephemeral: readonly EphemeralContainer[];
}

function containersOf({ spec }: Pod): ContainerLists {
  return {
    regular: spec?.containers ?? [],
    initial: spec?.initContainers ?? [],
    ephemeral: spec?.ephemeralContainers ?? [],
  };
}

/** Refuses labels that cannot be read, and warns of pods that a stricter policy would not take. */
function judgeNamespace(
  { kind, current, warn }: AdmissionRequest,
  { metadata }: KubeObject,
  reader: Pick<ResourceReader, "list">,
): void {
  const name = metadata.name ?? "";
  const next = readSecurityPolicy(metadata.labels);
  const before = current && readSecurityPolicy(current.metadata.labels);
  // Labels that were wrong before may stay: an update of something else goes through.
  const isOldError = before !== undefined && JSON.stringify(before.errors) === JSON.stringify(next.errors);
  if (next.errors.length > 0 && !isOldError) throw invalidError(kind, name, next.errors);
  if (before === undefined || !isStricter(next.policy.enforce, before.policy.enforce)) return;
  const pods = reader.list("pods", name).map((pod) => typed("Pod", pod));
  for (const warning of checkExistingPods(name, next.policy.enforce, pods)) warn(warning);
}

/** True unless every pod of the current standard keeps the next one too. */
function isStricter(next: SecurityStandard, current: SecurityStandard): boolean {
  if (next.level === "privileged") return false;
  return next.minor !== current.minor || compareLevels(next.level, current.level) > 0;
}
