import type { KubeObject } from "../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";

/** The object after every plugin that changes objects, in their order. Throws what a plugin throws to refuse. */
export function mutateAdmitted(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): KubeObject | undefined {
  let { object } = request;
  for (const { mutate } of plugins) {
    const changed = mutate?.({ ...request, object });
    if (changed !== undefined) object = changed;
  }
  return object;
}

/** Asks every plugin that only judges. */
export function validateAdmitted(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): void {
  for (const { validate } of plugins) validate?.(request);
}
