import { decodeTyped } from "../../api/decode.ts";
import { SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import type { APIResource, APIResourceList, APIService } from "../../api/gen/types.ts";
import { isRecord, typed, untyped } from "../../api/object.ts";
import { isAbort } from "../../base/abort.ts";
import { formatTime, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import { withDeadline } from "../../base/time-limit.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { API_SERVICES, type Backend, type Backends, findBackend } from "./backends.ts";
import type { BackendCalls } from "./forward-request.ts";
import { getDocument } from "./get-document.ts";
import { locateBackend } from "./locate-backend.ts";

const CHECK_TIMEOUT_MS = 5 * SECOND;
/** A backend may end without a word. */
const CHECK_PERIOD_MS = 30 * SECOND;
/** One that does not answer yet is asked more often. */
const RETRY_PERIOD_MS = 2 * SECOND;
const MAX_DISCOVERY_BYTES = 4 * 1024 * 1024;
const MAX_RESOURCE_VALUES = 30_000;

type AvailabilityDeps = ControllerDeps & Pick<BackendCalls, "callWeb" | "identity" | "random" | "resolveHost">;

/** Tells of each registered API server whether it answers, and asks it what it serves (`AvailableConditionController`). */
export function createAvailabilityChecks(deps: AvailabilityDeps, backends: Backends): Controller {
  const { feed, reader } = deps;
  const queue = createWorkQueue(deps, {
    name: "available-condition-controller",
    reconcile: (name, signal) => reconcile(deps, backends, { name, signal }),
  });
  /** What becomes of a service matters to those who are registered with it. */
  const wake = (namespace: string | undefined, service: string | undefined) => {
    for (const object of reader.list(API_SERVICES)) {
      const asked = typed("APIService", object).spec?.service;
      if (asked?.namespace === namespace && asked?.name === service) queue.add(object.metadata.name ?? "");
    }
  };
  const follow = () => [
    feed.follow(API_SERVICES, ({ object }) => queue.add(object.metadata.name ?? "")),
    feed.follow("services", ({ object: { metadata } }) => wake(metadata.namespace, metadata.name)),
    feed.follow("endpointslices.discovery.k8s.io", ({ object: { metadata } }) => {
      wake(metadata.namespace, metadata.labels?.["kubernetes.io/service-name"]);
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

async function reconcile(
  deps: AvailabilityDeps,
  backends: Backends,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<number | undefined> {
  const object = deps.reader.get({ resource: API_SERVICES, namespace: "", name });
  if (object === undefined) return undefined;
  const backend = findBackend(backends, object);
  if (backend === undefined) return undefined;
  const verdict = await judge(deps, backend, signal);
  if (verdict.resources !== undefined) backends.tell(name, verdict.resources);
  await writeCondition(deps, name, verdict);
  return verdict.reason === "FailedDiscoveryCheck" ? RETRY_PERIOD_MS : CHECK_PERIOD_MS;
}

interface Verdict {
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly message: string;
  /** What the backend serves; undefined where it did not say. */
  readonly resources?: readonly APIResource[];
}

async function judge(deps: AvailabilityDeps, backend: Backend, signal: AbortSignal): Promise<Verdict> {
  const { reader, random, clock } = deps;
  const location = locateBackend(reader, backend, random);
  if (!location.found) return { ...location, isAvailable: false };
  const { server } = location;
  const { group = "", version = "" } = backend.spec;
  const path = `/apis/${group}/${version}`;
  const url = `https://${server.host}:${server.port}${path}`;
  try {
    const limit = { timeoutMs: CHECK_TIMEOUT_MS, signal, what: `reading ${url}` };
    const text = await withDeadline(
      clock,
      limit,
      async (inner) => await getDocument(deps, { backend, server, path, maxBytes: MAX_DISCOVERY_BYTES }, inner),
    );
    const resources = readResources(text);
    return { isAvailable: true, reason: "Passed", message: "all checks passed", ...(resources && { resources }) };
  } catch (error) {
    if (isAbort(error) && signal.aborted) throw error;
    const message = `failing or missing response from ${url}: ${messageOf(error)}`;
    return { isAvailable: false, reason: "FailedDiscoveryCheck", message };
  }
}

/** The resources of a discovery document; undefined where it is none, or only the beginning of one. */
function readResources(text: string): readonly APIResource[] | undefined {
  const options = { tables: SERVED_SCHEMA, type: "APIResourceList", maxValues: MAX_RESOURCE_VALUES };
  const { value } = decodeTyped(options, tryParseJson(text));
  return isResourceList(value) ? value.resources : undefined;
}

/** True for what was decoded by that type's table. */
function isResourceList(value: unknown): value is APIResourceList {
  return isRecord(value) && Array.isArray(value["resources"]);
}

/** Keeps conditions of others. Nothing is written where the verdict is the one that is told already. */
async function writeCondition({ reader, writer, clock }: AvailabilityDeps, name: string, verdict: Verdict) {
  const object = reader.get({ resource: API_SERVICES, namespace: "", name });
  if (object === undefined) return;
  const apiService = typed("APIService", object);
  const next = withAvailability(apiService, verdict, clock.now());
  if (next !== undefined) await unlessOvertaken(writer.update(API_SERVICES, untyped(next), "status"));
}

/** The registration with the verdict as its condition; undefined where it says so already. */
export function withAvailability(
  apiService: APIService,
  { isAvailable, reason, message }: Omit<Verdict, "resources">,
  now: number,
): APIService | undefined {
  const conditions = apiService.status?.conditions ?? [];
  const current = conditions.find(({ type }) => type === "Available");
  const status = isAvailable ? "True" : "False";
  // The words of a failure change with the endpoint that was tried.
  if (current?.status === status && current.reason === reason) return undefined;
  const lastTransitionTime = current?.status === status ? current.lastTransitionTime : formatTime(now);
  const condition = { type: "Available", status, reason, message, ...(lastTransitionTime && { lastTransitionTime }) };
  const next = current
    ? conditions.map((other) => (other === current ? condition : other))
    : [...conditions, condition];
  return { ...apiService, status: { ...apiService.status, conditions: next } };
}
