import { isDeepStrictEqual } from "node:util";
import { isApiError } from "../../api/api-error.ts";
import type { CustomResourceDefinition } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { ConnectConversion } from "../ports/conversion.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceFeed, ResourceReader, ResourceWriter } from "../ports/resources.ts";
import { createConversionAnswers, createConvertedObjects } from "./converted-objects.ts";
import { computeCrdStatus, planCrdDeletion } from "./crd-status.ts";
import { customKinds, customSchemas, hasWebhook, upgradeStored } from "./custom-kinds.ts";

/** The part of the table of kinds that definitions change. */
interface DefinedKinds {
  /** Replaces what one definition contributes; an empty list takes it away. */
  define(definition: string, kinds: readonly ResourceKind[]): void;
}

interface DefinitionDeps {
  kinds: DefinedKinds;
  reader: ResourceReader;
  writer: ResourceWriter;
  feed: ResourceFeed;
  clock: Clock;
  log: Log;
  connectConversion: ConnectConversion;
}

/** Custom resource definitions, made real. */
export interface Definitions {
  /** True from when each definition that was stored at the beginning has been brought in order once. */
  readonly hasSynced: boolean;
  /** What their schemas look like in OpenAPI documents. */
  schemas(): Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Gives each definition its status, and empties those that are deleted, until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

const CRDS = "customresourcedefinitions.apiextensions.k8s.io";
const EMPTYING_CHECK_MS = 1_000;

/** Serves the kinds of established definitions from now on; those that are stored already before this returns. */
export function followDefinitions(deps: DefinitionDeps): Definitions {
  const { kinds, feed, reader } = deps;
  const established = new Map<string, CustomResourceDefinition>();
  const answers = createConversionAnswers(deps.clock);
  const convertedBy = (definition: CustomResourceDefinition) => {
    if (!hasWebhook(definition)) return undefined;
    const { uid = "", generation = 0 } = definition.metadata ?? {};
    return createConvertedObjects(answers, `${uid}/${generation}`, deps.connectConversion(definition));
  };
  const queue = createWorkQueue(deps, {
    name: "customresourcedefinitions",
    reconcile: (name) => reconcile(deps, name),
  });
  const stop = feed.follow(CRDS, ({ type, object, previous }) => {
    const name = object.metadata.name ?? "";
    const definition = typed("CustomResourceDefinition", object);
    const added = type === "DELETED" ? [] : customKinds(definition, convertedBy(definition));
    kinds.define(name, added);
    if (added.length > 0) established.set(name, definition);
    else established.delete(name);
    queue.add(name);
    // A name that it has, or had, decides what others of its group may be called.
    if (type === "MODIFIED" && isDeepStrictEqual(namesOf(object), namesOf(previous))) return;
    for (const other of reader.list(CRDS)) {
      if (typed("CustomResourceDefinition", other).spec.group === definition.spec.group)
        queue.add(other.metadata.name ?? "");
    }
  });
  let hasBegun = false;
  let hasSynced = false;
  return {
    get hasSynced() {
      hasSynced ||= hasBegun && queue.size === 0;
      return hasSynced;
    },
    schemas: () => Object.assign({}, ...[...established.values()].map(customSchemas)),
    async run(signal) {
      hasBegun = true;
      try {
        await queue.run(signal);
      } finally {
        stop();
      }
    },
  };
}

function namesOf(object: KubeObject | undefined): unknown {
  return object && typed("CustomResourceDefinition", object).status?.acceptedNames;
}

async function reconcile(deps: DefinitionDeps, name: string): Promise<number | undefined> {
  const { reader, writer, clock } = deps;
  const found = reader.get({ resource: CRDS, namespace: "", name });
  if (found === undefined) return undefined;
  const definition = typed("CustomResourceDefinition", found);
  if (found.metadata.deletionTimestamp !== undefined) return empty(deps, definition);
  const others = reader
    .list(CRDS)
    .filter((other) => other.metadata.name !== name)
    .map((other) => typed("CustomResourceDefinition", other));
  const status = computeCrdStatus(definition, others, clock.now());
  if (!isDeepStrictEqual(status, definition.status)) {
    await writer.update(CRDS, untyped({ ...definition, status }), "status");
    return undefined;
  }
  await upgradeObjects(deps, definition);
  return undefined;
}

const resourceOf = ({ spec }: CustomResourceDefinition) => `${spec.names.plural}.${spec.group}`;

/** After the storage version changed, what lies in the former one is brought to the new one. */
async function upgradeObjects({ reader, writer }: DefinitionDeps, definition: CustomResourceDefinition): Promise<void> {
  for (const object of reader.list(resourceOf(definition))) {
    const upgraded = upgradeStored(definition, object);
    if (upgraded !== undefined) await unlessGone(writer.update(resourceOf(definition), upgraded));
  }
}

async function empty(deps: DefinitionDeps, definition: CustomResourceDefinition): Promise<number | undefined> {
  const { reader, writer, clock } = deps;
  const objects = reader.list(resourceOf(definition));
  const plan = planCrdDeletion(definition, objects.length, clock.now());
  switch (plan.step) {
    case "none":
      return undefined;
    case "finalize":
      await writer.update(CRDS, untyped(plan.crd));
      return undefined;
    case "delete-instances":
      if (plan.status !== definition.status) {
        await writer.update(CRDS, untyped({ ...definition, status: plan.status }), "status");
      }
      await Promise.all(objects.map((object) => unlessGone(removeObject(writer, resourceOf(definition), object))));
      return EMPTYING_CHECK_MS;
  }
}

function removeObject(writer: ResourceWriter, resource: string, { metadata }: KubeObject): Promise<void> {
  const { namespace = "", name = "" } = metadata;
  return writer.remove({ resource, namespace, name });
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
  }
}
