import { isDeepStrictEqual } from "node:util";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from "../../api/gen/types.ts";
import { approvalCondition, readApproval } from "./crd-approval.ts";

type Condition = CustomResourceDefinitionCondition;

/** True once the names were accepted for the first time; from then on the kind is served until the CRD is gone. */
export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return conditionOf(status, "Established")?.status === "True";
}

const conditionOf = (status: CustomResourceDefinitionStatus | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/**
 * What a CRD's status should be, given the other CRDs: which of its names it gets, and whether it is served. First come,
 * first served: a name that another has accepted is not given again (`naming_controller.go`). Returns the status that is
 * there when nothing changes. `now` in ms since the epoch.
 *
 * Other CRDs of the group are to be computed anew when one changes its accepted names or is gone.
 */
export function computeCrdStatus(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: number,
): CustomResourceDefinitionStatus {
  const current = crd.status ?? {};
  const { accepted, conflict } = acceptNames(crd, others);
  const namesAccepted: Condition = conflict
    ? { type: "NamesAccepted", status: "False", ...conflict }
    : { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
  const established = establish(crd, conflict === undefined);
  const storedVersions = current.storedVersions ?? storageVersions(crd);
  const approval = readApproval(crd);
  const told = [namesAccepted, established, ...(approval ? [approvalCondition(approval)] : [])];
  const conditions = told.reduce((list, condition) => setCondition(list, condition, now), current.conditions ?? []);
  const next = { ...current, acceptedNames: accepted, conditions, storedVersions };
  return isDeepStrictEqual(next, current) ? current : next;
}

const storageVersions = ({ spec }: CustomResourceDefinition) =>
  spec.versions.filter(({ storage }) => storage).map(({ name }) => name);

/** An established CRD stays established: later conflicts only keep the new names out. */
function establish(crd: CustomResourceDefinition, isAccepted: boolean): Condition {
  const old = conditionOf(crd.status, "Established");
  if (old?.status === "True") return old;
  if (!isAccepted) {
    return { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  }
  if (!hasValidBundle(crd)) {
    const problem = "The conversion webhook CABundle is invalid";
    return { type: "Established", status: "False", reason: "InvalidCABundle", message: problem };
  }
  const message = "the initial names have been accepted";
  return { type: "Established", status: "True", reason: "InitialNamesAccepted", message };
}

/** False where the certificates by which the conversion webhook is believed are none at all. */
export function hasValidBundle({ spec }: CustomResourceDefinition): boolean {
  const bundle = Buffer.from(spec.conversion?.webhook?.clientConfig?.caBundle ?? "", "base64").toString();
  return bundle === "" || /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(bundle);
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function acceptNames(
  { metadata, spec, status }: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): { accepted: CustomResourceDefinitionNames; conflict: Conflict | undefined } {
  const taken = others
    .filter((other) => other.spec.group === spec.group && other.metadata?.name !== metadata?.name)
    .flatMap((other) => (other.status?.acceptedNames ? [other.status.acceptedNames] : []));
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
  );
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]));
  const { names } = spec;
  const own: Partial<CustomResourceDefinitionNames> = status?.acceptedNames ?? {};
  const conflicts: Conflict[] = [];
  /** The wanted name, or the accepted one when another CRD has the wanted one. */
  const choose = (reason: string, wanted: string, had: string | undefined, used: ReadonlySet<string | undefined>) => {
    if (wanted === had || !used.has(wanted)) return wanted;
    conflicts.push({ reason, message: `${JSON.stringify(wanted)} is already in use` });
    return had ?? "";
  };
  const plural = choose("PluralConflict", names.plural, own.plural, resources);
  const singular = choose("SingularConflict", names.singular ?? "", own.singular, resources);
  const shortNames = chooseShortNames(names.shortNames ?? [], own.shortNames ?? [], resources);
  if (shortNames.conflict) conflicts.push(shortNames.conflict);
  const kind = choose("KindConflict", names.kind, own.kind, kinds);
  const listKind = choose("ListKindConflict", names.listKind ?? "", own.listKind, kinds);
  const accepted: CustomResourceDefinitionNames = {
    plural,
    singular,
    kind,
    listKind,
    ...(shortNames.accepted.length > 0 && { shortNames: shortNames.accepted }),
    ...(names.categories && { categories: names.categories }),
  };
  return { accepted, conflict: conflicts.at(-1) };
}

