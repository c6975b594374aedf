import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import type { StartHooks } from "../control-loop/start-hooks.ts";
import type { GroupVersion } from "../discovery/api-table.ts";
import type { ReadForeign } from "../ports/foreign-reads.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { createAvailabilityChecks } from "./availability.ts";
import { type Backends, followBackends } from "./backends.ts";
import { type BackendCalls, createForwarding, type ForwardRequest } from "./forward-request.ts";
import { createLocalRegistrations, GIVEN_AWAY } from "./local-registrations.ts";
import { createOpenApiReads } from "./openapi-reads.ts";
import { createBackendReads } from "./read-backend.ts";

/** The API servers of others beside this one. */
export interface Aggregation {
  readonly forward: ForwardRequest;
  /** For the control plane's own parts. */
  readonly read: ReadForeign;
  /** What they serve, for discovery. */
  readonly backends: Backends;
  readonly controllers: readonly Controller[];
}

/** An API server that stands alone. */
export const NO_AGGREGATION: Aggregation = {
  forward: () => undefined,
  read: () => Promise.resolve({ kind: "unserved" }),
  backends: { find: () => undefined, versions: () => [], version: 0, tell: () => undefined, describe: () => undefined },
  controllers: [],
};

interface AggregationDeps extends ControllerDeps, Omit<BackendCalls, "clock" | "reader"> {
  kinds(): readonly ResourceKind[];
  hooks: Pick<StartHooks, "done" | "whileRunning">;
}

/** The step of the start that registers what this API server answers itself. */
export const REGISTRATION_STEP = "autoregister-completion";

/** Follows the registrations from now on, and what they lead to while its controllers run. */
export function createAggregation(deps: AggregationDeps): Aggregation {
  const isOwn = ({ group, version }: GroupVersion) =>
    group !== GIVEN_AWAY &&
    deps.kinds().some((kind) => kind.group === group && kind.version === version && kind.schema.strategicMerge);
  const backends = followBackends(deps.feed, isOwn);
  const { hooks } = deps;
  return {
    backends,
    forward: createForwarding(deps, backends),
    read: createBackendReads(deps, backends),
    controllers: [
      hooks.whileRunning(
        createAvailabilityChecks(deps, backends),
        "poststarthook/start-kube-aggregator-informers",
        "poststarthook/apiservice-status-remote-available-controller",
      ),
      hooks.whileRunning(createOpenApiReads(deps, backends), "poststarthook/apiservice-openapi-controller"),
      hooks.whileRunning(
        createLocalRegistrations({ ...deps, isOwn, noteRegistered: () => hooks.done(REGISTRATION_STEP) }),
        "poststarthook/apiservice-registration-controller",
        "poststarthook/apiservice-status-local-available-controller",
        "poststarthook/kube-apiserver-autoregistration",
      ),
    ],
  };
}
