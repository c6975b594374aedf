import type { Pod } from "../../api/gen/types.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { computeTicks, formatShortTime } from "../model/time-axis.ts";
import { computeWaterfall, type StartStep } from "../model/waterfall.ts";
import { Plain } from "./words.tsx";

const WORDS: Readonly<Record<StartStep["what"], string>> = {
  scheduling: "Scheduling",
  volumes: "Volumes",
  sandbox: "Sandbox and network",
  image: "Image",
  create: "Create",
  start: "Start",
  ready: "Probes, until ready",
};

/** The start of a pod: a table whose last column draws the times, so that it reads without the drawing too. */
export function StartWaterfall({ pod, explanation, now }: { pod: Pod; explanation: PodExplanation; now: number }) {
  const found = computeWaterfall(pod, explanation.steps, now);
  if (found === undefined) return <p class="faint">Nothing is known of its start.</p>;
  const length = Math.max(1, found.until - found.from);
  const place = (time: number) => `${(Math.min(Math.max((time - found.from) / length, 0), 1) * 100).toFixed(3)}%`;
  return (
    <table class="waterfall">
      <caption>What was done until the pod was ready, in {formatShortTime(length)}</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Took</th>
          <th scope="col">
            <span class="hidden">When</span>
            <span class="axis" aria-hidden="true">
              {computeTicks(length, 5).map(({ at, offsetMs }) => (
                <span key={offsetMs} style={{ left: `${at * 100}%` }}>
                  {offsetMs === 0 ? "0" : formatShortTime(offsetMs)}
                </span>
              ))}
            </span>
          </th>
        </tr>
      </thead>
      <tbody>
        {found.steps.map((step) => {
          const until = Math.max(step.from, step.until ?? now);
          return (
            <tr key={`${step.what} ${step.container}`} title={step.note}>
              <th scope="row">
                {WORDS[step.what]}
                {step.container !== undefined && (
                  <span class="faint">
                    {" "}
                    <Plain text={step.container} />
                  </span>
                )}
              </th>
              <td class="number">
                {formatShortTime(until - step.from)}
                {step.until === undefined && " …"}
              </td>
              <td class="track">
                <span class="hidden">from {formatShortTime(step.from - found.from)}</span>
                <span
                  aria-hidden="true"
                  class={`bar ${step.what}${step.until === undefined ? " open" : ""}`}
                  style={{ left: place(step.from), right: `calc(100% - ${place(until)})` }}
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
