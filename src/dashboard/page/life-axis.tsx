import type { PodExplanation } from "../../explain/explanation.ts";
import { computeLife, type LifeState } from "../model/life.ts";
import { computeTicks, formatShortTime } from "../model/time-axis.ts";
import { Plain } from "./words.tsx";

const WORDS: Readonly<Record<LifeState, string>> = {
  waiting: "waits",
  running: "runs",
  ready: "ready",
  done: "done",
  failed: "failed",
};

/** The life of a pod and of its containers on one axis, from the first record until now or its end. */
export function LifeAxis({ explanation, now }: { explanation: PodExplanation; now: number }) {
  const life = computeLife(explanation, now);
  if (life === undefined) return <p class="faint">Nothing was recorded.</p>;
  const length = life.until - life.from;
  const percent = (time: number) => `${(((time - life.from) / length) * 100).toFixed(3)}%`;
  return (
    <div class="life">
      <div class="axis" aria-hidden="true">
        {computeTicks(length, 6).map(({ at, offsetMs }) => (
          <span key={offsetMs} style={{ left: `${at * 100}%` }}>
            {offsetMs === 0 ? "0" : formatShortTime(offsetMs)}
          </span>
        ))}
      </div>
      <ul class="plain">
        {life.lanes.map(({ container, spans, warnings }) => (
          <li key={container} class="lane">
            <span class="lane-name">{container === "" ? "Pod" : <Plain text={container} />}</span>
            <span class="track">
              {spans.map(({ state, from, until, why }) => (
                <span
                  key={from}
                  class={`span ${state}`}
                  style={{ left: percent(from), right: `calc(100% - ${percent(until)})` }}
                  title={`${WORDS[state]} for ${formatShortTime(until - from)}${why === "" ? "" : `; ${why}`}`}
                >
                  <span class="hidden">
                    {WORDS[state]} for {formatShortTime(until - from)};{" "}
                  </span>
                </span>
              ))}
              {warnings.map(({ at, count, words }) => (
                <span key={`${at} ${words}`} class="mark" style={{ left: percent(at) }} title={words}>
                  <span class="hidden">
                    warning after {formatShortTime(at - life.from)}
                    {count > 1 ? `, ${count} times` : ""}: <Plain text={words} />;{" "}
                  </span>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
      <p class="legend" aria-hidden="true">
        {Object.entries(WORDS).map(([state, word]) => (
          <span key={state} class={`key ${state}`}>
            {word}
          </span>
        ))}
        <span class="key warning">warning</span>
      </p>
    </div>
  );
}
