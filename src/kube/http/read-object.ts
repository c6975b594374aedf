import type { KubeResource } from "../../api/kube-resource.ts";
import { messageOf } from "../../base/errors.ts";
import { KubeUnreachableError } from "../port.ts";
import { excerptOf, parseJson } from "./answer-error.ts";

/** The object of an answer. Throws KubeUnreachableError for another answer, which no API server gives. */
export function readObject<T>(resource: KubeResource<T>, body: Buffer): T {
  return readAs(resource, parseJson(body), () => excerptOf(body));
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
