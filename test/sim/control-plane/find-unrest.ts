import { type KubeObject, typed } from "../../../src/api/object.ts";
import { isPodReady, isTerminalPhase, podUid } from "../../../src/api/pods.ts";
import { targetOf } from "./checks/daemons.ts";
import { findEstateUnrest } from "./estate/find-estate-unrest.ts";
import { NAMESPACE } from "./ledger.ts";
import { controllerOf, isActive, podsOf, type StoredPod } from "./pods-of.ts";
import { NODE_NAMES } from "./workloads.ts";
import type { ControlPlaneWorld } from "./world.ts";

/** What is not yet as users want it; nothing once everything is. */
export function findUnrest(world: ControlPlaneWorld): string[] {
  return [
    ...findRestlessPods(world),
    ...findRestlessReplicas(world),
    ...findRestlessSets(world),
    ...findRestlessDaemons(world),
    ...findRestlessJobs(world),
    ...findRestlessTraffic(world),
    ...findRestlessCounts(world),
    ...(world.estate === undefined ? [] : findEstateUnrest(world, world.estate)),
  ];
}

type Look = (world: ControlPlaneWorld) => string[];

/** No pod is without its owner, and none is on its way. */
const findRestlessPods: Look = ({ ledger }) => {
  const uids = new Set(OWNERS.flatMap((resource) => ledger.list(resource).map(({ metadata }) => metadata.uid)));
  const dependents = [...ledger.list("pods"), ...ledger.list("replicasets.apps"), ...ledger.list("jobs.batch")];
  return dependents.flatMap((object) => {
    const name = `${object.kind} ${object.metadata.name}`;
    const owner = controllerOf(object);
    if (owner !== undefined && !uids.has(owner.uid)) return [`${name} has outlived its owner ${owner.name}`];
    if (object.metadata.deletionTimestamp !== undefined) return [`${name} is being deleted`];
    if (object.kind !== "Pod" || isTerminalPhase(typed("Pod", object).status?.phase)) return [];
    return isPodReady(typed("Pod", object)) ? [] : [`${name} is not ready`];
  });
};

const OWNERS = [
  "deployments.apps",
  "replicasets.apps",
  "replicationcontrollers",
  "statefulsets.apps",
  "daemonsets.apps",
  "jobs.batch",
  "cronjobs.batch",
];

const findRestlessReplicas: Look = ({ ledger }) => {
  const sets = ledger.list("replicasets.apps").map((set) => typed("ReplicaSet", set));
  const ofSets = sets.flatMap((set) => {
    const count = podsOf(ledger, set).filter(isActive).length;
    const wanted = set.spec?.replicas ?? 1;
    return count === wanted && (set.status?.replicas ?? 0) === count
      ? []
      : [`replica set ${set.metadata.name} has ${count} pods of ${wanted} and says ${set.status?.replicas}`];
  });
  const ofDeployments = ledger.list("deployments.apps").flatMap((object) => {
    const { metadata, spec, status } = typed("Deployment", object);
    const own = sets.filter((set) => controllerOf(set)?.uid === metadata.uid);
    const wanted = spec?.replicas ?? 1;
    const image = spec?.template.spec?.containers[0]?.image;
    const pods = own.flatMap((set) => podsOf(ledger, set)).filter(isActive);
    const newest = pods.filter(({ spec: own }) => own?.containers[0]?.image === image);
    const counts = [status?.replicas, status?.updatedReplicas, status?.readyReplicas, status?.availableReplicas];
    const name = `deployment ${metadata.name}`;
    if (pods.length !== wanted || newest.length !== wanted) {
      return [`${name} has ${newest.length} new pods and ${pods.length} in all of ${wanted}`];
    }
    if (counts.some((count) => (count ?? 0) !== wanted)) return [`${name} says ${JSON.stringify(status)} of ${wanted}`];
    const isOld = (set: (typeof own)[number]) => set.spec?.template?.spec?.containers[0]?.image !== image;
    const empty = own.filter((set) => isOld(set) && set.spec?.replicas === 0).length;
    const limit = spec?.revisionHistoryLimit ?? 10;
    return empty > limit ? [`${name} keeps ${empty} old replica sets of ${limit}`] : [];
  });
  return [...ofSets, ...ofDeployments];
};

const findRestlessSets: Look = ({ ledger }) =>
  ledger.list("statefulsets.apps").flatMap((object) => {
    const set = typed("StatefulSet", object);
    const { metadata, spec, status } = set;
    const wanted = Array.from({ length: spec?.replicas ?? 1 }, (_, ordinal) => `${metadata.name}-${ordinal}`);
    const pods = podsOf(ledger, set);
    const names = pods.map((pod) => pod.metadata.name ?? "").toSorted();
    const name = `stateful set ${metadata.name}`;
    if (names.join() !== wanted.toSorted().join()) return [`${name} has ${names.join()} of ${wanted.join()}`];
    const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const image = spec?.template.spec?.containers[0]?.image;
    const old = pods.filter((pod) => {
      const ordinal = Number(pod.metadata.name?.split("-").at(-1));
      return ordinal >= partition && pod.spec?.containers[0]?.image !== image;
    });
    if (old.length > 0) return [`${name} has old pods: ${old.map((pod) => pod.metadata.name).join()}`];
    return (status?.readyReplicas ?? 0) === wanted.length ? [] : [`${name} says ${JSON.stringify(status)}`];
  });

