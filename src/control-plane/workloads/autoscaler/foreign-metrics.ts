import { isApiError } from "../../../api/api-error.ts";
import type { CrossVersionObjectReference, MetricIdentifier, MetricSpec } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { parseQuantity, quantityMilliValue } from "../../../api/quantity.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { tryParseJson } from "../../../base/parse-json.ts";
import type { ForeignAnswer, ReadForeign } from "../../ports/foreign-reads.ts";
import type { User } from "../../ports/user.ts";

/** One value of a metric. */
interface ForeignValue {
  /** The name of the object that it is of; "" for one from outside. */
  readonly name: string;
  /** In thousandths. */
  readonly milliValue: bigint;
}

/** What a server of others says of a metric; a failure is in the words of upstream's clients. */
export type ForeignReading =
  | { readonly kind: "values"; readonly values: readonly ForeignValue[] }
  | { readonly kind: "failed"; readonly message: string };

/** The reading of a metric that no server of others measures. */
export const UNASKED: ForeignReading = { kind: "values", values: [] };

interface Asking {
  readonly readForeign: ReadForeign;
  /** Undefined for a kind that is not served. */
  readonly pluralOf: (group: string, kind: string) => string | undefined;
  /** The autoscaler's. */
  readonly namespace: string;
  /** The labels of the target's pods. */
  readonly selector: string;
}

/** The roles for this user are those that adapters bring along. */
const AUTOSCALER_USER: User = {
  username: "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
};
const CUSTOM = { group: "custom.metrics.k8s.io", versions: ["v1beta2", "v1beta1"], name: "custom metrics API" };
const EXTERNAL = { group: "external.metrics.k8s.io", versions: ["v1beta1"], name: "external metrics API" };
const MAX_METRIC_VALUES = 20_000;
const OK = 200;
const REDIRECT = 300;

interface Question {
  readonly api: typeof CUSTOM;
  readonly path: string;
  /** What the client says where there is no such server. */
  readonly unserved: string;
  readonly isOne: boolean;
}

/** Asks the server that serves a metric of pods, of an object or from outside. Rejects with `AbortedError` only. */
export async function readForeignMetric(
  asking: Asking,
  metric: MetricSpec,
  signal: AbortSignal,
): Promise<ForeignReading> {
  const question = questionOf(asking, metric);
  if (question === undefined) return UNASKED;
  if (typeof question === "string") return { kind: "failed", message: question };
  const { api, path, unserved, isOne } = question;
  const failed = (why: string): ForeignReading => {
    return { kind: "failed", message: `unable to fetch metrics from ${api.name}: ${why}` };
  };
  const answer = await askNewest(asking, { api, path }, signal);
  if (answer.kind === "unserved") return failed(unserved);
  if (answer.kind === "failed") return failed(answer.message);
  const values = readValues(answer);
  if (typeof values === "string") return failed(values);
  if (isOne && values.length !== 1) {
    return failed(`the ${api.name} server returned ${values.length} results when we asked for exactly one`);
  }
  if (values.length === 0) return { kind: "failed", message: `no metrics returned from ${api.name}` };
  return { kind: "values", values };
}

/** Returns undefined for a metric that is not asked for, and a message where it cannot be. */
function questionOf(asking: Asking, { type, pods, object, external }: MetricSpec): Question | string | undefined {
  try {
    if (type === "Pods" && pods) return questionOfPods(asking, pods.metric);
    if (type === "Object" && object) return questionOfObject(asking, object.describedObject, object.metric);
    if (type === "External" && external) return questionOfExternal(asking, external.metric);
    return undefined;
  } catch (error) {
    // A selector that validation would have refused.
    if (!isApiError(error)) throw error;
    return error.message;
  }
}

const NO_CUSTOM = `no custom metrics API (${CUSTOM.group}) registered`;

