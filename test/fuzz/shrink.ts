/** At most so many tries: a stall costs its time in each. */
const MAX_TRIES = 400;
const MAX_MS = 10_000;

/** A shorter input that still does it: parts are left out, large ones first, for as long as a few seconds. */
export async function shrink(input: Buffer, stillFails: (input: Buffer) => Promise<boolean>): Promise<Buffer> {
  const endsAt = performance.now() + MAX_MS;
  let smallest = input;
  let tries = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < smallest.length; ) {
      if (tries++ >= MAX_TRIES || performance.now() > endsAt) return smallest;
      const candidate = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      if (await stillFails(candidate)) smallest = candidate;
      else at += size;
    }
  }
  return smallest;
}
