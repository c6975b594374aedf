import { isAbort } from "../base/abort.ts";
import { throwJoined } from "../base/errors.ts";
import type { WebHandler } from "../host/web-server.ts";
import { createAuthenticator } from "./access/authenticate.ts";
import { createEscalationCheck } from "./access/escalation.ts";
import { createAuthorizer } from "./access/rbac.ts";
import { createAdmissionPlugins } from "./admission/admission-plugins.ts";
import { allocateServices } from "./allocate-services.ts";
import { bootstrapCluster } from "./bootstrap.ts";
import { composeControllers } from "./compose-controllers.ts";
import { composeRest } from "./compose-rest.ts";
import type { ControlPlaneDeps, ControlPlaneOptions, Randomness, Readiness } from "./control-plane-deps.ts";
import { followDefinitions } from "./follow-definitions.ts";
import { BUILT_IN_KINDS } from "./kind-rows.ts";
import type { ResourceFeed, ResourceReader, ResourceWriter } from "./ports/resources.ts";
import { createFeed, createReader, createWriter } from "./registry/in-process.ts";
import { createKindTable } from "./registry/kind-table.ts";
import type { RegistryDeps } from "./registry/registry-deps.ts";
import { createSubjectReader } from "./subject-reader.ts";

/** A control plane, built and not yet running. */
export interface ControlPlane {
  /** The API server. */
  readonly handle: WebHandler;
  readonly reader: ResourceReader;
  readonly writer: ResourceWriter;
  readonly feed: ResourceFeed;
  /** Resolves once the cluster's first objects are there; pending for ever if that fails, which `run` then says. */
  readonly ready: Promise<void>;
  /**
   * Creates what every cluster begins with, is ready then (`/readyz`), and runs the controllers until it is stopped.
   * Stops itself and rejects when a part of it ends by a bug.
   */
  run(stop: AbortController): Promise<void>;
}

/** Letters and digits of generated names, without those that make words or are mistaken for each other. */
const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;

/** Builds the control plane on a store: reading this function is reading what it consists of, bottom up. */
export function createControlPlane(deps: ControlPlaneDeps, options: ControlPlaneOptions): ControlPlane {
  const { store, clock, log, random } = deps;
  const now = () => clock.now();
  const randomSuffix = () => randomName(random, SUFFIX_LENGTH);

  const kinds = createKindTable(BUILT_IN_KINDS);
  const reader = createReader(store, kinds);
  const feed = createFeed(store, kinds);
  const authorizer = createAuthorizer({ feed });
  const subjects = createSubjectReader(deps.certificates);
  const admission = [
    ...createAdmissionPlugins(
      { reader, feed, clock, randomSuffix, authorize: authorizer.authorize, parseCertificateRequest: subjects.read },
      { apiAudiences: deps.tokens.audiences },
    ),
    createEscalationCheck(authorizer),
  ];
  const allocate = allocateServices({ reader, random: random.number }, options);
  const registry: RegistryDeps = { store, kinds, admission, now, newUid: random.uuid, randomSuffix, allocate };
  const writer = createWriter(registry, "nodelet");

  const definitions = followDefinitions({ kinds, feed, writer, reader, clock, log });
  const authenticator = createAuthenticator({ reader, tokens: deps.tokens, now });
  const readiness = createReadiness();
  const rest = composeRest(
    { ...deps, registry, reader, authenticator, authorizer, definitions, readiness, subjects },
    options,
  );
  const controllers = composeControllers({ ...deps, registry, reader, writer, feed, authorizer }, options);

  return {
    handle: rest,
    reader,
    writer,
    feed,
    ready: readiness.reached,
    async run(stop) {
      const clientAuthorityPem = deps.certificates.certificatePem;
      await bootstrapCluster({ reader, writer }, { endpoint: options.endpoint, clientAuthorityPem });
      readiness.reach();
      log.info("the control plane is ready", { revision: store.revision });
      await runTogether([...controllers, definitions], stop);
    },
  };
}

function randomName(random: Randomness, length: number): string {
  return Array.from({ length }, () => NAME_ALPHABET[Math.floor(random.number() * NAME_ALPHABET.length)]).join("");
}

function createReadiness(): Readiness {
  let isReached = false;
  let resolveReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    resolveReached = resolve;
  });
  return {
    get isReached() {
      return isReached;
    },
    reached,
    reach() {
      isReached = true;
      resolveReached();
    },
  };
}

/** Until they are stopped; when one part fails it stops the others, and its error is thrown when they are gone. */
async function runTogether(
  parts: ReadonlyArray<{ run(signal: AbortSignal): Promise<void> }>,
  stop: AbortController,
): Promise<void> {
  const results = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part.run(stop.signal);
      } catch (error) {
        stop.abort();
        throw error;
      }
    }),
  );
  const errors = results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
  throwJoined(
    errors.filter((error) => !isAbort(error)),
    "the control plane",
  );
}