/** All of the wanted names, or all of the accepted ones. */
function chooseShortNames(wanted: string[], had: string[], used: ReadonlySet<string | undefined>) {
  const conflicts = wanted.filter((name) => !had.includes(name) && used.has(name));
  if (conflicts.length === 0) return { accepted: wanted, conflict: undefined };
  const problems = conflicts.map((name) => `${JSON.stringify(name)} is already in use`);
  const message = problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
  return { accepted: had, conflict: { reason: "ShortNamesConflict", message } };
}

/** The condition, with the time of the change where its status changed. */
function setCondition(conditions: readonly Condition[], condition: Condition, now: number): Condition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  const isChange = old?.status !== condition.status || old.lastTransitionTime === undefined;
  const lastTransitionTime = isChange ? formatTime(now) : old.lastTransitionTime;
  const next = { ...condition, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
  return old ? conditions.map((item) => (item === old ? next : item)) : [...conditions, next];
}

/** The time to the second, as in all objects. */
const formatTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");

/** Keeps a CRD until all of its objects are gone. */
const CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/**
 * A CRD whose deletion was asked for, as it stays until its objects are gone: with the finalizer, and Terminating. To be
 * stored in place of removing an established CRD; one that never was established has no objects and goes at once.
 */
export function markCrdDeleted(crd: CustomResourceDefinition, now: number): CustomResourceDefinition {
  const { metadata = {}, status = {} } = crd;
  const finalizers = new Set([...(metadata.finalizers ?? []), CRD_FINALIZER]);
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  const terminating: Condition = { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message };
  return {
    ...crd,
    metadata: {
      ...metadata,
      deletionTimestamp: metadata.deletionTimestamp ?? formatTime(now),
      finalizers: [...finalizers],
    },
    status: { ...status, conditions: setCondition(status.conditions ?? [], terminating, now) },
  };
}

/** The next step for a CRD that is being deleted. */
type CrdDeletion =
  /** Nothing to do: it is not being deleted, or our finalizer is gone. */
  | { readonly step: "none" }
  /** Store the status if it changed, delete every object, and ask again when one is gone. */
  | { readonly step: "delete-instances"; readonly status: CustomResourceDefinitionStatus }
  /** Store the object without the finalizer, which removes it unless another finalizer is there. */
  | { readonly step: "finalize"; readonly crd: CustomResourceDefinition };

/** Plans as `crd_finalizer.go` does. `remaining`: the number of objects of the kind. */
export function planCrdDeletion(crd: CustomResourceDefinition, remaining: number, now: number): CrdDeletion {
  const { metadata = {}, status = {} } = crd;
  const finalizers = metadata.finalizers ?? [];
  if (metadata.deletionTimestamp === undefined || !finalizers.includes(CRD_FINALIZER)) return { step: "none" };
  const terminating = (value: "True" | "False", reason: string, message: string) => {
    const condition: Condition = { type: "Terminating", status: value, reason, message };
    return { ...status, conditions: setCondition(status.conditions ?? [], condition, now) };
  };
  if (isEstablished(crd) && remaining > 0) {
    const next = terminating("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    return { step: "delete-instances", status: isDeepStrictEqual(next, status) ? status : next };
  }
  const done = isEstablished(crd)
    ? terminating("False", "InstanceDeletionCompleted", "removed all instances")
    : terminating("False", "NeverEstablished", "resource was never established");
  const left = finalizers.filter((finalizer) => finalizer !== CRD_FINALIZER);
  return { step: "finalize", crd: { ...crd, metadata: { ...metadata, finalizers: left }, status: done } };
}