const findRestlessDaemons: Look = ({ ledger }) =>
  ledger.list("daemonsets.apps").flatMap((object) => {
    const set = typed("DaemonSet", object);
    const name = `daemon set ${set.metadata.name}`;
    const pods = podsOf(ledger, set);
    const image = set.spec?.template.spec?.containers[0]?.image;
    if (pods.some((pod) => pod.spec?.containers[0]?.image !== image)) return [`${name} has old pods`];
    const targets = pods.map((pod) => targetOf(pod) ?? "").toSorted();
    if (targets.join() !== NODE_NAMES.join()) return [`${name} has pods for ${targets.join()}`];
    const { numberAvailable = 0, updatedNumberScheduled = 0 } = set.status ?? {};
    const isSaid = numberAvailable === NODE_NAMES.length && updatedNumberScheduled === NODE_NAMES.length;
    return isSaid ? [] : [`${name} says ${JSON.stringify(set.status)}`];
  });

/** A job is over, all of its pods are let go, and it says how many succeeded. */
const findRestlessJobs: Look = ({ ledger }) =>
  ledger.list("jobs.batch").flatMap((object) => {
    const job = typed("Job", object);
    const name = `job ${job.metadata.name}`;
    const end = job.status?.conditions?.find(
      ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
    );
    if (end === undefined) return [`${name} is not over: ${JSON.stringify(job.status)}`];
    const pods = podsOf(ledger, job);
    if (pods.some(isActive)) return [`${name} is over and has pods`];
    if (pods.some(({ metadata }) => (metadata.finalizers ?? []).length > 0)) return [`${name} keeps pods`];
    const isShort = end.type === "Complete" && (job.status?.succeeded ?? 0) < (job.spec?.completions ?? 1);
    return isShort ? [`${name} is complete with ${job.status?.succeeded} successes`] : [];
  });

/** A service leads to the pods that serve, by slices and by endpoints. */
const findRestlessTraffic: Look = ({ ledger }) =>
  ledger.list("services").flatMap((object) => {
    const { metadata, spec } = typed("Service", object);
    const app = spec?.selector?.["app"];
    if (metadata.namespace !== NAMESPACE || app === undefined) return [];
    const pods = ledger.list("pods").map((pod) => typed("Pod", pod));
    const wanted = pods
      .filter((pod: StoredPod) => pod.metadata.labels?.["app"] === app && isActive(pod) && isPodReady(pod))
      .map(({ status }) => status?.podIP ?? "")
      .toSorted();
    const slices = ledger.list("endpointslices.discovery.k8s.io").filter((slice: KubeObject) => {
      return controllerOf(slice)?.uid === metadata.uid;
    });
    const inSlices = slices.flatMap((slice) => {
      const { endpoints = [] } = typed("EndpointSlice", slice);
      return endpoints.filter(({ conditions }) => conditions?.ready === true).flatMap(({ addresses }) => addresses);
    });
    const endpoints = ledger.get("endpoints", metadata.name ?? "");
    const inEndpoints = (endpoints === undefined ? [] : (typed("Endpoints", endpoints).subsets ?? [])).flatMap(
      ({ addresses = [] }) => addresses.map(({ ip }) => ip),
    );
    const text = (kind: string, found: readonly string[]) =>
      found.toSorted().join() === wanted.join()
        ? []
        : [`${kind} of service ${metadata.name}: ${found.toSorted().join()} for ${wanted.join()}`];
    return [...text("slices", inSlices), ...text("endpoints", inEndpoints)];
  });

/** What quotas and budgets count is what there is. */
const findRestlessCounts: Look = ({ ledger }) => {
  const pods = ledger.list("pods").map((pod) => typed("Pod", pod));
  const running = pods.filter(({ metadata, status }) => {
    return metadata.namespace === NAMESPACE && !isTerminalPhase(status?.phase);
  });
  const quotas = ledger.list("resourcequotas").flatMap((object) => {
    const { used = {} } = typed("ResourceQuota", object).status ?? {};
    return used["pods"] === String(running.length)
      ? []
      : [`the quota counts ${used["pods"]} of ${running.length} pods`];
  });
  const budgets = ledger.list("poddisruptionbudgets.policy").flatMap((object) => {
    const { metadata, status } = typed("PodDisruptionBudget", object);
    const healthy = running.filter((pod) => pod.metadata.labels?.["app"] === metadata.name && isPodReady(pod));
    const uncounted = Object.keys(status?.disruptedPods ?? {}).length;
    return status?.currentHealthy === healthy.length && uncounted === 0
      ? []
      : [`budget ${metadata.name} says ${JSON.stringify(status)} of ${healthy.map(podUid).length} healthy pods`];
  });
  return [...quotas, ...budgets];
};
