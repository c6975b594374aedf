import { isDeepStrictEqual } from "node:util";
import { type KubeObject, typed } from "../../../../src/api/object.ts";
import { parseTime } from "../../../../src/base/clock.ts";
import { NAMESPACE } from "../ledger.ts";
import { controllerOf, isActive, podsOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import { amountOf, countUsed, MEASURED_RESOURCES } from "./count-used.ts";
import type { Estate } from "./estate.ts";
import { scaledResourceOf, TARGET_MILLICORES } from "./estate-kinds.ts";
import { FAMILY_LABEL } from "./families.ts";
import { findRestlessTokens } from "./join-tokens.ts";

type Look = (world: ControlPlaneWorld, estate: Estate) => string[];

/** What of the estate is not yet as users want it. */
export function findEstateUnrest(world: ControlPlaneWorld, estate: Estate): string[] {
  return [
    findRestlessControllers,
    findRestlessClaims,
    findRestlessFamilies,
    findRestlessNamespaces,
    findRestlessMirrors,
    findRestlessQuotas,
    findRestlessAutoscalers,
    findLeftJobs,
    findRestlessTokens,
  ].flatMap((look) => look(world, estate));
}

const findRestlessControllers: Look = ({ ledger }) =>
  ledger.list("replicationcontrollers").flatMap((object) => {
    const { metadata, spec, status } = typed("ReplicationController", object);
    const count = podsOf(ledger, object).filter(isActive).length;
    const isSettled = count === spec?.replicas && status?.replicas === count && (status.readyReplicas ?? 0) === count;
    return isSettled ? [] : [`replication controller ${metadata.name} has ${count}: ${JSON.stringify(status)}`];
  });

/** Each pod of a set has its claims, bound; no claim, volume or directory is left of what was to go. */
const findRestlessClaims: Look = ({ ledger }, { directories }) => {
  const claims = ledger.list("persistentvolumeclaims").map((claim) => typed("PersistentVolumeClaim", claim));
  const ofSets = ledger.list("statefulsets.apps").flatMap((object) => {
    const { metadata, spec } = typed("StatefulSet", object);
    const names = (count: number) =>
      Array.from({ length: count }).flatMap((_, ordinal) =>
        (spec?.volumeClaimTemplates ?? []).map((template) => `${template.metadata?.name}-${metadata.name}-${ordinal}`),
      );
    const own = claims.filter(({ metadata: { name = "" } }) => {
      return (spec?.volumeClaimTemplates ?? []).some((one) =>
        name.startsWith(`${one.metadata?.name}-${metadata.name}-`),
      );
    });
    const wanted = names(spec?.replicas ?? 1);
    const bound = own.filter(({ status }) => status?.phase === "Bound").map(({ metadata: { name = "" } }) => name);
    const missing = wanted.filter((name) => !bound.includes(name));
    if (missing.length > 0) return [`stateful set ${metadata.name} lacks ${missing.join()}`];
    const going = own.filter(({ metadata: { name = "" } }) => !wanted.includes(name));
    // A claim of a pod that went goes with it. A policy that comes later says nothing of claims whose pods are gone.
    const due = going.filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ kind }) => kind === "Pod"),
    );
    return due.length > 0 ? [`stateful set ${metadata.name} keeps ${due.map((one) => one.metadata.name).join()}`] : [];
  });
  const ending = claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const uids = new Set(claims.map(({ metadata }) => metadata.uid));
  const volumes = ledger.list("persistentvolumes").map((volume) => typed("PersistentVolume", volume));
  const unclaimed = volumes.filter(({ spec }) => !uids.has(spec?.claimRef?.uid));
  const known = volumes.map(({ metadata }) => metadata.name);
  const stray = directories.names().filter((name) => !known.includes(name));
  return [
    ...ofSets,
    ...ending.map(({ metadata }) => `claim ${metadata.name} is being deleted`),
    ...unclaimed.map(({ metadata, status }) => `volume ${metadata.name} is ${status?.phase} without a claim`),
    ...stray.map((name) => `directory ${name} has no volume`),
  ];
};

