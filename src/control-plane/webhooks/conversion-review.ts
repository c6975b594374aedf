import { formatFieldError } from "../../api/field-error.ts";
import { isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";
import { validateAnnotations, validateLabels } from "../../api/validation/metadata.ts";
import { CodedError } from "../../base/errors.ts";

/** A question to a conversion webhook. */
interface ConversionQuestion {
  readonly uid: string;
  readonly objects: readonly KubeObject[];
  /** The version that is wanted of all of them. */
  readonly apiVersion: string;
  /** The versions of ConversionReview that the webhook understands, in its order. */
  readonly versions: readonly string[];
}

const GROUP = "apiextensions.k8s.io";
const KIND = "ConversionReview";
const SPOKEN = ["v1", "v1beta1"];

type Fields = Readonly<Record<string, unknown>>;

const reviewVersionOf = ({ versions }: ConversionQuestion) => versions.find((version) => SPOKEN.includes(version));

/** The review that is posted: in the first version of the webhook's that is spoken here. */
export function conversionReviewOf(question: ConversionQuestion): object {
  const { uid, objects, apiVersion } = question;
  const version = reviewVersionOf(question);
  if (version === undefined) throw refused("failed: no supported conversion review versions");
  return { kind: KIND, apiVersion: `${GROUP}/${version}`, request: { uid, desiredAPIVersion: apiVersion, objects } };
}

/**
 * The converted objects, each with the metadata of the object that it was made of, but for labels and annotations: a
 * webhook changes nothing else of it. Throws a CodedError `conversion-failed` with upstream's words for any other answer
 * (`webhook_converter.go`).
 */
export function readConverted(answer: unknown, question: ConversionQuestion): KubeObject[] {
  const { objects } = question;
  const converted = readObjects(answer, question);
  if (converted.length !== objects.length) {
    throw refused(`returned ${converted.length} objects, expected ${objects.length}`);
  }
  return objects.map((object, index) => checked(object, converted[index], { ...question, index }));
}

const refused = (why: string) => new CodedError("conversion-failed", why);

function readObjects(answer: unknown, question: ConversionQuestion): readonly unknown[] {
  const review: Fields = isRecord(answer) ? answer : {};
  const { response } = review;
  // Reviews of the older version are believed without these, as upstream does.
  if (reviewVersionOf(question) === "v1") checkEnvelope(review, question);
  if (!isRecord(response)) throw refused("failed: no response provided");
  const result: Fields = isRecord(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success") {
    const message = textOf(result["message"]).slice(0, MAX_SHOWN);
    const status = textOf(result["status"]).slice(0, MAX_SHOWN);
    throw refused(`failed: ${message === "" ? `response.result.status was '${status}', not 'Success'` : message}`);
  }
  const { convertedObjects = [] } = response;
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

/** What a webhook says of itself goes to clients only so far. */
const MAX_SHOWN = 4_096;

function checkEnvelope({ apiVersion, kind, response }: Fields, { uid }: ConversionQuestion): void {
  if (apiVersion !== `${GROUP}/v1` || kind !== KIND) {
    const got = `${textOf(apiVersion)}, Kind=${textOf(kind)}`;
    throw refused(`failed: expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${got.slice(0, MAX_SHOWN)}`);
  }
  if (!isRecord(response)) throw refused("failed: no response provided");
  if (response["uid"] === uid) return;
  const got = JSON.stringify(textOf(response["uid"]).slice(0, MAX_SHOWN));
  throw refused(`failed: expected response.uid=${JSON.stringify(uid)}, got ${got}`);
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

interface Place extends ConversionQuestion {
  readonly index: number;
}

function checked(given: KubeObject, converted: unknown, { apiVersion, index, objects }: Place): KubeObject {
  const isAlone = objects.length === 1;
  const what = isAlone ? "returned invalid object" : `returned invalid converted object at index ${index}`;
  const object: Fields = isRecord(converted) ? converted : {};
  const at = isAlone ? `${what} at index 0` : what;
  if (object["apiVersion"] !== apiVersion) {
    throw refused(`${at}: invalid groupVersion (expected ${apiVersion}, received ${textOf(object["apiVersion"])})`);
  }
  if (object["kind"] !== given.kind) {
    throw refused(`${at}: invalid kind (expected ${given.kind}, received ${textOf(object["kind"])})`);
  }
  const metadata: Fields = isRecord(object["metadata"]) ? object["metadata"] : {};
  for (const [field, name] of IDENTITY) {
    const [expected, got] = [given.metadata[field] ?? "", textOf(metadata[field])];
    if (expected !== got) throw refused(`${what}: must have the same ${name}: ${expected} != ${got}`);
  }
  const inMetadata = isAlone ? "returned invalid metadata" : `returned invalid metadata in object at index ${index}`;
  return withMetadataOf(given, object, (why) => refused(`${inMetadata}: ${why}`));
}

const IDENTITY = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function withMetadataOf(given: KubeObject, converted: Fields, refuse: (why: string) => Error): KubeObject {
  const { metadata } = converted;
  if (metadata === undefined) throw refuse("missing metadata in converted object");
  if (!isRecord(metadata)) throw refuse(`invalid metadata of type ${goTypeOf(metadata)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...kept } = given.metadata;
  const own = ["labels", "annotations"].flatMap((field): [string, unknown][] => {
    const texts = metadata[field] ?? undefined;
    return texts === undefined ? [] : [[field, readTexts(field, texts, refuse)]];
  });
  const object = { ...converted, metadata: { ...kept, ...Object.fromEntries(own) } };
  if (!isKubeObject(object)) throw refuse("invalid metadata in converted object");
  return object;
}

function readTexts(field: string, value: unknown, refuse: (why: string) => Error): Readonly<Record<string, string>> {
  if (!isRecord(value)) throw refuse(`invalid metadata.${field} of type ${goTypeOf(value)} in converted object`);
  const entries = Object.entries(value).map(([key, text]): [string, string] => {
    if (typeof text === "string") return [key, text];
    throw refuse(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(text)} in converted object`);
  });
  const texts = Object.fromEntries(entries);
  const path = field === "labels" ? "metadata.labels" : "metadata.annotation";
  const problems = (field === "labels" ? validateLabels : validateAnnotations)(path, texts).map(formatFieldError);
  if (problems.length === 0) return texts;
  throw refuse(problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`);
}

/** The type as programs in Go call it. */
function goTypeOf(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map[string]interface {}";
}
