import type { Event } from "../../api/gen/types.ts";
import { EVENTS } from "../../api/kube-resource.ts";
import { parseTime } from "../../base/clock.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { findMend } from "../../explain/find-mend.ts";
import type { KubeClient } from "../../kube/port.ts";

/**
 * Finds the controllers that cannot make their pods, by the events that they leave: a quota or an admission refuses them.
 * Each is explained as a pod of the controller's name, in the state `Refused`.
 */
export async function explainRefusals(
  client: Pick<KubeClient, "list">,
  namespace: string | undefined,
): Promise<PodExplanation[]> {
  const [failed, made] = await Promise.all(
    ["FailedCreate", "SuccessfulCreate"].map(async (reason) => {
      const { items } = await client.list(EVENTS, { namespace, fieldSelector: `reason=${reason}` });
      return items;
    }),
  );
  const madeAt = newestByOwner(made ?? []);
  const refused = [...newestByOwner(failed ?? []).values()];
  return refused
    .filter((event) => timeOf(event) > timeOf(madeAt.get(event.involvedObject.uid ?? "")))
    .map(explainRefusal);
}

function newestByOwner(events: readonly Event[]): Map<string, Event> {
  const ordered = events.toSorted((a, b) => timeOf(a) - timeOf(b));
  return new Map(ordered.map((event) => [event.involvedObject.uid ?? "", event]));
}

function timeOf(event: Event | undefined): number {
  return parseTime(event?.lastTimestamp ?? event?.metadata.creationTimestamp) ?? 0;
}

function explainRefusal({ involvedObject, message: told = "", firstTimestamp: at }: Event): PodExplanation {
  const { kind = "", namespace = "", name = "" } = involvedObject;
  const message = `${kind} ${name} cannot make its pods: ${told}`;
  const mend = findMend({ namespace, reason: "FailedCreate", message });
  const refused = {
    reason: "FailedCreate",
    message,
    ...(at !== undefined && { at }),
    ...(mend !== undefined && { mend }),
  };
  return {
    kind: "PodExplanation",
    version: 1,
    pod: { namespace, name, uid: "", node: "" },
    state: "Refused",
    isReady: false,
    waits: [refused],
    ends: [],
    steps: [],
    gaps: [],
  };
}
