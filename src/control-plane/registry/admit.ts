import type { KubeObject } from "../../api/object.ts";
import type { AccompanyingWrite, AdmissionPlugin, AdmissionRequest, PendingCreation } from "../ports/request.ts";
import { decideAdmitted } from "./decide-admitted.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/**
 * Lets every plugin wait for what it will need. Undefined when no plugin waits: most creations are decided in the turn
 * in which they arrive.
 */
export function settleAdmission(
  plugins: readonly AdmissionPlugin[],
  creation: PendingCreation,
): Promise<unknown> | undefined {
  const waits = plugins.flatMap(({ settle }) => settle?.(creation) ?? []);
  return waits.length === 0 ? undefined : Promise.all(waits);
}

/**
 * The object after all plugins that change objects, in their order; all have a second turn where one of them asks for
 * that. Throws the error by which a plugin refuses.
 */
export function mutateAdmitted(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): KubeObject | undefined {
  const object = mutateOnce(plugins, request);
  if (!plugins.some((plugin) => plugin.wantsReinvocation?.())) return object;
  return mutateOnce(plugins, { ...request, object, isReinvocation: true });
}

function mutateOnce(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): KubeObject | undefined {
  let { object } = request;
  for (const { mutate } of plugins) {
    const changed = mutate?.({ ...request, object });
    if (changed !== undefined) object = changed;
  }
  return object;
}

/** Asks all plugins that only judge. Throws the error by which a plugin refuses. */
export function validateAdmitted(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): void {
  for (const { validate } of plugins) validate?.(request);
}

/** All that the plugins store together with the object of the request. */
export function accompanyAdmitted(
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest,
): readonly AccompanyingWrite[] {
  return plugins.flatMap(({ accompany }) => accompany?.(request) ?? []);
}

/**
 * Asks all plugins about the body of an action that is no object of the store (an eviction, a token request), and
 * resolves with it as they have changed it. Rejects with the error by which a plugin refuses.
 */
export async function admitAction(
  deps: RegistryDeps,
  request: AdmissionRequest & { readonly object: KubeObject },
): Promise<KubeObject> {
  return await decideAdmitted(deps, request.kind, async ({ admission }) => admitBody(admission, request));
}

/** Asks all plugins about such a body within a decision. Throws the error by which a plugin refuses. */
export function admitBody(
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest & { readonly object: KubeObject },
): KubeObject {
  const object = mutateAdmitted(plugins, request) ?? request.object;
  validateAdmitted(plugins, { ...request, object });
  return object;
}
