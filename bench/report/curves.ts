import type { Measure, Unit } from "../measure.ts";
import { fitExponent, type PointOfCurve } from "./fit-exponent.ts";

/** How something grows with the number of something else. */
export interface Curve {
  case: string;
  name: string;
  unit: Unit;
  /** What is counted on the axis. */
  of: string;
  points: readonly PointOfCurve[];
  /** See `fitExponent`. */
  exponent: number | undefined;
}

/** The measures that are points of curves, each curve once, in the order of their first points. */
export function collectCurves(measures: readonly Measure[]): Curve[] {
  const curves = new Map<string, Omit<Curve, "exponent"> & { points: PointOfCurve[] }>();
  for (const { case: from, name, unit, at, summary } of measures) {
    if (at === undefined) continue;
    const key = `${from}: ${name} of ${at.of}`;
    const curve = curves.get(key) ?? { case: from, name, unit, of: at.of, points: [] };
    curve.points.push({ x: at.value, y: summary.median });
    curves.set(key, curve);
  }
  return [...curves.values()].map((curve) => ({ ...curve, exponent: fitExponent(curve.points) }));
}
