/** The shortest of these waits, in milliseconds; undefined where there is none. */
export function soonest(waits: Iterable<number | undefined>): number | undefined {
  let least: number | undefined;
  for (const wait of waits) if (wait !== undefined && (least === undefined || wait < least)) least = wait;
  return least;
}
