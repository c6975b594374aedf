import { defaultPod } from "../../../api/defaults.ts";
import type { FieldError } from "../../../api/field-error.ts";
import type {
  Container,
  LabelSelector,
  PodSpec,
  PodTemplateSpec,
  ResourceFieldSelector,
} from "../../../api/gen/types.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { validatePod } from "../../../api/validate-pod.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { forbidden, invalid, required, unsupported } from "../../../api/validation/problems.ts";

/**
 * Sets the fields that a pod's author may leave out, in place. Defaults that upstream sets on pods only are not set
 * here either, so that a template that is applied again equals the stored one: requests that follow limits, ports that
 * follow the host's, and service links.
 */
export function defaultPodTemplate(template: PodTemplateSpec): void {
  const { spec: sent = { containers: [] } } = template;
  const { spec } = defaultPod({ spec: sent });
  if (!spec) return;
  if (sent.enableServiceLinks === undefined) delete spec.enableServiceLinks;
  restoreResources(spec, sent);
  for (const kind of ["containers", "initContainers"] as const) {
    for (const [index, container] of (spec[kind] ?? []).entries()) {
      const before = sent[kind]?.[index];
      if (before) restoreContainer(container, before);
    }
  }
  fillAlwaysThere(spec);
  template.metadata ??= {};
  template.spec = spec;
}

/** Adds the parts of upstream's types that are always present, even when they are empty, in place. */
export function fillAlwaysThere(spec: PodSpec): void {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  for (const container of [...containers, ...initContainers, ...ephemeralContainers]) {
    container.resources ??= {};
    for (const { valueFrom } of container.env ?? []) fillDivisor(valueFrom);
  }
  for (const { downwardAPI, projected } of volumes) {
    for (const item of downwardAPI?.items ?? []) fillDivisor(item);
    for (const source of projected?.sources ?? []) source.downwardAPI?.items?.forEach(fillDivisor);
  }
}

function fillDivisor(source: { resourceFieldRef?: ResourceFieldSelector } | undefined): void {
  if (source?.resourceFieldRef) source.resourceFieldRef.divisor ??= "0";
}

function restoreContainer(container: Container, sent: Container): void {
  restoreResources(container, sent);
  for (const [index, port] of (container.ports ?? []).entries()) {
    if (!sent.ports?.[index]?.hostPort) delete port.hostPort;
  }
}

function restoreResources(
  { resources }: Pick<PodSpec | Container, "resources">,
  { resources: sent }: Pick<PodSpec | Container, "resources">,
): void {
  if (!resources) return;
  for (const list of ["limits", "requests"] as const) {
    const given = sent?.[list];
    if (given === undefined) delete resources[list];
    else resources[list] = Object.fromEntries(Object.entries(resources[list] ?? {}).filter(([name]) => name in given));
  }
}

/** A pod needs a name and a namespace to pass; a template has neither. */
const NAMED = { name: "template", namespace: "default" };

/**
 * The problems of a pod that is made from the template. Labels and annotations have upstream's paths, without
 * `metadata`.
 */
export function validatePodTemplate(path: string, { metadata = {}, spec }: PodTemplateSpec): FieldError[] {
  const { labels = {}, annotations = {} } = metadata;
  const pod = { metadata: { ...NAMED, labels, annotations }, ...(spec && { spec: trimImages(spec) }) };
  const errors = validatePod(pod).map((error) => ({
    ...error,
    path: error.path === "" ? path : `${path}.${error.path.replace(/^metadata\./, "")}`,
  }));
  const hasEphemeral = (spec?.ephemeralContainers ?? []).length > 0;
  const at = `${path}.spec.ephemeralContainers`;
  return hasEphemeral ? [...errors, forbidden(at, "ephemeral containers not allowed in pod template")] : errors;
}

/** The spec with trimmed images: only a pod's image is refused for spaces, around it or alone. */
function trimImages(spec: PodSpec): PodSpec {
  const trim = (containers: Container[]) => {
    return containers.map(({ image = "", ...container }) => ({
      ...container,
      image: image.trim() || (image && "blank"),
    }));
  };
  const { containers, initContainers } = spec;
  return { ...spec, containers: trim(containers), ...(initContainers && { initContainers: trim(initContainers) }) };
}

/** The fields that long-running workloads have in common. */
interface Workload {
  readonly kind: "daemonset" | "deployment" | "replicaset" | "statefulset";
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
}

/**
 * The problems of a selector, which must select the template's pods. An empty one counts as missing, which it mostly is;
 * upstream does not call that of a daemon set required.
 */
export function validateSelection({ kind, selector, template }: Workload): FieldError[] {
  if (isEmptySelector(selector)) {
    const missing = kind === "daemonset" ? [] : [required("spec.selector")];
    return [...missing, mismatch(template)];
  }
  const errors = validateLabelSelector("spec.selector", selector);
  return errors.length > 0 ? errors : validateSelected(selector, template);
}

/** The problem of a valid selector that does not select the template's pods. */
export function validateSelected(selector: LabelSelector, template: PodTemplateSpec): FieldError[] {
  return labelSelectorOf(selector).matches(template.metadata?.labels ?? {}) ? [] : [mismatch(template)];
}

function mismatch({ metadata }: PodTemplateSpec): FieldError {
  const detail = "`selector` does not match template `labels`";
  return invalid("spec.template.metadata.labels", metadata?.labels ?? null, detail);
}

/** The problems of a template for pods that run for good: they must restart, and have no deadline. */
export function validateLasting(owner: string, { spec }: PodTemplateSpec): FieldError[] {
  const { restartPolicy, activeDeadlineSeconds } = spec ?? {};
  const path = "spec.template.spec";
  const errors: FieldError[] = [];
  if (restartPolicy !== "Always") errors.push(unsupported(`${path}.restartPolicy`, restartPolicy ?? "", ["Always"]));
  if (activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.push(forbidden(`${path}.activeDeadlineSeconds`, detail));
  }
  return errors;
}

/** True for a selector that selects everything. */
function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}
