/**
 * One family on a page of metrics in Prometheus' text format. The format carries the times of the readings, which
 * prom-client does not write.
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** The time of the reading, in milliseconds since the epoch. Absent means the time at which the page is read. */
  readonly at?: number;
}

export const METRIC_PAGE_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Writes the families as text. Families without samples are left out, and labels keep their order. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    if (samples.length === 0) continue;
    lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
    for (const { labels = {}, value, at } of samples) {
      lines.push(`${name}${renderLabels(labels)} ${renderValue(value)}${at === undefined ? "" : ` ${Math.round(at)}`}`);
    }
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/**
 * Joins families of the same name into one, which a page may have only once. Of samples with the same labels the first
 * stays.
 */
export function joinFamilies(families: readonly MetricFamily[]): MetricFamily[] {
  const joined = new Map<string, MetricFamily>();
  for (const family of families) {
    const before = joined.get(family.name);
    if (before === undefined) {
      joined.set(family.name, family);
      continue;
    }
    const known = new Set(before.samples.map(({ labels = {} }) => renderLabels(labels)));
    const added = family.samples.filter(({ labels = {} }) => !known.has(renderLabels(labels)));
    joined.set(family.name, { ...before, samples: [...before.samples, ...added] });
  }
  return [...joined.values()];
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
