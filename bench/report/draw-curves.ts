import { formatValue } from "../format-run.ts";
import type { Curve } from "./curves.ts";
import type { PointOfCurve } from "./fit-exponent.ts";

const COLUMNS = 3;
const PANEL = { width: 300, height: 210 };
/** Between a panel's edge and its axes. */
const INNER = { left: 52, right: 16, top: 44, bottom: 36 };
const TITLE_HEIGHT = 8;
/** The axis of what hardly changes spans at least this factor, so that noise does not look like growth. */
const SMALLEST_SPAN = 4;
const COLOURS = { paper: "#ffffff", ink: "#24292f", faint: "#8c959f", grid: "#eaeef2", line: "#0969da" };

interface Axis {
  /** Where a value lies, in pixels of the panel. */
  place(value: number): number;
  ticks: readonly number[];
}

/** One picture with a panel for each curve. Both axes are logarithmic: a straight line is a power, its slope the exponent. */
export function drawCurves(title: string, curves: readonly Curve[]): string {
  const rows = Math.ceil(curves.length / COLUMNS);
  const [width, height] = [COLUMNS * PANEL.width, rows * PANEL.height + TITLE_HEIGHT];
  const panels = curves.map((curve, index) => {
    const [x, y] = [(index % COLUMNS) * PANEL.width, Math.floor(index / COLUMNS) * PANEL.height];
    return `<g transform="translate(${x} ${y})">\n${drawPanel(curve).join("\n")}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${COLOURS.paper}"/>`,
    `<g font-family="system-ui, sans-serif" font-size="11" fill="${COLOURS.ink}">`,
    ...panels,
    "</g></svg>\n",
  ].join("\n");
}

function drawPanel({ name, unit, of, points, exponent }: Curve): string[] {
  const shown = points.filter(({ x, y }) => x > 0 && y > 0);
  const text = (x: number, y: number, words: string, more = "") =>
    `<text x="${round(x)}" y="${round(y)}"${more}>${escapeXml(words)}</text>`;
  const heading = [
    text(INNER.left, 18, `${name} (${unit})`, ' font-weight="600"'),
    text(INNER.left, 33, exponent === undefined ? "" : `∝ n^${exponent.toFixed(2)}`, ` fill="${COLOURS.faint}"`),
  ];
  if (shown.length === 0) return heading;
  const bottom = PANEL.height - INNER.bottom;
  const right = PANEL.width - INNER.right;
  const x = createAxis(
    shown.map((point) => point.x),
    { from: INNER.left + 8, to: right - 8 },
  );
  const y = createAxis(
    shown.map((point) => point.y),
    { from: bottom - 8, to: INNER.top + 4 },
  );
  const placed = shown.map((point): PointOfCurve => ({ x: round(x.place(point.x)), y: round(y.place(point.y)) }));
  return [
    ...heading,
    ...y.ticks.flatMap((tick) => {
      const at = round(y.place(tick));
      const line = `<path d="M${INNER.left} ${at}H${right}" stroke="${COLOURS.grid}"/>`;
      return [line, text(INNER.left - 6, at + 4, formatTick(tick), ' text-anchor="end"')];
    }),
    ...shown.map((point) => text(x.place(point.x), bottom + 15, formatTick(point.x), ' text-anchor="middle"')),
    text(right, bottom + 29, of, ` text-anchor="end" fill="${COLOURS.faint}"`),
    `<polyline points="${placed.map((at) => `${at.x},${at.y}`).join(" ")}" fill="none" stroke="${COLOURS.line}" stroke-width="2"/>`,
    ...placed.map((at, index) => {
      const value = formatValue(shown[index]?.y ?? 0);
      const label = text(at.x, at.y - 7, value, ` text-anchor="middle" font-size="10" fill="${COLOURS.faint}"`);
      return `<circle cx="${at.x}" cy="${at.y}" r="3" fill="${COLOURS.line}"/>${label}`;
    }),
  ];
}

function createAxis(values: readonly number[], { from, to }: { from: number; to: number }): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const stretch = Math.max(1, Math.sqrt(SMALLEST_SPAN / (most / least)));
  const [low, high] = [Math.log(least / stretch), Math.log(most * stretch)];
  return {
    place: (value) => from + ((Math.log(value) - low) / (high - low)) * (to - from),
    ticks: computeTicks(Math.exp(low), Math.exp(high)),
  };
}

/** Powers of ten; between them 2 and 5 too where there is room. */
function computeTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : [1, 2, 5];
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => 10 ** (first + index));
  return powers.flatMap((power) => steps.map((step) => step * power)).filter((tick) => tick >= low && tick <= high);
}

function formatTick(value: number): string {
  return value >= 1 ? value.toLocaleString("en-US") : String(Number(value.toPrecision(1)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
