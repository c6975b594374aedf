import type { Container, EphemeralContainer, Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { Page } from "../../../host/http-server.ts";
import { findRunningContainer } from "./find-running.ts";
import type { StreamTarget } from "./stream-target.ts";

/** The pods of this node that streams may go to: those that the node's pod sources name. */
export interface NamedPods {
  /** By `name_namespace`. */
  byFullName(fullName: string): Pod | undefined;
  /** Returns the UID under which the node knows a pod; for a mirror pod that is its static pod's UID. */
  resolveUid(uid: string): string;
}

/** The answer for a pod that no source names. */
export const NO_POD: Page = { status: 404, body: "pod does not exist" };

/** The pod that a request's path names. */
export function findNamedPod(
  pods: Pick<NamedPods, "byFullName">,
  { podName, namespace }: Pick<StreamTarget, "podName" | "namespace">,
): Pod | undefined {
  return pods.byFullName(`${podName}_${namespace}`);
}

/** True if the path names no UID, or this pod's UID. A pod of the same name with another UID was not asked for. */
export function isNamedPod(pods: Pick<NamedPods, "resolveUid">, pod: Pod, { podUid: asked }: StreamTarget): boolean {
  return asked === undefined || pods.resolveUid(asked) === podUid(pod);
}

/** Finds the running container that the target names; undefined where there is none. */
export async function findNamedContainer(
  { pods, runtime }: { readonly pods: NamedPods; readonly runtime: Pick<RuntimeService, "listContainers"> },
  { pod, target }: { readonly pod: Pod; readonly target: StreamTarget },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isNamedPod(pods, pod, target)) return undefined;
  const { containerName } = target;
  return await findRunningContainer(runtime, { podUid: podUid(pod), containerName }, signal);
}

/** The pod's containers of all kinds. */
export function containersOf({ spec }: Pod): ReadonlyArray<Container | EphemeralContainer> {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
}
