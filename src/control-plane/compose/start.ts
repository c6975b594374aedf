import { splitServiceRanges } from "../../api/service-addresses.ts";
import { aborted } from "../../base/abort.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { REGISTRATION_STEP } from "../aggregation/aggregation.ts";
import { BOOTSTRAP_STEPS, bootstrapCluster, ownServices } from "../bootstrap/bootstrap-cluster.ts";
import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import { createStartHooks, type StartHooks } from "../control-loop/start-hooks.ts";
import { ensureDefaultRange } from "../controllers/addresses/default-range-keeper.ts";
import { moveDefaultRange } from "../controllers/addresses/move-default-range.ts";
import type { Definitions } from "../custom/follow-definitions.ts";
import type { HealthCheck } from "../ports/health-check.ts";
import type { ControlPlaneConfig, ControlPlaneDeps } from "./control-plane-ports.ts";

/** Everything that the start has written or found is on the disk. */
const DURABLE_STEP = "poststarthook/storage-readiness";
/** Fails from when the process is to end, for whoever sends requests elsewhere then. */
const SHUTDOWN = "shutdown";

/** The hooks of the start, of which controllers tell the rest. */
export function composeStartHooks({ frontProxy }: Pick<ControlPlaneDeps, "frontProxy">): StartHooks {
  const registration = frontProxy === undefined ? [] : [REGISTRATION_STEP];
  return createStartHooks([...BOOTSTRAP_STEPS, DURABLE_STEP, ...registration]);
}

interface StartChecks {
  readonly checks: readonly HealthCheck[];
  /** What must run so that the checks pass, the definitions among it. */
  readonly controllers: readonly Controller[];
}

/** The checks of the start and of what runs since, once all controllers have been made. */
export function composeStartChecks(hooks: StartHooks, definitions: Definitions): StartChecks {
  const controllers = [
    hooks.whileRunning(
      definitions,
      "poststarthook/start-apiextensions-informers",
      "poststarthook/start-apiextensions-controllers",
    ),
    // This one does nothing but to run as long as all others follow the store.
    hooks.whileRunning({ run: aborted }, "poststarthook/generic-apiserver-start-informers", SHUTDOWN),
  ];
  const check = () => (definitions.hasSynced ? undefined : "definitions of the beginning are still to be looked at");
  const checks = [
    ...hooks.checks().map((one) => ({ ...one, isForReadiness: one.name === SHUTDOWN })),
    { name: "poststarthook/crd-informer-synced", check },
    { name: "informer-sync", isForReadiness: true, check },
  ];
  return { checks, controllers };
}

interface StartParts extends Pick<ControllerDeps, "reader" | "writer" | "clock"> {
  readonly hooks: StartHooks;
  readonly deps: ControlPlaneDeps;
}

/** Writes what every cluster begins with, and waits until it is on the disk. Rejects with `bootstrap-failed`. */
export async function writeFirstObjects(
  { reader, writer, clock, hooks, deps }: StartParts,
  { endpoint, clusterDns, serviceCidr }: ControlPlaneConfig,
): Promise<void> {
  const { store, certificates } = deps;
  const facts = {
    ...{ endpoint, clusterDns, clientAuthorityPem: certificates.certificatePem },
    hasLocalStorage: deps.localDirectories !== undefined,
    frontAuthorityPem: deps.frontProxy?.authorityPem,
  };
  try {
    const ranges = splitServiceRanges(serviceCidr);
    if ((await ensureDefaultRange({ reader, writer, clock }, ranges)) === "differs") {
      await moveDefaultRange({ reader, writer, log: deps.log }, ranges, ownServices(reader));
      await ensureDefaultRange({ reader, writer, clock }, ranges);
    }
    await bootstrapCluster({ reader, writer, done: hooks.done }, facts);
    await store.untilDurable(store.headRevision);
  } catch (cause) {
    const message = `the cluster's first objects could not be written: ${messageOf(cause)}`;
    throw new CodedError("bootstrap-failed", message, { cause });
  }
  hooks.done(DURABLE_STEP);
}
