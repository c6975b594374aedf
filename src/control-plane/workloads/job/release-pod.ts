import { type ApiError, isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { type ControllerDeps, unlessOvertaken } from "../../control-loop/controller.ts";
import { TRACKING_FINALIZER } from "./job-pods.ts";

type ReleaseDeps = Pick<ControllerDeps, "reader" | "writer">;

/** Removes the finalizer by which a job keeps its pods. A pod that is gone, or has none, is fine. */
export async function releasePod({ reader, writer }: ReleaseDeps, { metadata: sought = {} }: Pod): Promise<void> {
  const { namespace = "", name = "", uid } = sought;
  // Read again, because the pod's node may have written its status since.
  const pod = reader.get({ resource: "pods", namespace, name });
  if (pod === undefined || pod.metadata.uid !== uid) return;
  const { finalizers = [], ...metadata } = pod.metadata;
  if (!finalizers.includes(TRACKING_FINALIZER)) return;
  const others = finalizers.filter((finalizer) => finalizer !== TRACKING_FINALIZER);
  const released = { ...pod, metadata: { ...metadata, ...(others.length > 0 && { finalizers: others }) } };
  await unlessOvertaken(writer.update("pods", released));
}

/** Releases all of them, and rejects afterwards with the first ApiError. */
export async function releaseAll(deps: ReleaseDeps, pods: readonly Pod[]): Promise<void> {
  const errors = await Promise.all(pods.map((pod) => errorOf(() => releasePod(deps, pod))));
  const first = errors.find((error) => error !== undefined);
  if (first !== undefined) throw first;
}

async function errorOf(work: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
}
