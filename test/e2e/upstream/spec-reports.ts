/** The parts of ginkgo's report of a spec that are looked at. */
export interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly Failure?: { readonly Message?: string };
}

/** Reads the specs, and what ran before and after them, from a report that `--ginkgo.json-report` wrote. */
export function parseSpecReports(text: string): SpecReport[] {
  const suites: { SpecReports?: SpecReport[] }[] = JSON.parse(text);
  return suites.flatMap(({ SpecReports }) => SpecReports ?? []);
}

/** The names of what failed, each with the first line that says why. */
export function describeFailures(specs: readonly SpecReport[]): string[] {
  const failed = specs.filter(({ State }) => !["passed", "skipped", "pending"].includes(State));
  return failed.map(({ ContainerHierarchyTexts, LeafNodeText, State, Failure }) => {
    const name = [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ");
    return `${name}: ${Failure?.Message?.split("\n")[0] ?? State}`;
  });
}
