import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatBytes, formatCount } from "../model/format-amount.ts";
import type { PressureCurve } from "../model/pressure.ts";

const HEIGHT = 140;
const FIRST_SPAN_S = 60;

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const formatClock = (seconds: number) => CLOCK.format(seconds * 1_000);

/** What is left of a resource over time, with the thresholds below which pods are evicted. */
export function Curve({ curve }: { curve: PressureCurve }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const format = curve.unit === "bytes" ? formatBytes : formatCount;
  const limitCount = curve.limits.length;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(describePlot(curve, element.clientWidth, format), dataOf(curve), element);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [limitCount]);
  useEffect(() => plot.current?.setData(dataOf(curve)), [curve]);
  const now = curve.left.at(-1) ?? 0;
  const limits = curve.limits.map(({ amount, isHard }) => `${format(amount)}${isHard ? "" : " after a while"}`);
  const whole = curve.capacity === undefined ? "" : ` of ${format(curve.capacity)}`;
  return (
    <figure class={curve.isMet ? "curve met" : "curve"}>
      <figcaption>
        <strong>{curve.label}</strong> {format(now)}
        {whole}
        <span class="faint">
          {limits.length === 0 ? "; no threshold" : `; pods are evicted below ${limits.join(", ")}`}
        </span>
        {curve.isMet && <span class="bad-text"> The threshold is met.</span>}
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function dataOf({ times, left, limits }: PressureCurve): uPlot.AlignedData {
  return [[...times], [...left], ...limits.map(({ amount }) => times.map(() => amount))];
}

function describePlot(
  { limits, capacity }: PressureCurve,
  width: number,
  format: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const [ink, faint, grid] = [colour("--accent"), colour("--faint"), colour("--line")];
  const axis = { stroke: faint, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, font: "11px system-ui" };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // A single sample stands at the end of a minute of which nothing is known.
      x: { range: ({ data: [times] }, min, max) => (times.length === 1 ? [min - FIRST_SPAN_S, min] : [min, max]) },
      y: { range: (_plot, _min, max) => [0, capacity ?? Math.max(1, max * 1.1)] },
    },
    axes: [
      { ...axis, space: 90, values: (_plot, values) => values.map(formatClock) },
      {
        ...axis,
        size: 84,
        splits: (_plot, _axis, min, max) => [min, (min + max) / 2, max],
        values: (_plot, values) => values.map(format),
      },
    ],
    series: [
      {},
      { stroke: ink, width: 1.5, fill: `${ink}22`, points: { show: (plot) => plot.data[0].length === 1 } },
      ...limits.map(({ isHard }) => ({
        stroke: colour("--bad"),
        width: 1,
        dash: isHard ? [] : [4, 4],
        points: { show: false },
      })),
    ],
  };
}
