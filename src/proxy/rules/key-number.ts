/** A number in the key of a set that is declared with a `mark` there: it tells apart what would have sets of its own. */
export function formatKeyNumber(number: number): string {
  return `0x${number.toString(16)}`;
}

/**
 * The number in the key that a rule composes of a packet. nftables takes no constants there; the packet's mark with all of
 * its bits replaced is one. The packet keeps its own.
 */
export function composeKeyNumber(number: number): string {
  return `meta mark & 0x0 | ${formatKeyNumber(number)}`;
}
