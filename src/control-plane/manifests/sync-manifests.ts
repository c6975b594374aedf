import { isApiError } from "../../api/api-error.ts";
import { isRecord, type KubeObject, untyped } from "../../api/object.ts";
import { sleep, throwIfAborted } from "../../base/abort.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";
import type { ResourceApplier } from "../ports/resources.ts";
import { findContent } from "./foreign-content.ts";
import {
  formatRecord,
  MANIFEST_FILE,
  type ManifestRecord,
  type ManifestReference,
  RECORDS,
  readRecords,
  referenceTo,
  type StoredRecord,
} from "./manifest-record.ts";
import {
  type FileObjects,
  isFoundation,
  type ManifestPlan,
  planManifests,
  titleOf,
  type UnwantedObject,
  type WantedObject,
} from "./plan-manifests.ts";

/** The dependencies of bringing the cluster in line with a directory. */
export interface SyncDeps extends Pick<ControllerDeps, "reader" | "writer" | "feed" | "clock" | "log"> {
  applier: ResourceApplier;
  events: EventRecorder;
  /** The files whose objects were all applied by this process, which are not applied again. */
  done: Map<string, FileObjects>;
}

/** The problems of one pass, by file. */
type Problems = Map<string, string[]>;

const KIND_CHECK_MS = 50;
/** A definition that is not served by then has a problem of its own, which its status says. */
const KIND_WAIT_MS = 5_000;
const SYSTEM_NAMESPACES = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);
const MAX_NAMED = 3;

/**
 * Applies what the files want and deletes what they do not want any more. What a file may have applied is on record
 * before it is applied, and is forgotten after it was deleted, so that a kill at any step leaves nothing behind that the
 * next pass does not know. Returns whether everything is as wanted.
 */
export async function syncManifests(
  deps: SyncDeps,
  files: readonly FileObjects[],
  signal: AbortSignal,
): Promise<boolean> {
  const problems: Problems = new Map();
  const complain = (file: string, problem: string) => problems.set(file, [...(problems.get(file) ?? []), problem]);
  for (const { file, problem } of files) if (problem !== undefined) complain(file, problem);
  const records = readRecords(deps.reader);
  const plan = planManifests(files, records, deps.applier.resolve);
  for (const [file, clashes] of plan.clashes) for (const clash of clashes) complain(file, clash);

  const isNew = new Set(files.filter((file) => deps.done.get(file.file) !== file).map(({ file }) => file));
  await foresee(deps, files, { records, isNew });
  const pending = plan.wanted.filter(({ file }) => isNew.has(file));
  await applyAll(deps, pending, complain, signal);
  const left = await deleteAll(deps, plan, complain);
  await remember(deps, files, { problems, left });

  for (const file of files) {
    if (problems.has(file.file)) deps.done.delete(file.file);
    else deps.done.set(file.file, file);
  }
  return problems.size === 0;
}

type Complain = (file: string, problem: string) => void;

/** Records what is about to be applied beside what was applied before. */
async function foresee(
  deps: SyncDeps,
  files: readonly FileObjects[],
  { records, isNew }: { records: readonly StoredRecord[]; isNew: ReadonlySet<string> },
): Promise<void> {
  for (const { file, objects, problem } of files) {
    if (!isNew.has(file) || problem !== undefined) continue;
    const before = records.find((record) => record.file === file);
    const known = before?.references ?? [];
    const references = joinReferences(known, objects.map(referenceTo));
    if (references.length === known.length) continue;
    const record = { file, references, status: before?.status ?? "Pending", message: before?.message ?? "" } as const;
    await write(deps, record, before);
  }
}

async function applyAll(
  deps: SyncDeps,
  wanted: readonly WantedObject[],
  complain: Complain,
  signal: AbortSignal,
): Promise<void> {
  const firstOther = wanted.findIndex(({ object }) => !isFoundation(object.kind));
  const split = firstOther === -1 ? wanted.length : firstOther;
  const foundations = wanted.slice(0, split);
  for (const one of foundations) await applyOne(deps, one, complain);
  await untilServed(deps, foundations, signal);
  for (const one of wanted.slice(split)) {
    throwIfAborted(signal);
    await applyOne(deps, one, complain);
  }
}

async function applyOne(deps: SyncDeps, { file, object }: WantedObject, complain: Complain): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const title = titleOf(referenceTo(object));
  if (deps.applier.resolve(apiVersion, kind) === undefined) {
    complain(file, `${title}: the API server does not serve ${kind} of ${apiVersion}`);
    return;
  }
  const annotations = { ...metadata.annotations, [MANIFEST_FILE]: file };
  try {
    await deps.applier.apply({ ...object, metadata: { ...metadata, annotations } });
  } catch (error) {
    if (!isApiError(error)) throw error;
    complain(file, `${title}: ${error.message}`);
  }
}

/** Waits until the kinds of new definitions are served, but not for definitions that are refused. */
async function untilServed(deps: SyncDeps, applied: readonly WantedObject[], signal: AbortSignal): Promise<void> {
  const kinds = applied.flatMap(({ object }) => definedKinds(object));
  const isServed = ({ apiVersion, kind }: (typeof kinds)[number]) =>
    deps.applier.resolve(apiVersion, kind) !== undefined;
  for (let waitedMs = 0; waitedMs < KIND_WAIT_MS && !kinds.every(isServed); waitedMs += KIND_CHECK_MS) {
    await sleep(deps.clock, KIND_CHECK_MS, signal);
  }
}

