import { isDeepStrictEqual } from "node:util";
import { isApiError } from "../../api/api-error.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { DEFAULT_POLICY, reconcilePolicy } from "../access/default-policy.ts";
import { SYSTEM_PRIORITY_CLASSES } from "../admission/priority.ts";
import { groupResource } from "../ports/resource-kind.ts";
import type { ObjectName, ResourceReader, ResourceWriter } from "../ports/resources.ts";
import { BUILT_IN_KINDS } from "../registry/built-in-kinds.ts";
import { LOCAL_STORAGE_CLASS } from "../volumes/local-class.ts";
import {
  CLUSTER_DNS_POLICY,
  CLUSTER_DNS_SLICE,
  type ClusterDnsAddresses,
  clusterDnsService,
  clusterDnsSlice,
  isOwnDnsSlice,
} from "./cluster-dns-objects.ts";
import { CLUSTER_INFO, CLUSTER_INFO_POLICY, clusterInfo, reconcileClusterInfo } from "./cluster-info.ts";
import {
  API_SERVICE,
  type ApiEndpoint,
  apiEndpoints,
  apiService,
  type ClusterFacts,
  clientAuthority,
  FIRST_NAMESPACES,
} from "./first-objects.ts";
import {
  MANDATORY_FLOW_OBJECTS,
  reconcileMandatoryFlow,
  reconcileSuggestedFlow,
  SUGGESTED_FLOW_OBJECTS,
} from "./flow-objects.ts";

const STEPS = {
  namespaces: "poststarthook/start-system-namespaces-controller",
  priorityClasses: "poststarthook/scheduling/bootstrap-system-priority-classes",
  admission: "poststarthook/start-apiserver-admission-initializer",
  apiService: "poststarthook/bootstrap-controller",
  authority: "poststarthook/start-cluster-authentication-info-controller",
  policy: "poststarthook/rbac/bootstrap-roles",
  flow: "poststarthook/priority-and-fairness-config-producer",
} as const;

/** The steps of `bootstrapCluster`, each with the name of upstream's health check of it. */
export const BOOTSTRAP_STEPS: readonly string[] = Object.values(STEPS);

/**
 * Creates the objects that every cluster begins with. Objects that are there stay, and keep what users changed in them.
 * `done` is told of each step when what it writes is there.
 */
export async function bootstrapCluster(
  { reader, writer, done }: { reader: ResourceReader; writer: ResourceWriter; done(step: string): void },
  facts: ClusterFacts,
): Promise<void> {
  const { endpoint, clusterDns, hasLocalStorage } = facts;
  const ensureAll = async (
    objects: readonly KubeObject[],
    reconcile?: (existing: KubeObject | undefined, wanted: KubeObject) => KubeObject | undefined,
  ) => {
    await Promise.all(objects.map((object) => ensure({ reader, writer }, object, reconcile)));
  };
  const step = async (name: string, ...writes: ReadonlyArray<Promise<void>>) => {
    await Promise.all(writes);
    done(name);
  };
  await step(STEPS.namespaces, ensureAll(FIRST_NAMESPACES));
  const priorityClasses = step(STEPS.priorityClasses, ensureAll(SYSTEM_PRIORITY_CLASSES));
  await Promise.all([
    // What the admission of others' objects looks up is there then: the namespaces, and these classes.
    step(STEPS.admission, priorityClasses),
    step(STEPS.apiService, ensureApiService({ reader, writer }, endpoint)),
    step(STEPS.authority, ensureAll([clientAuthority(facts)], reconcileData)),
    step(STEPS.policy, ensureAll(DEFAULT_POLICY, reconcilePolicy)),
    step(
      STEPS.flow,
      ensureAll(MANDATORY_FLOW_OBJECTS, reconcileMandatoryFlow),
      ensureAll(SUGGESTED_FLOW_OBJECTS, reconcileSuggestedFlow),
    ),
    ensureAll(hasLocalStorage ? [LOCAL_STORAGE_CLASS] : []),
    ensureClusterDns({ reader, writer }, clusterDns),
    ensureClusterInfo({ reader, writer }, facts),
  ]);
}

