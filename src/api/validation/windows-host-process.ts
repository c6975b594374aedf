import type { FieldError } from "../field-error.ts";
import type { Container, PodSpec } from "../gen/types.ts";
import { invalid } from "./problems.ts";

/**
 * Validates who runs on a Windows host itself: all containers of a pod or none, in the host's network, and no container
 * says otherwise than its pod (`validateWindowsHostProcessPod`).
 */
export function validateHostProcess(path: string, spec: PodSpec): FieldError[] {
  const wanted = spec.securityContext?.windowsOptions?.hostProcess;
  const own = (container: Pick<Container, "securityContext">) => container.securityContext?.windowsOptions?.hostProcess;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  const lists = Object.entries({ initContainers, containers, ephemeralContainers });
  const all = lists.flatMap(([name, list]) => {
    return list.map((container, index) => ({ place: `${path}.${name}[${index}]`, value: own(container) }));
  });
  const conflicting = all.filter(({ value }) => wanted !== undefined && value !== undefined && value !== wanted);
  const errors = conflicting.map(({ place, value }) => {
    const problem = `pod hostProcess value must be identical if both are specified, was ${wanted}`;
    return invalid(`${place}.securityContext.windowsOptions.hostProcess`, value, problem);
  });
  const onHost = all.filter(({ value }) => value ?? wanted ?? false);
  if (onHost.length === 0) return errors;
  if (onHost.length < all.length) {
    const problem = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.push(invalid(path, "", problem));
  }
  if (spec.hostNetwork !== true) {
    const problem = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.push(invalid(`${path}.hostNetwork`, false, problem));
  }
  return errors;
}