/** Nobody waits to go, and whoever has owners has one that is there. */
const findRestlessFamilies: Look = ({ ledger }) => {
  const all = ledger.list("configmaps").filter(({ metadata }) => metadata.labels?.[FAMILY_LABEL] !== undefined);
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  return all.flatMap(({ metadata }) => {
    if (metadata.deletionTimestamp !== undefined) return [`${metadata.name} is being deleted`];
    const lost = (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
    return lost.length > 0 && lost.length === metadata.ownerReferences?.length
      ? [`${metadata.name} has outlived its owner ${lost[0]?.name}`]
      : [];
  });
};

/** No namespace is on its way out, and each has what every namespace has. */
const findRestlessNamespaces: Look = ({ ledger }) =>
  ledger.list("namespaces").flatMap(({ metadata: { name = "", deletionTimestamp } }) => {
    if (deletionTimestamp !== undefined) return [`namespace ${name} is being deleted`];
    const map = ledger.get("configmaps", "kube-root-ca.crt", name);
    const isWhole = isDeepStrictEqual(map && typed("ConfigMap", map).data, { "ca.crt": "" });
    return [
      ...(isWhole ? [] : [`namespace ${name} has no kube-root-ca.crt as it should be: ${JSON.stringify(map)}`]),
      ...(ledger.get("serviceaccounts", "default", name) ? [] : [`namespace ${name} has no default account`]),
    ];
  });

const findRestlessMirrors: Look = ({ ledger }) => {
  const slices = ledger.list("endpointslices.discovery.k8s.io").filter((slice) => {
    return slice.metadata.labels?.["kubernetes.io/service-name"] === "abroad";
  });
  const found = slices.flatMap(
    (slice) => typed("EndpointSlice", slice).endpoints?.flatMap((one) => one.addresses) ?? [],
  );
  const service = ledger.get("services", "abroad");
  const endpoints = service === undefined ? undefined : ledger.get("endpoints", "abroad");
  const subsets = endpoints === undefined ? [] : (typed("Endpoints", endpoints).subsets ?? []);
  const wanted = subsets.flatMap(({ addresses = [] }) => [...new Set(addresses.map(({ ip }) => ip))]);
  const isMirrored = found.toSorted().join() === wanted.toSorted().join();
  return isMirrored ? [] : [`the slices of abroad have ${found.toSorted().join()} for ${wanted.toSorted().join()}`];
};

const findRestlessQuotas: Look = ({ ledger, clock }) =>
  ledger.list("resourcequotas").flatMap((object) => {
    const { metadata, spec, status } = typed("ResourceQuota", object);
    const measured = [...MEASURED_RESOURCES.values()].flat().filter((name) => spec?.hard?.[name] !== undefined);
    return measured.flatMap((name) => {
      const [said, real] = [amountOf(status?.used?.[name] ?? "-1"), countUsed(ledger, name, clock.now())];
      return said === real ? [] : [`quota ${metadata.name} counts ${said} of ${real} ${name}`];
    });
  });

/** What is scaled has as many replicas as its load asks for, within the bounds. */
const findRestlessAutoscalers: Look = ({ ledger, clock }, { usage }) =>
  ledger.list("horizontalpodautoscalers.autoscaling").flatMap((object) => {
    const { metadata, spec, status } = typed("HorizontalPodAutoscaler", object);
    const { name = "" } = metadata;
    const target = ledger.get(scaledResourceOf(name), name);
    const replicas = replicasOf(target);
    // Nobody but its author leads a target back from nothing.
    if (target === undefined || replicas === 0) return [];
    // A clock that was set back leaves pods that have not begun yet, of which nobody knows how they will do.
    const pods = ledger.list("pods").map((pod) => typed("Pod", pod));
    const isEarly = pods.some(({ status }) => (parseTime(status?.startTime) ?? 0) > clock.now());
    if (isEarly) return [];
    // Each pod's use is told in whole millicores, rounded up as quantities are.
    const told = Math.ceil(usage.load(name) / replicas);
    const ratio = told / TARGET_MILLICORES;
    const { minReplicas = 1, maxReplicas } = spec;
    const wanted = Math.min(maxReplicas, Math.max(minReplicas, Math.ceil(ratio * replicas)));
    const isRight = replicas === wanted || (Math.abs(ratio - 1) <= TOLERANCE && replicas >= minReplicas);
    const text = `autoscaler ${name} has ${replicas} of ${wanted} and says ${JSON.stringify(status)}`;
    return isRight && status?.currentReplicas === replicas && status.desiredReplicas === replicas ? [] : [text];
  });

const TOLERANCE = 0.1;

function replicasOf(object: KubeObject | undefined): number {
  const spec = object?.["spec"];
  return typeof spec === "object" && spec !== null && "replicas" in spec ? Number(spec.replicas) : 0;
}

/** No job is left whose time after its end is over; cron jobs are none of this. */
const findLeftJobs: Look = ({ ledger }) =>
  ledger.list("jobs.batch").flatMap((object) => {
    const { metadata, spec, status } = typed("Job", object);
    if (metadata.namespace !== NAMESPACE || controllerOf(object) !== undefined) return [];
    const isOver = status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed") === true;
    return isOver && spec?.ttlSecondsAfterFinished !== undefined
      ? [`job ${metadata.name} is over and still there`]
      : [];
  });