function questionOfPods({ namespace, selector }: Asking, metric: MetricIdentifier): Question {
  const query = queryOf({ labelSelector: selector, metricLabelSelector: selectorText(metric) });
  const path = `${pathOf("namespaces", namespace)}/pods/*/${pathOf(metric.name)}${query}`;
  return { api: CUSTOM, path, unserved: NO_CUSTOM, isOne: false };
}

function questionOfObject(
  { namespace, pluralOf }: Asking,
  { apiVersion = "", kind, name }: CrossVersionObjectReference,
  metric: MetricIdentifier,
): Question | string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const query = queryOf({ metricLabelSelector: selectorText(metric) });
  const place = { api: CUSTOM, unserved: NO_CUSTOM, isOne: true };
  // An autoscaler does not look beyond its namespace, whatever name it says.
  if (group === "" && kind === "Namespace") {
    return { ...place, path: `${pathOf("namespaces", namespace, "metrics", metric.name)}${query}` };
  }
  const plural = pluralOf(group, kind);
  const suffix = group === "" ? "" : `.${group}`;
  if (plural === undefined) {
    const why = `unable to map kind ${kind}${suffix} to resource: no matches for kind "${kind}" in group "${group}"`;
    return `unable to fetch metrics from ${CUSTOM.name}: ${why}`;
  }
  return { ...place, path: `${pathOf("namespaces", namespace, `${plural}${suffix}`, name, metric.name)}${query}` };
}

function questionOfExternal({ namespace }: Asking, metric: MetricIdentifier): Question {
  const path = `${pathOf("namespaces", namespace, metric.name)}${queryOf({ labelSelector: selectorText(metric) })}`;
  const unserved = `the server could not find the requested resource (get ${metric.name}.${EXTERNAL.group})`;
  return { api: EXTERNAL, path, unserved, isOne: false };
}

/** Throws ApiErrors. */
const selectorText = ({ selector }: MetricIdentifier) => labelSelectorOf(selector).toString();

const pathOf = (...names: readonly string[]) => names.map(encodeURIComponent).join("/");

function queryOf(parameters: Readonly<Record<string, string>>): string {
  const set = Object.entries(parameters).filter(([, value]) => value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}

async function askNewest(
  { readForeign }: Asking,
  { api: { group, versions }, path }: Pick<Question, "api" | "path">,
  signal: AbortSignal,
): Promise<ForeignAnswer> {
  for (const version of versions) {
    const answer = await readForeign({ group, version, path, user: AUTOSCALER_USER }, signal);
    if (answer.kind !== "unserved") return answer;
  }
  return { kind: "unserved" };
}

/** Returns the values, or what is wrong with the answer. */
function readValues({ status, text }: Extract<ForeignAnswer, { kind: "answered" }>): ForeignValue[] | string {
  const body = tryParseJson(text);
  if (status < OK || status >= REDIRECT) {
    const message = isRecord(body) ? body["message"] : undefined;
    return typeof message === "string" && message !== "" ? message.slice(0, MAX_MESSAGE) : `bad status: ${status}`;
  }
  const items = isRecord(body) ? body["items"] : undefined;
  if (!Array.isArray(items)) return "the answer is no list of metric values";
  if (items.length > MAX_METRIC_VALUES) return `the answer has more than ${MAX_METRIC_VALUES} values`;
  const values: ForeignValue[] = [];
  for (const [index, item] of items.entries()) {
    const { value, describedObject } = isRecord(item) ? item : {};
    const quantity = typeof value === "number" ? String(value) : value;
    if (typeof quantity !== "string" || parseQuantity(quantity) === undefined) {
      return `items[${index}].value of the answer is no quantity`;
    }
    const name = isRecord(describedObject) ? describedObject["name"] : undefined;
    values.push({ name: typeof name === "string" ? name : "", milliValue: quantityMilliValue(quantity) });
  }
  return values;
}

/** A server's words become part of conditions and events. */
const MAX_MESSAGE = 1024;
