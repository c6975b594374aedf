/** How the children of `up` log, as their flags say it. */
export interface ChildLogging {
  readonly logFormat: "text" | "json";
  readonly v: number;
}

/** The flags for a child; none for what is the default. The node agent has kubelet's. */
export function loggingArguments(
  { logFormat, v }: ChildLogging = { logFormat: "text", v: 0 },
  formatFlag: "--log-format" | "--logging-format" = "--log-format",
): string[] {
  return [...(logFormat === "text" ? [] : [`${formatFlag}=${logFormat}`]), ...(v === 0 ? [] : [`--v=${v}`])];
}
