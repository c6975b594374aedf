import type { AccessAttributes } from "../ports/request.ts";
import type { Flow } from "./flow-objects.ts";

/** A request that is classified. */
export interface FlowRequest {
  readonly flow: Flow;
  readonly asked: AccessAttributes;
  /** How much work it is; see `estimateWork`. */
  readonly seats: number;
  /** Its answer is long: it is served in turns with its like. */
  readonly isLong: boolean;
  readonly signal: AbortSignal;
}

/** A request that waits or is served. */
export interface FlowEntry extends FlowRequest {
  /** By the clock that never goes back. */
  readonly arrivedAt: number;
  /** Undefined while it waits. */
  startedAt: number | undefined;
}

/** Why a request was not served. */
export type FlowRefusal = "queue-full" | "concurrency-limit" | "time-out" | "cancelled";

/** The line in which a request waits, if it has to. */
export function lineOf({ flow, isLong }: FlowEntry): string {
  return `${flow.level.name} ${flow.schema.name} ${isLong ? "long" : "small"} ${flow.distinguisher}`;
}
