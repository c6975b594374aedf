import { childController, isAbort } from "../../base/abort.ts";
import { createMailbox, type Mailbox } from "../../base/mailbox.ts";
import type { ContainerEventResponse } from "../gen/cri-v1.ts";
import type { FakeFaults } from "./fake-faults.ts";

/** Delivers events to every subscriber. Without a subscriber it keeps them for the next one, as containerd does. */
interface FakeEvents {
  emit(event: ContainerEventResponse): void;
  /** Yields events until the signal fires or the subscriber reads too slowly. */
  subscribe(signal: AbortSignal): AsyncIterable<ContainerEventResponse>;
}

const MAX_EVENTS = 1_000;

export function createFakeEvents(faults: FakeFaults): FakeEvents {
  const subscribers = new Map<Mailbox<ContainerEventResponse>, AbortController>();
  let kept: ContainerEventResponse[] = [];

  return {
    emit(event) {
      if (subscribers.size === 0) kept = [...kept, event].slice(-MAX_EVENTS);
      const copies = faults.copiesOf?.(event) ?? 1;
      for (const [mailbox, controller] of subscribers) {
        for (let copy = 0; copy < copies; copy++) if (!mailbox.offer(event)) controller.abort();
      }
    },
    async *subscribe(parent) {
      const { controller, release } = childController(parent);
      const mailbox = createMailbox<ContainerEventResponse>(MAX_EVENTS);
      for (const event of kept) mailbox.offer(event);
      kept = [];
      subscribers.set(mailbox, controller);
      try {
        for (;;) yield await mailbox.take(controller.signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        subscribers.delete(mailbox);
        release();
      }
    },
  };
}
