import { isDeepStrictEqual } from "node:util";
import { findApiReference } from "../../../api/api-references.ts";
import { defaultPod } from "../../../api/defaults.ts";
import { formatFieldError } from "../../../api/field-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { type ManifestDocument, parseManifest } from "../../../api/manifest.ts";
import type { KubeObject } from "../../../api/object.ts";
import { podFullName, podUid } from "../../../api/pods.ts";
import { validatePod } from "../../../api/validate-pod.ts";
import type { ManifestObject } from "../../cluster/refs/manifest-objects.ts";
import { DATA_REFUSAL, isDataObject, readDataObject } from "./read-manifest-data.ts";
import { findRestartProblem } from "./restart-on-change.ts";
import type { SourcePod } from "./source-snapshot.ts";
import { makeStaticPod, type StaticPodOrigin } from "./static-pod.ts";

/** The longest manifest; a longer one is refused, as upstream does. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** The usable pods and objects of a manifest, and the errors of the rest. */
export interface ManifestContent {
  pods: SourcePod[];
  /** The config maps and secrets that pods may name; none where they are not taken. */
  objects: ManifestObject[];
  /** Each error names its document and field: `document 2: spec.containers[0].image: Required value`. */
  errors: string[];
  warnings: string[];
  /** True when it holds objects of other kinds that were left to others. */
  hasOthers: boolean;
}

interface ReadOptions {
  /** Leaves objects of other kinds to whoever takes them. Default: they are errors. */
  ignoresOtherKinds?: boolean | undefined;
  /** Takes config maps and secrets, and lets pods name them. Default: they are of other kinds. */
  takesData?: boolean | undefined;
}

/** Reads, defaults and validates the static pods of a manifest. Pure, and never throws for bad input. */
export function readManifest(
  text: Buffer,
  origin: StaticPodOrigin,
  { ignoresOtherKinds = false, takesData = false }: ReadOptions = {},
): ManifestContent {
  const content: ManifestContent = { pods: [], objects: [], errors: [], warnings: [], hasOthers: false };
  for (const document of parseManifest(text)) {
    const { other } = document;
    const data = takesData && other !== undefined && isDataObject(other) ? other : undefined;
    if (ignoresOtherKinds && other !== undefined && data === undefined) {
      content.hasOthers = true;
      continue;
    }
    const place = `document ${document.document}`;
    const stands = `${origin.location}, ${place}`;
    const complain = (text: string) => `${place}: ${text}`;
    const { pod, object, errors, warnings } =
      data === undefined ? readDocument(document, origin, takesData) : readData(document, data, stands);
    content.errors.push(...errors.map(complain));
    content.warnings.push(...warnings.map(complain));
    if (pod !== undefined) content.pods.push({ pod, origin: stands });
    if (object !== undefined) content.objects.push(object);
  }
  return content;
}

/**
 * The pods that a source wants after it read this content. A manifest that is unusable in part or as a whole must not
 * end the pods that it gave before: they stay, unless a usable one has taken their name or UID. Pods that did not
 * change are the same values as before.
 */
export function keepLastGood(
  before: readonly SourcePod[],
  { pods, errors }: Pick<ManifestContent, "pods" | "errors">,
): SourcePod[] {
  const earlier = new Map(before.map((entry) => [podUid(entry.pod), entry]));
  const current = pods.map((entry) => {
    const same = earlier.get(podUid(entry.pod));
    return same !== undefined && isDeepStrictEqual(same, entry) ? same : entry;
  });
  if (errors.length === 0) return current;
  const taken = new Set(pods.flatMap(({ pod }) => [podFullName(pod), podUid(pod)]));
  return [...current, ...before.filter(({ pod }) => !taken.has(podFullName(pod)) && !taken.has(podUid(pod)))];
}

/** What a document gives, where nothing in it is wrong. */
interface ReadDocument {
  readonly pod?: Pod;
  readonly object?: ManifestObject;
  readonly errors: string[];
  readonly warnings: string[];
}

function readData({ item, warnings }: ManifestDocument, data: KubeObject, stands: string): ReadDocument {
  const read = readDataObject(data, stands, item === undefined ? "" : `items[${item}]`);
  return { ...read, warnings: [...warnings, ...read.warnings] };
}

function readDocument(document: ManifestDocument, origin: StaticPodOrigin, hasData: boolean): ReadDocument {
  const { warnings, other } = document;
  if (document.pod === undefined) {
    const why = other !== undefined && isDataObject(other) ? `: ${DATA_REFUSAL}` : "";
    return { errors: document.errors.map((error) => error + why), warnings };
  }
  const prefix = document.item === undefined ? "" : `items[${document.item}].`;
  const refuse = (errors: string[]) => ({ errors: errors.map((error) => prefix + error), warnings });

  const { name, uid } = document.pod.metadata ?? {};
  if (!name) return refuse(["metadata.name: Required value: name is needed for the pod"]);
  // The UID becomes the name of a directory. The node's own hash is always a valid one; a manifest's UID may be
  // "../..".
  if (uid && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(uid)) {
    return refuse(["metadata.uid: Invalid value: must be at most 128 letters, digits, '-', '_' and '.'"]);
  }
  const pod = defaultPod(makeStaticPod(document.pod, origin));
  const errors = validatePod(pod);
  if (errors.length > 0) return refuse(errors.map(formatFieldError));
  const reference = findApiReference(pod, { hasData });
  if (reference !== undefined) {
    const message = `static pods may not reference ${reference.resource}`;
    return refuse([formatFieldError({ path: reference.path, message })]);
  }
  const remark = findRestartProblem(pod);
  return { pod, errors: [], warnings: remark === undefined ? warnings : [...warnings, prefix + remark] };
}
