import { assertNever } from "../../../base/assert.ts";

/**
 * When PLEG relists, and whether it still does. `nextRelist` is the whole table of transitions.
 *
 *               began             ended, failed
 *     new ─────────────► listing ───────────────► pausing
 *                           ▲                        │
 *                           └──────── began ─────────┘
 *
 * How long a pause is follows from two facts that may change at any time: whether events arrive, and whether something
 * happened that only a relist can show (`wanted`).
 */
export type RelistState = NewState | ListingState | PausingState;

interface CommonState {
  readonly isEventDriven: boolean;
  /** Something happened after the last lists were asked for that the next must show. */
  readonly isWanted: boolean;
  /** When the last complete relist ended; undefined before the first. */
  readonly completedAtMs: number | undefined;
  /** When PLEG was started. */
  readonly startedAtMs: number;
  /** Why the last relist failed; undefined when it did not. */
  readonly failure: string | undefined;
}

/** No relist was begun. */
interface NewState extends CommonState {
  readonly phase: "new";
}

/** A relist is under way. */
interface ListingState extends CommonState {
  readonly phase: "listing";
  readonly beganAtMs: number;
}

/** The next relist is waited for. */
interface PausingState extends CommonState {
  readonly phase: "pausing";
  readonly sinceMs: number;
}

export type RelistEvent =
  | { readonly type: "started" }
  /** The lists are asked for. */
  | { readonly type: "began" }
  /** Everything that the lists showed to be different was read. */
  | { readonly type: "ended" }
  /** `error`: why; undefined for an abort, which is no failure. */
  | { readonly type: "failed"; readonly error: string | undefined }
  | { readonly type: "wanted" }
  /** Events arrive from now on, or no longer do. */
  | { readonly type: "events"; readonly arrive: boolean };

/**
 * How often to relist without events, and how often behind them, as their audit. Upstream: 1 s and 300 s. A relist that
 * is wanted comes no sooner than the shorter.
 */
const PERIOD_MS = 1_000;
const PERIOD_WITH_EVENTS_MS = 30_000;
/** PLEG is unhealthy when no relist was completed for longer. */
const THRESHOLD_MS = 180_000;

/** All times are monotonic. */
export function initialRelist(atMs: number): RelistState {
  return {
    phase: "new",
    isEventDriven: false,
    isWanted: false,
    completedAtMs: undefined,
    startedAtMs: atMs,
    failure: undefined,
  };
}

/** What an event does to the relist. */
export function nextRelist(state: RelistState, event: RelistEvent, atMs: number): RelistState {
  switch (event.type) {
    case "started":
      return { ...state, startedAtMs: atMs };
    case "began":
      return { ...state, phase: "listing", beganAtMs: atMs, isWanted: false };
    case "ended":
      return { ...state, phase: "pausing", sinceMs: atMs, completedAtMs: atMs, failure: undefined };
    case "failed":
      return { ...state, phase: "pausing", sinceMs: atMs, isWanted: true, failure: event.error ?? state.failure };
    case "wanted":
      return { ...state, isWanted: true };
    case "events":
      // What happened before events began, or after they broke off, is in the lists only.
      return event.arrive === state.isEventDriven ? state : { ...state, isEventDriven: event.arrive, isWanted: true };
    default:
      return assertNever(event, "event of the relist");
  }
}

/** How long until the next relist; zero or less where it is due, undefined while one is under way. */
export function computePauseMs(state: RelistState, atMs: number): number | undefined {
  switch (state.phase) {
    case "new":
      return 0;
    case "listing":
      return undefined;
    case "pausing":
      return state.sinceMs + (state.isEventDriven && !state.isWanted ? PERIOD_WITH_EVENTS_MS : PERIOD_MS) - atMs;
    default:
      return assertNever(state, "state of the relist");
  }
}

/** Before its first relist PLEG is merely new; `message` is upstream's. */
export type PlegHealth = { state: "starting" } | { state: "healthy" } | { state: "unhealthy"; message: string };

/** Healthy while a relist was completed within the last 3 minutes. */
export function computePlegHealth({ completedAtMs, startedAtMs }: RelistState, atMs: number): PlegHealth {
  const idleMs = atMs - (completedAtMs ?? startedAtMs);
  if (idleMs <= THRESHOLD_MS) return { state: completedAtMs === undefined ? "starting" : "healthy" };
  const message = `pleg was last seen active ${Math.round(idleMs / 1000)}s ago; threshold is ${THRESHOLD_MS / 1000}s`;
  return { state: "unhealthy", message };
}
