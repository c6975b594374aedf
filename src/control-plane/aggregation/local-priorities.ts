import type { APIServiceSpec } from "../../api/gen/types.ts";
import type { GroupVersion } from "../discovery/api-table.ts";

/** The priorities of the built-in groups, as kube-apiserver has them; no group but these is registered with as much. */
const GROUP_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ["", 18_000],
  ["apps", 17_800],
  ["events.k8s.io", 17_750],
  ["authentication.k8s.io", 17_700],
  ["authorization.k8s.io", 17_600],
  ["autoscaling", 17_500],
  ["batch", 17_400],
  ["certificates.k8s.io", 17_300],
  ["networking.k8s.io", 17_200],
  ["policy", 17_100],
  ["rbac.authorization.k8s.io", 17_000],
  ["storage.k8s.io", 16_800],
  ["admissionregistration.k8s.io", 16_700],
  ["apiextensions.k8s.io", 16_700],
  ["scheduling.k8s.io", 16_600],
  ["coordination.k8s.io", 16_500],
  ["node.k8s.io", 16_300],
  ["discovery.k8s.io", 16_200],
  ["resource.k8s.io", 16_200],
  ["flowcontrol.apiserver.k8s.io", 16_100],
]);
const CUSTOM_GROUP_PRIORITY = 1000;
const CUSTOM_VERSION_PRIORITY = 100;

/** The groups whose v1 is registered with another priority than those of the others. */
const V1_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["flowcontrol.apiserver.k8s.io", 21],
  ["resource.k8s.io", 21],
]);
const VERSION_PRIORITIES: ReadonlyArray<readonly [version: RegExp, priority: number]> = [
  [/^v1$/, 15],
  [/^v\d+$/, 30],
  [/^v\d+beta\d+$/, 9],
];
const LEAST_VERSION_PRIORITY = 1;

/** The priorities with which a group and version of our own, or of a custom resource, is registered. */
export function prioritiesOf({
  group,
  version,
}: GroupVersion): Pick<APIServiceSpec, "groupPriorityMinimum" | "versionPriority"> {
  const groupPriorityMinimum = GROUP_PRIORITIES.get(group);
  if (groupPriorityMinimum === undefined) {
    return { groupPriorityMinimum: CUSTOM_GROUP_PRIORITY, versionPriority: CUSTOM_VERSION_PRIORITY };
  }
  const found = VERSION_PRIORITIES.find(([pattern]) => pattern.test(version));
  const own = version === "v1" ? V1_PRIORITIES.get(group) : undefined;
  return { groupPriorityMinimum, versionPriority: own ?? found?.[1] ?? LEAST_VERSION_PRIORITY };
}
