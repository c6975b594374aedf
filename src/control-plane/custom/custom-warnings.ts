import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { checkQualifiedName } from "../../api/validation/names.ts";
import { compareApiVersions } from "../../api/version-order.ts";

/** What every answer for a deprecated version says: its author's words, or which newer version is served. */
export function deprecationOf(
  { spec: { group, names, versions } }: CustomResourceDefinition,
  { name, deprecated = false, deprecationWarning }: CustomResourceDefinitionVersion,
): string | undefined {
  if (!deprecated) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const newer = versions
    .filter((version) => version.served && version.deprecated !== true && compareApiVersions(version.name, name) < 0)
    .map((version) => version.name)
    .sort(compareApiVersions);
  const instead = newer[0] === undefined ? "" : `; use ${group}/${newer[0]} ${names.kind}`;
  return `${group}/${name} ${names.kind} is deprecated${instead}`;
}

const STANDARD_FINALIZERS = new Set<string>([FOREGROUND_FINALIZER, ORPHAN_FINALIZER, "kubernetes"]);

/** What upstream has to say about the names of finalizers that are new; built-in kinds refuse some of them. */
export function finalizerWarnings({ metadata }: KubeObject, current?: KubeObject): string[] {
  const { finalizers = [] } = metadata;
  const added = finalizers.filter((name) => !(current?.metadata.finalizers ?? []).includes(name));
  return [...new Set(added)].sort().flatMap((name) => {
    return [...checkQualifiedName(name), ...domainProblem(name)].map(
      (problem) => `metadata.finalizers: ${JSON.stringify(name)}: ${problem}`,
    );
  });
}

function domainProblem(name: string): string[] {
  if (name.includes("/") || STANDARD_FINALIZERS.has(name)) return [];
  const path = name.includes(".") ? " including a path (/)" : "";
  return [`prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`];
}
