import { notFoundError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { LOOPBACK_USER } from "../../ports/user.ts";
import { admitBody } from "../admit.ts";
import { decideAdmitted } from "../decide-admitted.ts";
import { checkPreconditions } from "../metadata.ts";
import type { RegistryDeps } from "../registry-deps.ts";
import { optionsOf, type RequestContext } from "../request-context.ts";
import { updateObject } from "../update.ts";
import { boundPod } from "./binding.ts";
import { freeSubresource } from "./free-subresource.ts";

interface BindRequest {
  /** That of pods, or that of bindings, whose objects are made to bind pods. */
  readonly kind: ResourceKind;
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
export async function bindPod(deps: RegistryDeps, request: BindRequest): Promise<void> {
  const { namespace, name, context } = request;
  const pods = deps.kinds.stored("pods");
  if (pods === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
  const now = formatTime(deps.now());
  // A pod has its first generation on its node, too: authors count their own changes.
  const subresource = { ...freeSubresource("binding", pods), keepsGeneration: true } as const;
  await decideAdmitted(deps, pods, async (own) => {
    const binding = admitBinding(own, request);
    const bind = (pod: KubeObject) => {
      // The author of the Binding has seen one pod, and not another of the same name that came after it.
      checkPreconditions(pods, pod, binding.metadata);
      return boundPod(pod, binding, now);
    };
    const change = (current: KubeObject | undefined) => current && bind(current);
    await updateObject(own, { kind: pods, namespace, name, subresource, context, change });
  });
}

/** The Binding as admission leaves it. */
function admitBinding(
  { admission }: Pick<RegistryDeps, "admission">,
  { kind, namespace, name, binding, context }: BindRequest,
): KubeObject {
  const { user, dryRun, warn, annotate } = context;
  const metadata = { ...binding.metadata, name, namespace };
  return admitBody(admission, {
    operation: "CREATE",
    kind,
    subresource: kind.kind === "Pod" ? "binding" : "",
    namespace,
    name,
    user,
    object: { ...binding, apiVersion: "v1", kind: "Binding", metadata },
    current: undefined,
    dryRun,
    options: optionsOf("CreateOptions", context),
    warn,
    annotate,
  });
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
    const kind = deps.kinds.stored("pods");
    if (kind === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
    const target = { kind: "Node", name: nodeName };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
    await bindPod(deps, { kind, namespace, name, binding, context });
  };
}
