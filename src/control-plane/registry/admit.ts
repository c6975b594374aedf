import type { KubeObject } from "../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest, PendingCreation } from "../ports/request.ts";

/** Lets every plugin wait for what it will need. Undefined for most creations: those are decided in the turn they come in. */
export function settleAdmission(
  plugins: readonly AdmissionPlugin[],
  creation: PendingCreation,
): Promise<unknown> | undefined {
  const waits = plugins.flatMap(({ settle }) => settle?.(creation) ?? []);
  return waits.length === 0 ? undefined : Promise.all(waits);
}

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
