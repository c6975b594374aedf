/** The resolver's configuration of the host or of a pod. */
export interface ResolvConf {
  nameservers: string[];
  searches: string[];
  /** `name` or `name:value`. */
  options: string[];
}

/**
 * Parses the text of a resolv.conf(5). Nameservers add up. The last `search` line wins, without trailing dots. Options
 * add up, and the later of two with one name wins. A line without anything usable is skipped, as resolvers skip it.
 */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver" && values[0] !== undefined) nameservers.push(values[0]);
    if (keyword === "search")
      searches = values.filter((value) => value !== ".").map((value) => value.replace(/\.$/, ""));
    if (keyword === "options") options = mergeResolverOptions(options, values);
  }
  return { nameservers, searches, options };
}

/**
 * Merges options so that each name occurs once, at the place where it was first named and with the value that it was
 * last given.
 */
export function mergeResolverOptions(...lists: ReadonlyArray<readonly string[]>): string[] {
  const byName = new Map<string, string>();
  for (const option of lists.flat()) byName.set(option.replace(/:.*/s, ""), option);
  return [...byName.values()];
}
