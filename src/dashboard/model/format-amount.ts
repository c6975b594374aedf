const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Bytes with three digits: `1.25 GiB`. */
export function formatBytes(bytes: number): string {
  let amount = Math.max(0, bytes);
  let unit = 0;
  for (; amount >= 1_000 && unit < UNITS.length - 1; unit++) amount /= 1_024;
  return `${Number(amount.toPrecision(3))} ${UNITS[unit]}`;
}

/** Cores as Kubernetes writes them: `250m`, `1.5`. */
export function formatCores(nanoCores: number): string {
  const milli = nanoCores / 1e6;
  if (milli < 1) return `${Number(milli.toFixed(1))}m`;
  return milli < 1_000 ? `${Math.round(milli)}m` : String(Number((milli / 1_000).toFixed(2)));
}

/** A number of things, with spaces between thousands. */
export function formatCount(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
