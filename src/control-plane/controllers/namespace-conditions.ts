import type { NamespaceCondition } from "../../api/gen/types.ts";
import { formatTime } from "../../base/clock.ts";

/** The content that is left in a namespace that is being emptied. */
export interface RemainingContent {
  /** The number of objects by resource (`pods`, `deployments.apps`), without resources that have none. */
  readonly resources: ReadonlyMap<string, number>;
  /** The number of objects that wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** The failures while the namespace was emptied. */
  readonly failures: readonly string[];
  /** Groups and versions (`things.example.com/v1`) of API servers that do not say what they have. */
  readonly undiscovered: readonly string[];
}

interface Finding {
  readonly type: string;
  readonly holds: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions by which `kubectl describe namespace` shows why a deletion takes long, in upstream's words
 * (`pkg/controller/namespace/deletion/status_condition_utils.go`). Returns the same list when nothing has changed.
 */
export function updateConditions(
  current: readonly NamespaceCondition[],
  remaining: RemainingContent,
  now: number,
): readonly NamespaceCondition[] {
  const findings = describe(remaining);
  const isCurrent = ({ type, holds, reason, message }: Finding) =>
    current.some((condition) => {
      const { status } = condition;
      return (
        condition.type === type &&
        status === statusOf(holds) &&
        condition.reason === reason &&
        condition.message === message
      );
    });
  if (findings.every(isCurrent)) return current;
  const others = current.filter(({ type }) => !findings.some((finding) => finding.type === type));
  const updated = findings.map(({ type, holds, reason, message }): NamespaceCondition => {
    const status = statusOf(holds);
    const before = current.find((condition) => condition.type === type);
    const since = before?.status === status ? before.lastTransitionTime : undefined;
    return { type, status, reason, message, lastTransitionTime: since ?? formatTime(now) };
  });
  return [...others, ...updated];
}

const statusOf = (holds: boolean) => (holds ? "True" : "False");

function describe({ resources, finalizers, failures, undiscovered }: RemainingContent): Finding[] {
  return [
    describeDiscovery(undiscovered),
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      holds: false,
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    describeFailures(failures),
    describeResources(resources),
    describeFinalizers(finalizers),
  ];
}

function describeDiscovery(undiscovered: readonly string[]): Finding {
  const type = "NamespaceDeletionDiscoveryFailure";
  if (undiscovered.length === 0) {
    const message = "All resources successfully discovered";
    return { type, holds: false, reason: "ResourcesDiscovered", message };
  }
  const list = undiscovered.toSorted().map((version) => `${version}: stale GroupVersion discovery: ${version}`);
  const error = `unable to retrieve the complete list of server APIs: ${list.join(", ")}`;
  const message = `Discovery failed for some groups, ${list.length} failing: ${error}`;
  return { type, holds: true, reason: "DiscoveryFailed", message };
}

function describeFailures(failures: readonly string[]): Finding {
  const type = "NamespaceDeletionContentFailure";
  if (failures.length === 0) {
    const message = "All content successfully deleted, may be waiting on finalization";
    return { type, holds: false, reason: "ContentDeleted", message };
  }
  const list = failures.toSorted().join(", ");
  const message = `Failed to delete all resource types, ${failures.length} remaining: ${list}`;
  return { type, holds: true, reason: "ContentDeletionFailed", message };
}

const CONTENT_REMOVED = {
  holds: false,
  reason: "ContentRemoved",
  message: "All content successfully removed",
} as const;

function describeResources(resources: ReadonlyMap<string, number>): Finding {
  const type = "NamespaceContentRemaining";
  if (resources.size === 0) return { type, ...CONTENT_REMOVED };
  // Upstream writes the group after a dot even where it is empty.
  const list = [...resources].map(([resource, count]) => {
    return `${resource.includes(".") ? resource : `${resource}.`} has ${count} resource instances`;
  });
  const message = `Some resources are remaining: ${list.toSorted().join(", ")}`;
  return { type, holds: true, reason: "SomeResourcesRemain", message };
}

function describeFinalizers(finalizers: ReadonlyMap<string, number>): Finding {
  const type = "NamespaceFinalizersRemaining";
  if (finalizers.size === 0) return { type, ...CONTENT_REMOVED };
  const list = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${list.toSorted().join(", ")}`;
  return { type, holds: true, reason: "SomeFinalizersRemain", message };
}