/** Makes the service by which pods find the API server, which stays as it is where it is there, and sets its endpoints. */
export async function ensureApiService(
  deps: { reader: ResourceReader; writer: ResourceWriter },
  endpoint: ApiEndpoint,
): Promise<void> {
  await ensure(deps, apiService(endpoint), undefined);
  await Promise.all(apiEndpoints(endpoint).map((object) => ensure(deps, object, reconcileFields)));
}

/** The services that the start makes: that of the API server, and that of the names where they are ours to serve. */
export function ownServices(reader: ResourceReader): readonly ObjectName[] {
  const slice = reader.get(CLUSTER_DNS_SLICE);
  const dns = slice !== undefined && isOwnDnsSlice(slice) ? [{ ...CLUSTER_DNS_SLICE, resource: "services" }] : [];
  return [{ resource: "services", ...API_SERVICE }, ...dns];
}

/** The policy first: where the start ends in between, the next one still finds no map. */
async function ensureClusterInfo(
  { reader, writer }: { reader: ResourceReader; writer: ResourceWriter },
  facts: ClusterFacts,
): Promise<void> {
  if (reader.get(CLUSTER_INFO) === undefined) {
    await Promise.all(CLUSTER_INFO_POLICY.map((object) => ensure({ reader, writer }, object, undefined)));
  }
  await ensure({ reader, writer }, clusterInfo(facts), reconcileClusterInfo);
}

/** Where somebody else serves the names, nothing of ours may lead there. */
async function ensureClusterDns(
  { reader, writer }: { reader: ResourceReader; writer: ResourceWriter },
  addresses: ClusterDnsAddresses | undefined,
): Promise<void> {
  const slice = reader.get(CLUSTER_DNS_SLICE);
  if (addresses === undefined) {
    if (slice !== undefined && isOwnDnsSlice(slice)) await writer.remove(CLUSTER_DNS_SLICE);
    return;
  }
  await Promise.all(CLUSTER_DNS_POLICY.map((object) => ensure({ reader, writer }, object, reconcilePolicy)));
  try {
    await ensure({ reader, writer }, clusterDnsService(addresses), undefined);
  } catch (error) {
    if (!isApiError(error, "Invalid")) throw error;
    const mend = "delete the service that has the address, choose another --service-cidr, or start with --no-dns";
    throw new CodedError("cluster-dns-refused", `${messageOf(error)}: ${mend}`, { cause: error });
  }
  await ensure({ reader, writer }, clusterDnsSlice(addresses), (existing, wanted) => {
    return existing === undefined || isOwnDnsSlice(existing) ? reconcileFields(existing, wanted) : undefined;
  });
}

const RESOURCES: ReadonlyMap<string, string> = new Map(
  BUILT_IN_KINDS.map((kind) => [
    `${kind.group === "" ? "" : `${kind.group}/`}${kind.version}/${kind.kind}`,
    groupResource(kind),
  ]),
);

async function ensure(
  { reader, writer }: { reader: ResourceReader; writer: ResourceWriter },
  wanted: KubeObject,
  reconcile: ((existing: KubeObject | undefined, wanted: KubeObject) => KubeObject | undefined) | undefined,
): Promise<void> {
  const resource = RESOURCES.get(`${wanted.apiVersion}/${wanted.kind}`) ?? "";
  const { namespace: place = "", name = "" } = wanted.metadata;
  const existing = reader.get({ resource, namespace: place, name });
  try {
    if (existing === undefined) {
      await writer.create(resource, wanted);
      return;
    }
    const changed = reconcile?.(existing, wanted);
    if (changed !== undefined) await writer.update(resource, changed);
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
}

/** The object with all wanted fields but those of its metadata; undefined when it has them already. */
function reconcileFields(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  if (existing === undefined) return wanted;
  const next = { ...existing, ...wanted, metadata: existing.metadata };
  return isDeepStrictEqual(existing, next) ? undefined : next;
}

/** The object with the wanted entries, besides the entries that it has; undefined when it has them already. */
function reconcileData(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  if (existing === undefined) return wanted;
  const data = isRecord(existing["data"]) ? existing["data"] : {};
  const entries = Object.entries(isRecord(wanted["data"]) ? wanted["data"] : {});
  if (entries.every(([key, value]) => data[key] === value)) return undefined;
  return { ...existing, data: { ...data, ...Object.fromEntries(entries) } };
}
