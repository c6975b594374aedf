import { cloneJson } from "../../../../api/clone-json.ts";
import type { FieldError } from "../../../../api/field-error.ts";
import type { Container, PodSpec, PodTemplateSpec } from "../../../../api/gen/types.ts";
import { defaultPodTemplate, validatePodTemplate } from "../../rules/pod-template.ts";

/** A new template with the defaults that its author left out. */
export function defaultTemplate(template: PodTemplateSpec): PodTemplateSpec {
  const defaulted = cloneJson(template);
  defaultPodTemplate(defaulted);
  return defaulted;
}

/** The problems of a template. On the host network its pods get host ports, so it is judged as if it had them. */
export function validateTemplate(path: string, template: PodTemplateSpec): FieldError[] {
  const { spec } = template;
  return validatePodTemplate(path, spec?.hostNetwork ? { ...template, spec: withHostPorts(spec) } : template);
}

function withHostPorts(spec: PodSpec): PodSpec {
  return {
    ...spec,
    containers: spec.containers.map(fillHostPorts),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(fillHostPorts) }),
  };
}

function fillHostPorts(container: Container): Container {
  const { ports } = container;
  if (ports === undefined) return container;
  return { ...container, ports: ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort })) };
}
