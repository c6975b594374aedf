import { notFoundError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import { LOOPBACK_USER } from "../../ports/user.ts";
import { checkPreconditions } from "../metadata.ts";
import type { RegistryDeps } from "../registry-deps.ts";
import type { RequestContext } from "../request-context.ts";
import { updateObject } from "../update.ts";
import { boundPod } from "./binding.ts";
import { freeSubresource } from "./free-subresource.ts";

interface BindRequest {
  readonly namespace: string;
  /** The pod's name. */
  readonly name: string;
  /** A `Binding`. */
  readonly binding: KubeObject;
  readonly context: RequestContext;
}

/**
 * Puts the pod on the node that the Binding names. Rejects with an ApiError: NotFound, Conflict (the pod is not the one
 * that the Binding means, or cannot be bound), Invalid.
 */
export async function bindPod(deps: RegistryDeps, { namespace, name, binding, context }: BindRequest): Promise<void> {
  const kind = deps.kinds.stored("pods");
  if (kind === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
  const now = formatTime(deps.now());
  const bind = (pod: KubeObject) => {
    // The author of the Binding has seen one pod, and not another of the same name that came after it.
    checkPreconditions(kind, pod, binding.metadata);
    return boundPod(pod, binding, now);
  };
  // A pod has its first generation on its node, too: authors count their own changes.
  const subresource = { ...freeSubresource("binding", kind), keepsGeneration: true } as const;
  const change = (current: KubeObject | undefined) => current && bind(current);
  await updateObject(deps, { kind, namespace, name, subresource, context, change });
}

/** Binds pods in the name of the control plane itself, with a Binding like that of any other scheduler. */
export function createPodBinder(deps: RegistryDeps): (pod: KubeObject, nodeName: string) => Promise<void> {
  const context: RequestContext = {
    user: LOOPBACK_USER,
    dryRun: false,
    fieldManager: "nodelet",
    fieldValidation: "Ignore",
    warn() {},
  };
  return async ({ metadata }, nodeName) => {
    const { namespace = "", name = "" } = metadata;
    const target = { kind: "Node", name: nodeName };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
    await bindPod(deps, { namespace, name, binding, context });
  };
}
