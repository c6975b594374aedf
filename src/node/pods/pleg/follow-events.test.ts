import { expect, it } from "vitest";
import type { RuntimeEvent } from "../../../cri/container-events.ts";
import { followRuntimeEvents } from "./follow-events.ts";

it("hints at what ended, and says whether events arrive", async () => {
  const told: string[] = [];
  const event = (kind: RuntimeEvent["kind"], containerId: string, podUid?: string): RuntimeEvent => ({
    kind,
    containerId,
    ...(podUid === undefined ? {} : { podUid }),
  });
  const events = {
    async *subscribe(_signal: AbortSignal, onConnection?: (connected: boolean) => void) {
      onConnection?.(true);
      yield event("created", "a");
      yield event("started", "a");
      yield event("stopped", "a", "uid-1");
      yield event("stopped", "b");
      yield event("deleted", "a");
      onConnection?.(false);
    },
  };
  const pleg = {
    hint: (id: string, uid?: string) => void told.push(`hint ${id} ${uid ?? "?"}`),
    setEventDriven: (connected: boolean) => void told.push(connected ? "connected" : "lost"),
  };
  await followRuntimeEvents(events, pleg, new AbortController().signal);
  expect(told).toEqual(["connected", "hint a uid-1", "hint b ?", "lost"]);
});
