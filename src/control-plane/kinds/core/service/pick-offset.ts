const PRECISION = 2 ** 48;

/**
 * The number of the lowest addresses or ports that are kept for requests of a certain one, until nothing else is left.
 */
export function reservedOf(size: bigint, { share, most }: { share: bigint; most: bigint }): bigint {
  const least = 16n;
  if (size <= least) return 0n;
  const part = size / share;
  return part < least ? least : part > most ? most : part;
}

/**
 * Picks one of `count` offsets that is not taken, by chance and above the reserved ones as long as there is one; undefined
 * when all are taken. It looks at one more offset than are taken, so that the count may be as large as that of IPv6.
 */
export function pickOffset(
  { count, reserved, random }: { count: bigint; reserved: bigint; random: () => number },
  isTaken: (offset: bigint) => boolean,
): bigint | undefined {
  const dynamic = count - reserved;
  const start = chanceOffset(dynamic, random);
  for (let step = 0n; step < count; step++) {
    const offset = step < dynamic ? reserved + ((start + step) % dynamic) : step - dynamic;
    if (!isTaken(offset)) return offset;
  }
  return undefined;
}

/** One of `count` offsets by chance. */
export function chanceOffset(count: bigint, random: () => number): bigint {
  return (BigInt(Math.floor(random() * PRECISION)) * count) / BigInt(PRECISION);
}
