import type { APIService } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { type GroupVersion, listGroupVersions } from "../discovery/api-table.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { withAvailability } from "./availability.ts";
import { API_SERVICES } from "./backends.ts";
import { prioritiesOf } from "./local-priorities.ts";

/** The label by which upstream's controller knows the registrations that it made. */
const MANAGED = "kube-aggregator.kubernetes.io/automanaged";
/** What this API server makes of the nodes' summaries: a metrics-server may take its place. */
export const GIVEN_AWAY = "metrics.k8s.io";
/**
 * The first is about the registrations and has none, as with upstream. The second has none of ours, so that the chart of
 * metrics-server finds none that it does not own, and ours goes on when that is gone.
 */
const UNREGISTERED = new Set(["apiregistration.k8s.io", GIVEN_AWAY]);
const LOCAL = { isAvailable: true, reason: "Local", message: "Local APIServices are always available" };

interface RegistrationDeps extends ControllerDeps {
  kinds(): readonly ResourceKind[];
  /** True for a group and version that this API server never gives away. */
  isOwn(at: GroupVersion): boolean;
  /** Called each time when everything is registered. */
  noteRegistered(): void;
}

/** Registers what this API server answers itself: its own groups, and those of custom resources (`autoregister`). */
export function createLocalRegistrations(deps: RegistrationDeps): Controller {
  const { feed } = deps;
  const queue = createWorkQueue(deps, { name: "autoregister", reconcile: () => reconcile(deps) });
  const wake = () => queue.add("all");
  const follow = () => [
    feed.follow(API_SERVICES, wake),
    feed.follow("customresourcedefinitions.apiextensions.k8s.io", wake),
  ];
  const run = async (signal: AbortSignal) => {
    wake();
    await runFollowing(queue, follow, signal);
  };
  return { run };
}

async function reconcile({
  reader,
  writer,
  clock,
  kinds,
  isOwn,
  noteRegistered,
}: RegistrationDeps): Promise<undefined> {
  const existing = reader.list(API_SERVICES).map((object) => typed("APIService", object));
  const plan = planRegistrations(existing, { kinds: kinds(), isOwn, now: clock.now() });
  const writes = [
    ...plan.create.map((object) => writer.create(API_SERVICES, untyped(object))),
    ...plan.restore.map((object) => writer.update(API_SERVICES, untyped(object))),
    ...plan.tell.map((object) => writer.update(API_SERVICES, untyped(object), "status")),
    ...plan.remove.map((name) => writer.remove({ resource: API_SERVICES, namespace: "", name })),
  ];
  await Promise.all(writes.map((write) => unlessOvertaken(write)));
  noteRegistered();
}

interface RegistrationPlan {
  readonly create: readonly APIService[];
  /** Our own groups, which somebody gave a service. */
  readonly restore: readonly APIService[];
  /** Local ones whose condition does not say so yet. */
  readonly tell: readonly APIService[];
  readonly remove: readonly string[];
}

/** What is to be done so that each group and version has its registration. Those of others are left alone. */
export function planRegistrations(
  existing: readonly APIService[],
  { kinds, isOwn, now }: { kinds: readonly ResourceKind[]; isOwn(at: GroupVersion): boolean; now: number },
): RegistrationPlan {
  const served = kinds.filter(({ verbs, subresources }) => verbs.length + subresources.length > 0);
  const wanted = new Map(
    listGroupVersions(served)
      .filter(({ group }) => !UNREGISTERED.has(group))
      .map((at) => [`${at.version}.${at.group}`, registration(at, isOwn(at))]),
  );
  const nameOf = ({ metadata }: APIService) => metadata?.name ?? "";
  const present = new Set(existing.map(nameOf));
  const isGiven = (apiService: APIService) => {
    const { group = "", version = "", service } = apiService.spec ?? {};
    return service !== undefined && isOwn({ group, version });
  };
  const local = existing.filter(({ spec }) => spec?.service === undefined);
  return {
    create: [...wanted.values()].filter((apiService) => !present.has(nameOf(apiService))),
    restore: existing.filter(isGiven).flatMap((apiService) => {
      const own = wanted.get(nameOf(apiService));
      return own?.spec ? [{ ...apiService, spec: own.spec }] : [];
    }),
    tell: local.flatMap((apiService) => withAvailability(apiService, LOCAL, now) ?? []),
    remove: local
      .filter((apiService) => apiService.metadata?.labels?.[MANAGED] !== undefined && !wanted.has(nameOf(apiService)))
      .map(nameOf),
  };
}

function registration(
  { group, version }: GroupVersion,
  isOwn: boolean,
): APIService & Pick<KubeObject, "apiVersion" | "kind"> {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, labels: { [MANAGED]: isOwn ? "onstart" : "true" } },
    spec: { group, version, ...prioritiesOf({ group, version }) },
  };
}
