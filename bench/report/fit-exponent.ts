/** A point of a curve. */
export interface PointOfCurve {
  x: number;
  y: number;
}

const FEWEST_POINTS = 3;

/**
 * The exponent e of the curve y = a · x^e that comes nearest to the points: least squares of the logarithms. 0 is what does
 * not grow, 1 what grows as x does. Undefined for fewer than three places on the axis. Points at or below zero have no
 * logarithm and do not count.
 */
export function fitExponent(points: readonly PointOfCurve[]): number | undefined {
  const logarithms = points
    .filter(({ x, y }) => x > 0 && y > 0)
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  if (new Set(logarithms.map(({ x }) => x)).size < FEWEST_POINTS) return undefined;
  const mean = (of: (point: PointOfCurve) => number) =>
    logarithms.reduce((sum, point) => sum + of(point), 0) / logarithms.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  return mean(({ x, y }) => (x - meanX) * (y - meanY)) / mean(({ x }) => (x - meanX) ** 2);
}
