import type { EndpointSlice, Event, Node, Pod, Service } from "../../api/gen/types.ts";

/** The objects that the page follows, by the names that messages give them. */
export interface LiveObjects {
  readonly pods: Pod;
  readonly nodes: Node;
  readonly services: Service;
  readonly endpointSlices: EndpointSlice;
  readonly events: Event;
}

export type LiveKind = keyof LiveObjects;

/** One message of the stream `/live`, as JSON in the data of a server-sent event. */
export type LiveMessage =
  | { readonly type: "put"; readonly kind: LiveKind; readonly objects: readonly LiveObjects[LiveKind][] }
  /** These UIDs exist no more. */
  | { readonly type: "gone"; readonly kind: LiveKind; readonly uids: readonly string[] }
  /** All objects that exist have been told: what a page knows from an earlier stream and was not told is gone. */
  | { readonly type: "synced"; readonly kind: LiveKind }
  /** The API server does not answer, or refuses; it is asked again by itself. */
  | { readonly type: "trouble"; readonly kind: LiveKind; readonly reason: string; readonly message: string }
  | { readonly type: "fine"; readonly kind: LiveKind };

/** The most events that a page keeps, the newest of them. */
export const MAX_EVENTS = 500;
