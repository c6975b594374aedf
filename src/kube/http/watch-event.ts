import type { KubeResource } from "../../api/kube-resource.ts";
import { isRecord } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import { KubeUnreachableError, type WatchEvent } from "../port.ts";
import { readStatus } from "./answer-error.ts";
import { parseAnswer } from "./parse-answer.ts";

/**
 * An event as the server wrote it. Throws the ApiError that an ERROR event carries, and KubeUnreachableError for data
 * that is no event: the connection cannot be trusted then.
 */
export function readWatchEvent<T>(resource: KubeResource<T>, frame: Buffer): WatchEvent<T> {
  const event = parseAnswer(frame);
  const type = isRecord(event) ? event["type"] : undefined;
  const object = isRecord(event) ? event["object"] : undefined;
  if (type === "ERROR") throw readStatus(object) ?? garbage(resource, frame);
  const resourceVersion = versionOf(object);
  if (resourceVersion === undefined) throw garbage(resource, frame);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: read(resource, object), resourceVersion };
    case "BOOKMARK":
      return { type, resourceVersion };
    default:
      throw garbage(resource, frame);
  }
}

/** The next watch names it in its path. */
const MAX_VERSION_LENGTH = 1_024;

/** Every object of a server has one; it is what a watch goes on from. */
function versionOf(object: unknown): string | undefined {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const version = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" && version !== "" && version.length <= MAX_VERSION_LENGTH ? version : undefined;
}

function read<T>(resource: KubeResource<T>, object: unknown): T {
  try {
    return resource.read(object);
  } catch (error) {
    throw new KubeUnreachableError("unreachable", `watching ${resource.plural}: ${messageOf(error)}`, { cause: error });
  }
}

function garbage(resource: KubeResource<unknown>, frame: Buffer): Error {
  const message = `watching ${resource.plural}: the server sent ${frame.length} bytes that are no event`;
  return new KubeUnreachableError("unreachable", message);
}
