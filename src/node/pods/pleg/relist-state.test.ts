import { describe, expect, it } from "vitest";
import {
  computePauseMs,
  computePlegHealth,
  initialRelist,
  nextRelist,
  type RelistEvent,
  type RelistState,
} from "./relist-state.ts";

/** Events in order, one a second; `began` is the first second's. */
function stateAfter(...events: RelistEvent[]): RelistState {
  return events.reduce((state, event, index) => nextRelist(state, event, (index + 1) * 1_000), initialRelist(0));
}

const started: RelistEvent = { type: "started" };
const began: RelistEvent = { type: "began" };
const ended: RelistEvent = { type: "ended" };
const failed: RelistEvent = { type: "failed", error: "unavailable" };
const aborted: RelistEvent = { type: "failed", error: undefined };
const wanted: RelistEvent = { type: "wanted" };
const arrive: RelistEvent = { type: "events", arrive: true };
const breakOff: RelistEvent = { type: "events", arrive: false };

/** The phase, what is special, and how long the pause is from now, the time of the last event. */
function describeState(state: RelistState, nowMs: number): string {
  const pause = computePauseMs(state, nowMs);
  return [
    state.phase,
    ...(pause === undefined ? [] : [`${pause} ms`]),
    ...(state.isWanted ? ["wanted"] : []),
    ...(state.failure === undefined ? [] : [state.failure]),
  ].join(" ");
}

describe("nextRelist", () => {
  it.each<[string, RelistEvent[], string]>([
    ["is due at once when it is new", [started], "new 0 ms"],
    ["has no pause while it is under way", [started, began], "listing"],
    ["comes again after a second", [started, began, ended], "pausing 1000 ms"],
    ["comes again after half a minute where events arrive", [arrive, began, ended], "pausing 30000 ms"],
    ["is wanted soon after a failure, for all events", [arrive, began, failed], "pausing 1000 ms wanted unavailable"],
    ["is wanted after an abort, which is no failure", [arrive, began, aborted], "pausing 1000 ms wanted"],
    ["keeps its last failure through an abort", [began, failed, began, aborted], "pausing 1000 ms wanted unavailable"],
    ["forgets its failure when it comes through", [began, failed, began, ended], "pausing 1000 ms"],
    ["comes soon when it is wanted in a pause", [arrive, began, ended, wanted], "pausing 0 ms wanted"],
    ["comes soon when it was wanted while under way", [arrive, began, wanted, ended], "pausing 1000 ms wanted"],
    ["is not wanted any more once the lists are asked for", [wanted, began], "listing"],
    ["is wanted when events begin", [began, ended, arrive], "pausing 0 ms wanted"],
    ["is wanted when events break off", [arrive, began, ended, breakOff], "pausing 0 ms wanted"],
    ["is not wanted by what is no news", [breakOff, arrive, began, arrive, ended], "pausing 30000 ms"],
  ])("%s", (_name, events, expected) => {
    expect(describeState(stateAfter(...events), events.length * 1_000)).toBe(expected);
  });
});

describe("PLEG's health", () => {
  const good = stateAfter(started, began, ended);
  const bad = "pleg was last seen active 181s ago; threshold is 180s";

  it.each<[string, RelistState, number, object]>([
    ["is unknown before the first relist", stateAfter(started), 181_000, { state: "starting" }],
    ["is bad when the first never ends", stateAfter(started, began), 182_000, { state: "unhealthy", message: bad }],
    ["is good after a relist", good, 183_000, { state: "healthy" }],
    ["is bad three minutes after the last", good, 184_000, { state: "unhealthy", message: bad }],
    ["goes by the last that was complete", stateAfter(began, ended, began, failed), 183_000, { state: "unhealthy" }],
  ])("%s", (_name, state, nowMs, expected) => {
    expect(computePlegHealth(state, nowMs)).toMatchObject(expected);
  });
});
