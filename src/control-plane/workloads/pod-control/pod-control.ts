import { isApiError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { messageOf } from "../../../base/errors.ts";
import { isGoneAlready } from "../../control-loop/gone-already.ts";
import type { EventRecorder } from "../../control-loop/record-events.ts";
import type { ResourceReader, ResourceWriter } from "../../ports/resources.ts";

/**
 * Creates and deletes the pods of an owner, and tells so in events about the owner, in upstream's words
 * (`RealPodControl`).
 *
 * There are no expectations as upstream has them. The reader shows the newest state, our own writes included as soon as
 * they are decided, and the work queue never runs one owner twice at a time. So an owner that counts its pods by the
 * reader, at the beginning of a reconciliation or after an await, counts all that it made.
 */
export interface PodControl {
  /**
   * Creates the pod. Returns undefined when its namespace is being deleted, where nothing can be created any more.
   * Rejects with an ApiError, after the event FailedCreate.
   */
  create(owner: KubeObject, pod: KubeObject): Promise<KubeObject | undefined>;
  /**
   * Deletes this very pod, with its own grace period. Returns false when it is gone already, or another has its name.
   * Rejects with an ApiError, after the event FailedDelete.
   */
  remove(owner: KubeObject, pod: KubeObject): Promise<boolean>;
}

/** Pod control in the name of the component that the recorder writes for. */
export function createPodControl(
  { reader, writer }: { reader: Pick<ResourceReader, "get">; writer: ResourceWriter },
  events: Pick<EventRecorder, "record">,
): PodControl {
  const tell = (about: KubeObject, reason: string, message: string) => {
    events.record({ about, type: reason.startsWith("Failed") ? "Warning" : "Normal", reason, message });
  };
  return {
    async create(owner, pod) {
      try {
        const created = await writer.create("pods", pod);
        tell(owner, "SuccessfulCreate", `Created pod: ${created.metadata.name ?? ""}`);
        return created;
      } catch (error) {
        if (isNamespaceTerminating(error)) return undefined;
        if (isApiError(error)) tell(owner, "FailedCreate", `Error creating: ${messageOf(error)}`);
        throw error;
      }
    },
    async remove(owner, { metadata }) {
      const cause = `the controller of its ${owner.kind} ${owner.metadata.name ?? ""}`;
      const { namespace = "", name = "", uid } = metadata;
      const preconditions = { ...(uid !== undefined && { uid }) };
      const target = { resource: "pods", namespace, name };
      try {
        await writer.remove(target, { preconditions, cause });
      } catch (error) {
        if (isGoneAlready(error, reader, { ...target, uid })) return false;
        if (isApiError(error)) tell(owner, "FailedDelete", `Error deleting: ${messageOf(error)}`);
        throw error;
      }
      tell(owner, "SuccessfulDelete", `Deleted pod: ${name}`);
      return true;
    },
  };
}

/** True for the refusal of a new object because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isApiError(error) && (error.details.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}
