import type { ExplainedStep } from "./explanation.ts";

/** A step of the story, or a word on those that came again. */
type ToldStep =
  | { readonly kind: "step"; readonly step: ExplainedStep }
  | {
      readonly kind: "again";
      /** How many of the steps before came again, and how many times more. */
      readonly length: number;
      readonly times: number;
      /** The last of them. */
      readonly last: ExplainedStep;
    };

/** The longest run of steps that is looked for: a pod that fails does the same few things at each attempt. */
const MAX_LENGTH = 12;
/** Fewer repetitions are told step by step. */
const MIN_TIMES = 2;

/** Folds what came again and again in the same order: the first time is told, and then how often it came. */
export function foldRepeats(steps: readonly ExplainedStep[]): ToldStep[] {
  const keys = steps.map(({ uid, type, reason, message, container }) => {
    return JSON.stringify([uid, type, reason, message, container]);
  });
  const told: ToldStep[] = [];
  for (let at = 0; at < steps.length; ) {
    const { length, times } = findRepeats(keys, at);
    for (const step of steps.slice(at, at + length)) told.push({ kind: "step", step });
    at += length * (times + 1);
    const last = steps[at - 1];
    if (times > 0 && last !== undefined) told.push({ kind: "again", length, times, last });
  }
  return told;
}

/** The run of steps from here on that covers most by coming again; one step that comes once, where there is none. */
function findRepeats(keys: readonly string[], start: number): { length: number; times: number } {
  let best = { length: 1, times: 0 };
  for (let length = 1; length <= MAX_LENGTH; length++) {
    let end = start + length;
    while (end < keys.length && keys[end] === keys[end - length]) end += 1;
    const times = Math.floor((end - start) / length) - 1;
    if (times >= MIN_TIMES && length * times > best.length * best.times) best = { length, times };
  }
  return best;
}