function definedKinds({ kind, spec }: KubeObject): Array<{ apiVersion: string; kind: string }> {
  if (kind !== "CustomResourceDefinition" || !isRecord(spec) || !isRecord(spec["names"])) return [];
  const versions = Array.isArray(spec["versions"]) ? spec["versions"].filter(isRecord) : [];
  const defined = String(spec["names"]["kind"]);
  return versions
    .filter(({ served }) => served === true)
    .map(({ name }) => ({ apiVersion: `${String(spec["group"])}/${String(name)}`, kind: defined }));
}

/** Deletes what no file wants any more. Returns what could not be deleted, by file. */
async function deleteAll(
  deps: SyncDeps,
  { unwanted, heldBy }: ManifestPlan,
  complain: Complain,
): Promise<ReadonlyMap<string, readonly ManifestReference[]>> {
  const left = new Map<string, ManifestReference[]>();
  for (const one of unwanted) {
    const title = titleOf(one.reference);
    const held = heldBy && `${title} is kept until ${heldBy} can be read, because it may be in there`;
    const problem = held ?? (await deleteOne(deps, one));
    if (problem === undefined) continue;
    complain(one.file, problem);
    left.set(one.file, [...(left.get(one.file) ?? []), one.reference]);
  }
  return left;
}

/** Returns why the object is still there. One that has become somebody else's is left to them. */
async function deleteOne(deps: SyncDeps, { file, reference }: UnwantedObject): Promise<string | undefined> {
  const { reader, writer, applier, feed, log } = deps;
  const title = titleOf(reference);
  const found = applier.resolve(reference.apiVersion, reference.kind);
  // A kind that is not served has no objects: its definition was deleted with all of them.
  if (found === undefined) return undefined;
  const { resource, namespaced } = found;
  const target = { resource, namespace: namespaced ? reference.namespace || "default" : "", name: reference.name };
  const object = reader.get(target);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  if (object.metadata.annotations?.[MANIFEST_FILE] !== file) return undefined;
  if (isFoundation(object.kind)) {
    if (object.kind === "Namespace" && SYSTEM_NAMESPACES.has(reference.name)) return undefined;
    const content = findContent(feed, object);
    if (content.length > 0) return `${title} is kept, because it holds what came from elsewhere: ${nameFew(content)}`;
  }
  try {
    const { uid } = object.metadata;
    const cause = `the manifests, because ${file} does not have it any more`;
    const options = uid === undefined ? {} : { preconditions: { uid } };
    await writer.remove(target, { ...options, propagationPolicy: "Background", cause });
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.reason === "NotFound" ? undefined : `${title} could not be deleted: ${error.message}`;
  }
  log.info("an object was deleted, because no manifest has it any more", { object: title, file });
  return undefined;
}

function nameFew(content: readonly string[]): string {
  const named = content.slice(0, MAX_NAMED).join(", ");
  return content.length > MAX_NAMED ? `${named} and ${content.length - MAX_NAMED} more` : named;
}

/** Records how each file is, and forgets the files that are gone with all that they had. */
async function remember(
  deps: SyncDeps,
  files: readonly FileObjects[],
  { problems, left }: { problems: Problems; left: ReadonlyMap<string, readonly ManifestReference[]> },
): Promise<void> {
  const records = readRecords(deps.reader);
  const names = new Set([...files.map(({ file }) => file), ...records.map(({ file }) => file)]);
  for (const file of names) {
    const before = records.find((record) => record.file === file);
    const present = files.find((one) => one.file === file);
    const rest = left.get(file) ?? [];
    const message = (problems.get(file) ?? []).join("; ");
    if (present === undefined && rest.length === 0) {
      if (before !== undefined) await forget(deps, before, `${file} is gone, and what it had is deleted`);
      continue;
    }
    const isBad = present?.problem !== undefined;
    const wanted = isBad ? (before?.references ?? []) : (present?.objects.map(referenceTo) ?? []);
    // Static pods are the node agent's, and a file that has nothing else needs no record.
    if (wanted.length === 0 && rest.length === 0 && message === "") {
      if (before !== undefined) await forget(deps, before, `${file} has nothing but pods, which are the node agent's`);
      continue;
    }
    const status = message === "" ? "Applied" : "Failed";
    const record: ManifestRecord = { file, references: joinReferences(wanted, rest), status, message };
    if (isSame(record, before)) continue;
    const written = await write(deps, record, before);
    if (status === "Failed") {
      deps.events.record({ about: written, type: "Warning", reason: "ManifestFailed", message: `${file}: ${message}` });
      deps.log.warn("a manifest is not applied as a whole", { file, error: message });
    } else {
      const count = `${wanted.length} object${wanted.length === 1 ? "" : "s"}`;
      deps.events.record({ about: written, type: "Normal", reason: "ManifestApplied", message: `${file}: ${count}` });
      deps.log.info("a manifest is applied", { file, objects: wanted.length });
    }
  }
}

function isSame(record: ManifestRecord, before: StoredRecord | undefined): boolean {
  if (before === undefined || record.status !== before.status || record.message !== before.message) return false;
  return JSON.stringify(record.references) === JSON.stringify(before.references);
}

function joinReferences(some: readonly ManifestReference[], more: readonly ManifestReference[]): ManifestReference[] {
  const byText = new Map([...some, ...more].map((reference) => [JSON.stringify(reference), reference]));
  return [...byText.values()];
}

async function write(deps: SyncDeps, record: ManifestRecord, before: StoredRecord | undefined): Promise<KubeObject> {
  const object = formatRecord(record, before);
  return before === undefined ? await deps.writer.create(RECORDS, object) : await deps.writer.update(RECORDS, object);
}

async function forget({ writer, events, log }: SyncDeps, { file, object }: StoredRecord, why: string): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  events.record({ about: untyped(object), type: "Normal", reason: "ManifestDeleted", message: why });
  log.info("a manifest needs no record any more", { file, reason: why });
  try {
    await writer.remove({ resource: RECORDS, namespace, name });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}
