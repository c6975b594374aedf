const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Formats a number of bytes in steps of a thousand, as other tools tell the sizes of images: `12.3MB`. */
export function formatByteSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)}${UNITS[power]}`;
}
