import type { KubeResource } from "../../api/kube-resource.ts";
import { isRecord } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import { KubeUnreachableError, type NamespacedName } from "../port.ts";
import { excerptOf } from "./answer-error.ts";
import { parseAnswer } from "./parse-answer.ts";

/** The object of an answer. Throws KubeUnreachableError for another answer, which no API server gives. */
export function readObject<T>(resource: KubeResource<T>, body: Buffer): T {
  return readAs(resource, parseAnswer(body), () => excerptOf(body));
}

/**
 * As `readObject`, for the answer to a request that names its object. An answer with another object, as of a proxy that
 * mixes its connections up, is not believed.
 */
export function readNamedObject<T>(resource: KubeResource<T>, asked: NamespacedName, body: Buffer): T {
  const value = parseAnswer(body);
  const metadata = isRecord(value) ? value["metadata"] : undefined;
  const { name = "", namespace = "" } = isRecord(metadata) ? metadata : {};
  const isAsked = name === asked.name && namespace === asked.namespace;
  if (isAsked || !isRecord(metadata)) return readAs(resource, value, () => excerptOf(body));
  const message = `the server's answer is about ${describePlace(namespace, name)}, not ${describePlace(asked.namespace, asked.name)}`;
  throw new KubeUnreachableError("unreachable", `${resource.kind}: ${message}`);
}

function describePlace(namespace: unknown, name: unknown): string {
  return [namespace, name].filter((part) => part !== "").join("/");
}

/** As `readObject`, for a parsed answer. */
export function readAs<T>(resource: KubeResource<T>, value: unknown, excerpt: () => string): T {
  try {
    return resource.read(value);
  } catch (error) {
    const message = `the server's answer is no ${resource.kind} (${messageOf(error)}): ${excerpt()}`;
    throw new KubeUnreachableError("unreachable", message, { cause: error });
  }
}
