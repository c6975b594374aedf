/** Reads whole per cent, 0…100, as `50%`. Undefined: it is none. */
export function parsePercentage(text: string | undefined): number | undefined {
  const digits = /^\+?(\d+)%+$/.exec(text ?? "")?.[1];
  return digits !== undefined && Number(digits) <= 100 ? Number(digits) : undefined;
}
